//! Samples of a classification with values to predict: regression on real features, of any size.

use crate::datasets::edit::pair;
use crate::workspace::failure::Outcome;
use std::fmt::Write as _;

/// Standard deviation of the noise.
const NOISE: f64 = 0.2;

/// Returns the rows of `text` with `tanh u + ½ sin 2v` and normal noise in place of the label,
/// where `u` and `v` are weighted sums of the features; weights and noise are fixed, so that the
/// same text gives the same values.
pub(crate) fn rows(text: &str) -> Outcome<String> {
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.lines().enumerate() {
        let features = line.split_once(' ').map_or("", |(_, features)| features);
        let (mut u, mut v) = (0.0, 0.0);
        for entry in features.split_whitespace() {
            let (at, value) = pair(n, entry)?;
            u += value * (2.0 * uniform(2 * at as u64) - 1.0);
            v += value * (2.0 * uniform(2 * at as u64 + 1) - 1.0);
        }
        // The sum of twelve has variance 1.
        let noise: f64 = (0..12).map(|k| uniform((n as u64 + 1) << 32 | k)).sum::<f64>() - 6.0;
        let value = f64::tanh(u) + 0.5 * f64::sin(2.0 * v) + NOISE * noise;
        let _ = writeln!(out, "{value:.6} {features}");
    }
    Ok(out)
}

/// Returns a number between 0 and 1 for each `key`: the finaliser of `SplitMix64` (Steele, Lea and
/// Flood 2014).
fn uniform(key: u64) -> f64 {
    let mut bits = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::{NOISE, rows, uniform};

    #[test]
    fn values_are_of_the_features_and_noise_is_noise() {
        let line = "+1 1:0.5 3:-0.25";
        let many = rows(&format!("{line}\n").repeat(4000)).expect("rows");
        let values: Vec<f64> =
            many.lines().map(|line| line.split_once(' ').expect("features").0.parse().expect("a value")).collect();
        assert!(many.lines().all(|line| line.ends_with(" 1:0.5 3:-0.25")));
        let mean = values.iter().sum::<f64>() / 4000.0;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        // Four standard errors of either.
        assert!((deviation - NOISE).abs() < 4.0 * NOISE / 8000_f64.sqrt(), "{deviation}");
        let weight = |key: u64| 2.0 * uniform(key) - 1.0;
        let (u, v) = (0.5 * weight(2) - 0.25 * weight(6), 0.5 * weight(3) - 0.25 * weight(7));
        assert!((mean - (u.tanh() + 0.5 * (2.0 * v).sin())).abs() < 4.0 * NOISE / 4000_f64.sqrt(), "{mean}");
        assert_eq!(rows("1\n").expect("a row without features").lines().count(), 1);
        assert!(rows("1 x\n").is_err());
    }
}
