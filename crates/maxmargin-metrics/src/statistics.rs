//! How scores of folds spread, and where the score of machines like these may lie
//! (`docs/math/scores.md`).

use crate::scores::{Score, range_of};
use serde::{Deserialize, Serialize};

/// The share of intervals that hold what they are about, were the assumptions true.
pub const CONFIDENCE: f64 = 0.95;

/// The scores of folds by one metric. Folds share training samples, so that they are not
/// independent: the interval allows for it by a rule of thumb, that of Nadeau and Bengio (2003),
/// and is no more than that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldStatistics {
    /// The mean of the scores of the folds; not a number where there is none.
    pub mean: f64,
    /// Their deviation, `√(Σ (score − mean)² / (folds − 1))`; not a number of fewer than two.
    pub deviation: f64,
    /// The lower end of the interval about the mean, within what the metric can say; not a number
    /// of fewer than two folds.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Folds that have a score.
    pub folds: usize,
}

impl FoldStatistics {
    /// The standard error of the mean, were the folds independent: the deviation over the root of
    /// their number. None of fewer than two folds.
    pub fn standard_error(&self) -> Option<f64> {
        (self.folds > 1).then(|| self.deviation / (self.folds as f64).sqrt())
    }

    /// Of folds by (score, training samples, test samples) and the least and greatest value of the
    /// metric; scores that are not numbers are left out.
    pub fn of(folds: impl Iterator<Item = (f64, usize, usize)>, [least, greatest]: [f64; 2]) -> Self {
        let known: Vec<(f64, usize, usize)> = folds.filter(|fold| !fold.0.is_nan()).collect();
        let count = known.len();
        let n = count as f64;
        let mean = known.iter().map(|fold| fold.0).sum::<f64>() / n;
        if count < 2 {
            return Self { mean, deviation: f64::NAN, low: f64::NAN, high: f64::NAN, folds: count };
        }
        let variance = known.iter().map(|fold| (fold.0 - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (train, test) = known.iter().fold((0, 0), |sum, fold| (sum.0 + fold.1, sum.1 + fold.2));
        let half = student(count - 1) * (variance * (1.0 / n + test as f64 / train as f64)).sqrt();
        let within = |end: f64| end.max(least).min(greatest);
        Self { mean, deviation: variance.sqrt(), low: within(mean - half), high: within(mean + half), folds: count }
    }
}

/// Statistics by the name of their metric.
pub type NamedStatistics = (&'static str, FoldStatistics);

/// The spread of every score that `folds` have, which are (scores, training samples, test samples),
/// in the order of `scores`.
pub fn statistics_of(scores: &[Score], folds: &[(&[Score], usize, usize)]) -> Vec<NamedStatistics> {
    let of = |(at, (name, _)): (usize, &Score)| {
        let known = folds.iter().map(|(scores, train, test)| (scores.get(at).map_or(f64::NAN, |score| score.1), *train, *test));
        (*name, FoldStatistics::of(known, range_of(name)))
    };
    scores.iter().enumerate().map(of).collect()
}

/// The value that `|t|` of Student's distribution exceeds in one of twenty cases. Bisection of the
/// angle whose tangent is `t/√freedom`; its distribution is a finite sum (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4).
fn student(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if within(middle, freedom) < CONFIDENCE { &mut low } else { &mut high }) = middle;
    }
    (freedom as f64).sqrt() * low.tan()
}

/// The probability that `|t|` is below `√freedom · tan(angle)`.
fn within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2;
    // The terms of powers odd, odd + 2, … of the cosine, below the number of degrees of freedom.
    let (mut term, mut sum, mut power) = (if odd == 1 { cos } else { 1.0 }, 0.0, odd);
    while power + 1 < freedom {
        sum += term;
        // What is left is a geometric series at most.
        if term <= f64::EPSILON * sum * sin * sin {
            break;
        }
        power += 2;
        term *= (power - 1) as f64 / power as f64 * cos * cos;
    }
    if odd == 1 { std::f64::consts::FRAC_2_PI * (angle + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (4, 2.7764),
            (5, 2.5706),
            (9, 2.2622),
            (10, 2.2281),
            (29, 2.0452),
            (30, 2.0423),
            (100, 1.9840),
            (30_000, 1.9600),
        ];
        for (freedom, quantile) in table {
            assert!((student(freedom) - quantile).abs() < 6e-5, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn spreads_by_hand() {
        let folds = [(0.5, 30, 10), (0.75, 30, 10), (f64::NAN, 30, 10), (1.0, 30, 10)];
        let found = FoldStatistics::of(folds.into_iter(), [0.0, 1.0]);
        // Deviation ¼ of three, t 4.3027, and √(1/3 + 1/3).
        let half = 4.302_652_73 * 0.25 * (2.0_f64 / 3.0).sqrt();
        assert_eq!((found.mean, found.deviation, found.folds, found.low, found.high), (0.75, 0.25, 3, 0.0, 1.0));
        let free = FoldStatistics::of(folds.into_iter(), [f64::NEG_INFINITY, f64::INFINITY]);
        assert!((free.low - (0.75 - half)).abs() < 1e-8 && (free.high - (0.75 + half)).abs() < 1e-8, "{free:?}");
        let one = FoldStatistics::of(folds[..1].iter().copied(), [0.0, 1.0]);
        assert!(one.mean == 0.5 && one.deviation.is_nan() && one.low.is_nan() && one.folds == 1);
        assert!(FoldStatistics::of(std::iter::empty(), [0.0, 1.0]).mean.is_nan());
    }
}
