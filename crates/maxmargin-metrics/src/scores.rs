//! All scores of some predictions.

use crate::classification::{CLASS_METRICS, TWO_CLASS_METRICS};
use crate::metric::{Metric, assert_one_each};
use crate::one_class::INLIER_METRICS;
use crate::regression::{EXPECTILE_METRICS, QUANTILE_METRICS, REGRESSION_METRICS};
use maxmargin_core::{Formulation, Level, TargetKind};

/// A score by the name of its metric.
pub type Score = (&'static str, f64);

/// The purpose of predictions, which decides the metrics that score them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Purpose {
    /// The kind of target.
    pub target_kind: TargetKind,
    /// The quantile or expectile that values estimate.
    pub level: Option<Level>,
}

impl From<TargetKind> for Purpose {
    fn from(target_kind: TargetKind) -> Self {
        Self { target_kind, level: None }
    }
}

impl From<Formulation> for Purpose {
    fn from(formulation: Formulation) -> Self {
        Self { target_kind: formulation.target_kind(), level: formulation.level() }
    }
}

impl Purpose {
    /// τ of the level; NaN without one.
    fn tau(self) -> f64 {
        self.level.map_or(f64::NAN, Level::tau)
    }
}

/// The metrics of predictions for a purpose; a grid chooses by the first.
pub fn metrics_of(purpose: impl Into<Purpose>) -> &'static [&'static Metric] {
    let Purpose { target_kind, level } = purpose.into();
    match (target_kind, level) {
        (TargetKind::Classes, _) => CLASS_METRICS,
        (TargetKind::Values, None) => REGRESSION_METRICS,
        (TargetKind::Values, Some(Level::Quantile(_))) => QUANTILE_METRICS,
        (TargetKind::Values, Some(Level::Expectile(_))) => EXPECTILE_METRICS,
        (TargetKind::Nothing, _) => INLIER_METRICS,
    }
}

/// Every metric of predictions for a purpose, with those of two classes.
pub fn all_metrics(purpose: impl Into<Purpose>) -> impl Iterator<Item = &'static Metric> {
    let purpose = purpose.into();
    let two = if purpose.target_kind == TargetKind::Classes { TWO_CLASS_METRICS } else { &[] };
    metrics_of(purpose).iter().chain(two).copied()
}

/// Whether all labels are 1 (inside) or −1: a one-class machine can then be scored as two classes
/// are, as LIBSVM does.
pub fn are_sides(labels: &[f64]) -> bool {
    labels.iter().all(|label| label.abs() == 1.0)
}

/// All tables of metrics; some metrics are in several.
const TABLES: [&[&Metric]; 6] =
    [CLASS_METRICS, TWO_CLASS_METRICS, REGRESSION_METRICS, QUANTILE_METRICS, EXPECTILE_METRICS, INLIER_METRICS];

/// [`Metric::range`] of a metric by its name.
pub(crate) fn range_of(name: &str) -> [f64; 2] {
    let mut all = TABLES.into_iter().flatten();
    all.find(|metric| metric.name() == name).map_or([f64::NEG_INFINITY, f64::INFINITY], |metric| metric.range())
}

/// Whether correct predictions of this kind of target can be counted.
pub fn is_countable(target: TargetKind, labels: &[f64]) -> bool {
    target == TargetKind::Classes || (target == TargetKind::Nothing && are_sides(labels))
}

/// The score of predictions for a purpose by a metric.
///
/// Metrics of one of two classes ([`TWO_CLASS_METRICS`]) are about the label `greater`: NaN where
/// no sample has it (nor, unless the metric ranks, is predicted to), and where decision values are
/// missing.
///
/// # Panics
///
/// When `truth` and `values` have different lengths.
pub fn score_of(purpose: Purpose, metric: &Metric, greater: f64, truth: &[f64], values: &[f64]) -> f64 {
    assert_one_each("predictions", values.len(), truth.len());
    let has = |labels: &[f64]| labels.contains(&greater);
    let of_one = TWO_CLASS_METRICS.contains(&metric);
    let missing = of_one && !has(truth) && (metric.ranks() || !has(values));
    if missing || values.iter().any(|value| value.is_nan()) { f64::NAN } else { metric.score_at(purpose.tau(), truth, values) }
}

/// All scores over the samples that have a prediction; a prediction that is NaN is none.
/// `decisions` has one value a sample where one machine decides between two classes, the greater of
/// which has the label `greater`.
///
/// # Panics
///
/// When `truth`, `predicted` and `decisions` have different lengths.
pub fn scores(
    purpose: impl Into<Purpose>,
    greater: f64,
    truth: &[f64],
    predicted: &[f64],
    decisions: Option<&[f64]>,
) -> Vec<Score> {
    assert_one_each("predictions", predicted.len(), truth.len());
    decisions.iter().for_each(|decisions| assert_one_each("decision values", decisions.len(), truth.len()));
    let purpose = purpose.into();
    let target = purpose.target_kind;
    let known: Vec<usize> = (0..truth.len()).filter(|&i| !predicted[i].is_nan()).collect();
    let of = |values: &[f64]| known.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let (truth, predicted, decisions) = (of(truth), of(predicted), decisions.map(of));
    let sides = target == TargetKind::Nothing && are_sides(&truth);
    let classes = if sides { CLASS_METRICS } else { &[] };
    let two = if sides || target == TargetKind::Classes { TWO_CLASS_METRICS } else { &[] };
    let of = |metric: &&Metric, values: &[f64]| (metric.name(), score_of(purpose, metric, greater, &truth, values));
    let mut scores: Vec<Score> = metrics_of(purpose).iter().chain(classes).map(|metric| of(metric, &predicted)).collect();
    if let Some(decisions) = decisions {
        scores.extend(two.iter().map(|metric| of(metric, if metric.ranks() { &decisions } else { &predicted })));
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_scores_are_of_what_is_known() {
        let all = TABLES.concat();
        let is_new = |at: usize| all[..at].iter().all(|one| std::ptr::eq(*one, all[at]) || one.name() != all[at].name());
        assert!((0..all.len()).all(is_new), "{all:?}");
        // A search chooses by the first metric of a purpose.
        assert!(TABLES.iter().all(|table| !table[0].is_diagnostic()));
        let of = |formulation: Formulation| scores(formulation, f64::NAN, &[1.0, 2.0], &[2.0, 2.0], None)[..2].to_vec();
        assert_eq!(of(Formulation::quantile(1.0, 0.75)), [("pinball_loss", 0.125), ("coverage", 1.0)]);
        assert_eq!(of(Formulation::expectile(1.0, 0.75)), [("expectile_loss", 0.125), ("mean_squared_error", 0.5)]);
        assert_eq!(scores(TargetKind::Classes, 2.0, &[1.0, 2.0], &[1.0, f64::NAN], None)[0].1, 1.0);
        let found = scores(TargetKind::Classes, 5.0, &[1.0, 2.0, 2.0, 5.0], &[1.0, 1.0, 2.0, 1.0], None);
        let names: Vec<&str> = found.iter().map(|score| score.0).collect();
        assert_eq!(names, ["accuracy", "balanced_accuracy", "f1_macro", "matthews"]);
        let two = scores(TargetKind::Classes, 2.0, &[1.0, 2.0, 2.0], &[1.0, f64::NAN, 2.0], Some(&[-1.0, -3.0, 1.0]));
        assert_eq!(two.iter().find(|score| score.0 == "roc_auc"), Some(&("roc_auc", 1.0)));
    }

    /// As scikit-learn has them of the class 2, in folds that lack it or its machine.
    #[test]
    fn scores_of_a_class_that_is_not_there() {
        let of = |truth: &[f64], predicted: &[f64], decisions: &[f64]| -> Vec<f64> {
            let all = scores(TargetKind::Classes, 2.0, truth, predicted, Some(decisions));
            let name = |name: &str| all.iter().find(|score| score.0 == name).expect("a score").1;
            ["precision", "recall", "f1", "roc_auc", "average_precision"].map(name).to_vec()
        };
        // One of two is said to be of a class that no sample has.
        let said = of(&[1.0, 1.0], &[1.0, 2.0], &[-1.0, 1.0]);
        assert!(said[0] == 0.0 && said[1].is_nan() && said[2] == 0.0 && said[3].is_nan() && said[4].is_nan(), "{said:?}");
        assert!(of(&[1.0, 1.0], &[1.0, 1.0], &[-1.0, -2.0]).iter().all(|score| score.is_nan()));
        // The machine has seen one class alone.
        let alone = of(&[1.0, 2.0], &[1.0, 1.0], &[f64::NAN; 2]);
        assert!(alone[0].is_nan() && alone[1..3] == [0.0, 0.0] && alone[3].is_nan() && alone[4].is_nan(), "{alone:?}");
    }
}
