//! How predicted values, and samples without labels, are scored.

use crate::metric::{Best, Metric};

/// What every cross-validation of regression is scored by; the first is what a grid chooses by.
pub const VALUE_METRICS: &[&dyn Metric] = &[
    &MeanSquaredError,
    &RootMeanSquaredError,
    &MeanAbsoluteError,
    &Determination,
    &SquaredCorrelation,
    &ExplainedVariance,
    &Spearman,
];

/// What every cross-validation of one class is scored by.
pub const INLIER_METRICS: &[&dyn Metric] = &[&Inliers];

/// The mean of `(y − f)²`: LIBSVM's `Mean squared error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanSquaredError;

/// The square root of the mean of `(y − f)²`, in units of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RootMeanSquaredError;

/// The mean of `|y − f|`, in units of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanAbsoluteError;

/// `R²`: 1 minus the squared errors over those of always saying the mean. Not a number for constant
/// targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Determination;

/// The squared correlation of targets and predictions: LIBSVM's `Squared correlation coefficient`.
/// Not a number where either is constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SquaredCorrelation;

/// 1 minus the variance of the errors over that of the targets: `R²` with a constant error
/// forgiven. Not a number for constant targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplainedVariance;

/// The correlation of the ranks of targets and predictions; equal ones share the mean of their
/// ranks. Not a number where either is constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spearman;

/// The fraction of samples that are said to be inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inliers;

fn mean(of: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = of.len() as f64;
    of.sum::<f64>() / n
}

fn errors<'a>(truth: &'a [f64], predicted: &'a [f64]) -> impl ExactSizeIterator<Item = f64> + 'a {
    truth.iter().zip(predicted).map(|(t, p)| t - p)
}

impl Metric for MeanSquaredError {
    fn name(&self) -> &'static str {
        "mean_squared_error"
    }

    fn range(&self) -> [f64; 2] {
        [0.0, f64::INFINITY]
    }

    fn best(&self) -> Best {
        Best::Lowest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        mean(errors(truth, predicted).map(|e| e * e))
    }

    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        Some(errors(truth, predicted).map(|e| e * e).collect())
    }
}

impl Metric for RootMeanSquaredError {
    fn name(&self) -> &'static str {
        "root_mean_squared_error"
    }

    fn range(&self) -> [f64; 2] {
        [0.0, f64::INFINITY]
    }

    fn best(&self) -> Best {
        Best::Lowest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        MeanSquaredError.score(truth, predicted).sqrt()
    }

    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        MeanSquaredError.losses(truth, predicted)
    }
}

impl Metric for MeanAbsoluteError {
    fn name(&self) -> &'static str {
        "mean_absolute_error"
    }

    fn range(&self) -> [f64; 2] {
        [0.0, f64::INFINITY]
    }

    fn best(&self) -> Best {
        Best::Lowest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        mean(errors(truth, predicted).map(f64::abs))
    }

    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        Some(errors(truth, predicted).map(f64::abs).collect())
    }
}

impl Metric for Determination {
    fn name(&self) -> &'static str {
        "r2"
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, 1.0]
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let middle = mean(truth.iter().copied());
        let (left, all): (f64, f64) =
            (errors(truth, predicted).map(|e| e * e).sum(), truth.iter().map(|t| (t - middle) * (t - middle)).sum());
        if all > 0.0 { 1.0 - left / all } else { f64::NAN }
    }
}

/// The correlation of two series; not a number where either is constant.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let (a, b) = (mean(one.iter().copied()), mean(other.iter().copied()));
    let sum = |of: &dyn Fn(f64, f64) -> f64| one.iter().zip(other).map(|(x, y)| of(x - a, y - b)).sum::<f64>();
    let (both, first, second) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    if first > 0.0 && second > 0.0 { both / (first * second).sqrt() } else { f64::NAN }
}

/// The rank of each value, from 0; equal values have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ranks, mut before) = (vec![0.0; values.len()], 0);
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        equal.iter().for_each(|&i| ranks[i] = before as f64 + 0.5 * (equal.len() - 1) as f64);
        before += equal.len();
    }
    ranks
}

impl Metric for SquaredCorrelation {
    fn name(&self) -> &'static str {
        "squared_correlation"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        correlation(truth, predicted).powi(2)
    }
}

impl Metric for ExplainedVariance {
    fn name(&self) -> &'static str {
        "explained_variance"
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, 1.0]
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let spread = |values: &[f64]| {
            let middle = mean(values.iter().copied());
            mean(values.iter().map(|value| (value - middle) * (value - middle)))
        };
        let all = spread(truth);
        if all > 0.0 { 1.0 - spread(&errors(truth, predicted).collect::<Vec<f64>>()) / all } else { f64::NAN }
    }
}

impl Metric for Spearman {
    fn name(&self) -> &'static str {
        "spearman"
    }

    fn range(&self) -> [f64; 2] {
        [-1.0, 1.0]
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        correlation(&ranks(truth), &ranks(predicted))
    }
}

impl Metric for Inliers {
    fn name(&self) -> &'static str {
        "inliers"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, _truth: &[f64], predicted: &[f64]) -> f64 {
        predicted.iter().filter(|p| **p > 0.0).count() as f64 / predicted.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_values_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 4.0, 5.0], [1.5, 2.0, 3.0, 5.5]);
        // Errors −½, 0, 1, −½; targets spread 10 about 3, predictions by 9.5 about 3; they go
        // together by 9.
        assert_eq!(MeanSquaredError.score(&truth, &predicted), 0.375);
        assert_eq!(RootMeanSquaredError.score(&truth, &predicted), 0.375_f64.sqrt());
        assert_eq!(MeanAbsoluteError.score(&truth, &predicted), 0.5);
        assert_eq!(Determination.score(&truth, &predicted), 0.85);
        assert!((SquaredCorrelation.score(&truth, &predicted) - 9.0 * 9.0 / (10.0 * 9.5)).abs() < 1e-15);
        // The errors are 0 in the mean.
        assert!((ExplainedVariance.score(&truth, &predicted) - 0.85).abs() < 1e-15);
        assert_eq!(ExplainedVariance.score(&truth, &truth.map(|t| t + 3.0)), 1.0);
        assert_eq!((Spearman.score(&truth, &predicted), Spearman.score(&truth, &[4.0, 3.0, 2.0, 1.0])), (1.0, -1.0));
        // Ranks 0, 1½, 1½, 3 and 0, 1, 2, 3: 4½ / √(4½ · 5).
        assert!((Spearman.score(&[1.0, 2.0, 2.0, 5.0], &truth) - (4.5_f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!(
            Determination.score(&[2.0; 2], &[1.0, 3.0]).is_nan() && SquaredCorrelation.score(&[1.0, 3.0], &[2.0; 2]).is_nan()
        );
        assert_eq!(MeanSquaredError.losses(&truth, &predicted), Some(vec![0.25, 0.0, 1.0, 0.25]));
        assert_eq!(Inliers.score(&[0.0; 4], &[1.0, -1.0, -1.0, 1.0]), 0.5);
        assert!(VALUE_METRICS.iter().all(|metric| metric.score(&[], &[]).is_nan()));
    }
}
