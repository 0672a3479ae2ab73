//! Scores of predicted values.

use crate::metric::{Best, Metric};

/// The metrics of every cross-validation of regression.
pub static REGRESSION_METRICS: &[&Metric] = &[
    &MEAN_SQUARED_ERROR,
    &ROOT_MEAN_SQUARED_ERROR,
    &MEAN_ABSOLUTE_ERROR,
    &R2,
    &SQUARED_CORRELATION,
    &EXPLAINED_VARIANCE,
    &SPEARMAN,
];

/// The metrics of predicted quantiles.
pub static QUANTILE_METRICS: &[&Metric] = &[
    &PINBALL_LOSS,
    &COVERAGE,
    &MEAN_ABSOLUTE_ERROR,
    &MEAN_SQUARED_ERROR,
    &ROOT_MEAN_SQUARED_ERROR,
    &R2,
    &SQUARED_CORRELATION,
    &EXPLAINED_VARIANCE,
    &SPEARMAN,
];

/// The metrics of predicted expectiles.
pub static EXPECTILE_METRICS: &[&Metric] = &[
    &EXPECTILE_LOSS,
    &MEAN_SQUARED_ERROR,
    &ROOT_MEAN_SQUARED_ERROR,
    &MEAN_ABSOLUTE_ERROR,
    &R2,
    &SQUARED_CORRELATION,
    &EXPLAINED_VARIANCE,
    &SPEARMAN,
];

/// The mean of `τ (y − f)` where `y > f` and of `(1 − τ)(f − y)` elsewhere, in units of the target:
/// scikit-learn's `mean_pinball_loss`. The quantile τ has the least.
pub static PINBALL_LOSS: Metric = Metric {
    best: Best::Lowest,
    range: [0.0, f64::INFINITY],
    ..Metric::at_level("pinball_loss", |tau, truth, predicted| {
        mean(errors(truth, predicted).map(|e| if e > 0.0 { tau * e } else { (tau - 1.0) * e }))
    })
};

/// The share of targets at or below the prediction, near τ for a good quantile. It is no measure of
/// quality: a constant can have the share τ too.
pub static COVERAGE: Metric = Metric {
    is_diagnostic: true,
    ..Metric::at_level("coverage", |_, truth, predicted| mean(errors(truth, predicted).map(|e| f64::from(u8::from(e <= 0.0)))))
};

/// The mean of `τ (y − f)²` where `y > f` and of `(1 − τ)(y − f)²` elsewhere. The expectile τ has
/// the least.
pub static EXPECTILE_LOSS: Metric = Metric {
    best: Best::Lowest,
    range: [0.0, f64::INFINITY],
    ..Metric::at_level("expectile_loss", |tau, truth, predicted| {
        mean(errors(truth, predicted).map(|e| (if e > 0.0 { tau } else { 1.0 - tau }) * e * e))
    })
};

/// The mean of `(y − f)²`: LIBSVM's `Mean squared error`.
pub static MEAN_SQUARED_ERROR: Metric = Metric {
    loss: Some(|truth, predicted| (truth - predicted) * (truth - predicted)),
    ..error("mean_squared_error", |truth, predicted| mean(errors(truth, predicted).map(|e| e * e)))
};

/// The square root of the mean of `(y − f)²`, in units of the target.
pub static ROOT_MEAN_SQUARED_ERROR: Metric = Metric {
    loss: MEAN_SQUARED_ERROR.loss,
    ..error("root_mean_squared_error", |truth, predicted| mean(errors(truth, predicted).map(|e| e * e)).sqrt())
};

/// The mean of `|y − f|`, in units of the target.
pub static MEAN_ABSOLUTE_ERROR: Metric = Metric {
    loss: Some(|truth, predicted| (truth - predicted).abs()),
    ..error("mean_absolute_error", |truth, predicted| mean(errors(truth, predicted).map(f64::abs)))
};

/// `R²`, the coefficient of determination: 1 minus the squared errors over those of predicting the
/// mean. NaN for constant targets.
pub static R2: Metric = Metric {
    range: [f64::NEG_INFINITY, 1.0],
    ..Metric::new("r2", |truth, predicted| {
        let middle = mean(truth.iter().copied());
        let left: f64 = errors(truth, predicted).map(|e| e * e).sum();
        let all: f64 = truth.iter().map(|t| (t - middle) * (t - middle)).sum();
        if all > 0.0 { 1.0 - left / all } else { f64::NAN }
    })
};

/// The squared correlation of targets and predictions: LIBSVM's `Squared correlation coefficient`.
/// NaN where either is constant.
pub static SQUARED_CORRELATION: Metric =
    Metric::new("squared_correlation", |truth, predicted| correlation(truth, predicted).powi(2));

/// 1 minus the variance of the errors over the variance of the targets: `R²` with a constant error
/// forgiven. NaN for constant targets.
pub static EXPLAINED_VARIANCE: Metric = Metric {
    range: [f64::NEG_INFINITY, 1.0],
    ..Metric::new("explained_variance", |truth, predicted| {
        let all = variance(truth);
        if all > 0.0 { 1.0 - variance(&errors(truth, predicted).collect::<Vec<f64>>()) / all } else { f64::NAN }
    })
};

/// The correlation of the ranks of targets and predictions; equal values share the mean of their
/// ranks. NaN where either is constant.
pub static SPEARMAN: Metric =
    Metric { range: [-1.0, 1.0], ..Metric::new("spearman", |truth, predicted| correlation(&ranks(truth), &ranks(predicted))) };

/// A metric of errors: not negative, the lowest is the best.
const fn error(name: &'static str, score: fn(&[f64], &[f64]) -> f64) -> Metric {
    Metric { best: Best::Lowest, range: [0.0, f64::INFINITY], ..Metric::new(name, score) }
}

fn mean(of: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = of.len() as f64;
    of.sum::<f64>() / n
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values.iter().copied());
    mean(values.iter().map(|value| (value - middle) * (value - middle)))
}

fn errors<'a>(truth: &'a [f64], predicted: &'a [f64]) -> impl ExactSizeIterator<Item = f64> + 'a {
    truth.iter().zip(predicted).map(|(t, p)| t - p)
}

/// The correlation of two series; NaN where either is constant.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_values_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 4.0, 5.0], [1.5, 2.0, 3.0, 5.5]);
        // Errors −½, 0, 1, −½; targets spread 10 about 3, predictions by 9.5 about 3; they go
        // together by 9.
        assert_eq!(MEAN_SQUARED_ERROR.score(&truth, &predicted), 0.375);
        assert_eq!(ROOT_MEAN_SQUARED_ERROR.score(&truth, &predicted), 0.375_f64.sqrt());
        assert_eq!(MEAN_ABSOLUTE_ERROR.score(&truth, &predicted), 0.5);
        assert_eq!(R2.score(&truth, &predicted), 0.85);
        assert!((SQUARED_CORRELATION.score(&truth, &predicted) - 9.0 * 9.0 / (10.0 * 9.5)).abs() < 1e-15);
        // The errors are 0 in the mean.
        assert!((EXPLAINED_VARIANCE.score(&truth, &predicted) - 0.85).abs() < 1e-15);
        assert_eq!(EXPLAINED_VARIANCE.score(&truth, &truth.map(|t| t + 3.0)), 1.0);
        assert_eq!((SPEARMAN.score(&truth, &predicted), SPEARMAN.score(&truth, &[4.0, 3.0, 2.0, 1.0])), (1.0, -1.0));
        // Ranks 0, 1½, 1½, 3 and 0, 1, 2, 3: 4½ / √(4½ · 5).
        assert!((SPEARMAN.score(&[1.0, 2.0, 2.0, 5.0], &truth) - (4.5_f64 / 5.0).sqrt()).abs() < 1e-15);
        assert!(R2.score(&[2.0; 2], &[1.0, 3.0]).is_nan() && SQUARED_CORRELATION.score(&[1.0, 3.0], &[2.0; 2]).is_nan());
        assert_eq!(MEAN_SQUARED_ERROR.losses(&truth, &predicted), Some(vec![0.25, 0.0, 1.0, 0.25]));
        assert!(REGRESSION_METRICS.iter().all(|metric| metric.score(&[], &[]).is_nan()));
    }

    #[test]
    fn scores_of_levels_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 4.0, 5.0], [1.5, 2.0, 3.0, 5.5]);
        // Errors −½, 0, 1, −½.
        assert_eq!(PINBALL_LOSS.score_at(0.75, &truth, &predicted), (0.125 + 0.75 + 0.125) / 4.0);
        assert_eq!(EXPECTILE_LOSS.score_at(0.75, &truth, &predicted), (0.0625 + 0.75 + 0.0625) / 4.0);
        assert_eq!(PINBALL_LOSS.score_at(0.5, &truth, &predicted), 0.5 * MEAN_ABSOLUTE_ERROR.score(&truth, &predicted));
        assert_eq!(EXPECTILE_LOSS.score_at(0.5, &truth, &predicted), 0.5 * MEAN_SQUARED_ERROR.score(&truth, &predicted));
        assert_eq!(COVERAGE.score_at(0.9, &truth, &predicted), 0.75);
        assert!(PINBALL_LOSS.score(&truth, &predicted).is_nan() && EXPECTILE_LOSS.score(&truth, &predicted).is_nan());
        assert!([QUANTILE_METRICS, EXPECTILE_METRICS].concat().iter().all(|metric| metric.score_at(0.5, &[], &[]).is_nan()));
    }
}
