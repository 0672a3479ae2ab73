//! Random numbers with the same bits on every platform.
//!
//! Only exactly rounded operations (+ − × ÷ √) are used, because logarithms of mathematical
//! libraries may differ in the last bit.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::f64::consts::{LN_2, SQRT_2};

/// A random number generator.
pub(super) struct Draw {
    source: ChaCha8Rng,
    /// The second number of a pair of the polar method.
    spare: Option<f64>,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self { source: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.source.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0 … count − 1 (with a bias below count / 2⁶⁴).
    pub(super) fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }

    /// A point of the unit disc other than its centre, and its squared distance from the centre.
    fn disc(&mut self) -> (f64, f64, f64) {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return (x, y, square);
            }
        }
    }

    /// A uniform direction in the plane, as a unit vector.
    pub(super) fn direction(&mut self) -> (f64, f64) {
        let (x, y, square) = self.disc();
        let length = square.sqrt();
        (x / length, y / length)
    }

    /// A standard normal number (Marsaglia's polar method).
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (x, y, square) = self.disc();
        let factor = (-2.0 * ln(square) / square).sqrt();
        self.spare = Some(y * factor);
        x * factor
    }
}

/// The nearest multiple of 2⁻¹⁶.
pub(super) fn on_grid(value: f64) -> f64 {
    const GRID: f64 = 65_536.0;
    (value * GRID).round() / GRID
}

/// The natural logarithm of a positive normal number, to a few units in the last place.
///
/// ln(m 2ᵉ) = e ln 2 + 2 artanh t with t = (m − 1) / (m + 1) and m in [√½, √2). Then |t| < 0.172,
/// and each term of the series t + t³/3 + t⁵/5 + … adds one and a half digits.
fn ln(value: f64) -> f64 {
    const TERMS: u32 = 12;
    let bits = value.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & ((1 << 52) - 1) | (1023 << 52));
    if mantissa >= SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let series = (0..TERMS).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    f64::from(exponent) * LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_accurate() {
        let mut draw = Draw::new(1);
        for _ in 0..10_000 {
            let value = (draw.uniform() + 1e-9) * 2_f64.powi(draw.below(60) as i32 - 50);
            assert!((ln(value) - value.ln()).abs() <= 4.0 * f64::EPSILON * value.ln().abs().max(0.5), "ln {value:e}");
        }
    }

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_law() {
        let mut draw = Draw::new(7);
        let numbers: Vec<f64> = (0..200_000).map(|_| draw.normal()).collect();
        let mean_power = |power| numbers.iter().map(|x| x.powi(power)).sum::<f64>() / numbers.len() as f64;
        // Five standard errors: the moments' variances are 1, 2, 15 and 96 over n.
        for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let error = f64::sqrt(variance / numbers.len() as f64);
            assert!((mean_power(power) - expected).abs() < 5.0 * error, "moment {power}: {}", mean_power(power));
        }
    }
}
