//! How predictions are scored.

use crate::agreement::{F1, MacroF1, Matthews, Precision, Recall};
use crate::ranking::{AveragePrecision, RocAuc};
use crate::values::{INLIER_METRICS, VALUE_METRICS};
use maxmargin_core::TargetKind;
use serde::Serialize;

/// Which scores are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Best {
    /// The highest.
    Highest,
    /// The lowest.
    Lowest,
}

/// A score of predictions.
pub trait Metric: Sync {
    /// Its name in documents.
    fn name(&self) -> &'static str;

    /// Which scores are better.
    fn best(&self) -> Best;

    /// The least and the greatest score that there can be.
    fn range(&self) -> [f64; 2] {
        [0.0, 1.0]
    }

    /// Whether it looks at decision values of two classes instead of what is predicted.
    fn ranks(&self) -> bool {
        false
    }

    /// The score of `predicted` against `truth`, one entry a sample; not a number where there are
    /// no samples. A metric that ranks is given decision values for `predicted`, positive for the
    /// greater label.
    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64;

    /// Whether it counts errors of classes, one a sample: whoever makes more errors has a worse
    /// score.
    fn counts(&self) -> bool {
        false
    }

    /// The score of two classes by how often samples of each (rows, the lesser label first) are
    /// predicted to be of each (columns): bit by bit that of the labels. None where the score is no
    /// function of that, or is best where all samples but one are said to be of one class
    /// (precision, recall).
    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        let _ = table;
        None
    }

    /// What each sample adds to a sum that the score is a function of, where there is one: such
    /// scores can be bounded before all folds are done.
    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        let _ = (truth, predicted);
        None
    }
}

impl std::fmt::Debug for dyn Metric {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.name())
    }
}

/// What every cross-validation of classes is scored by; the first is what a grid chooses by.
pub const METRICS: &[&dyn Metric] = &[&Accuracy, &BalancedAccuracy, &MacroF1, &Matthews];

/// What one of two classes is scored by besides: of the class with the greater label.
pub const TWO_CLASS_METRICS: &[&dyn Metric] = &[&Precision, &Recall, &F1, &RocAuc, &AveragePrecision];

/// A score by the name of its metric.
pub type Score = (&'static str, f64);

/// What formulations with these needs are scored by; a grid chooses by the first.
pub fn metrics_of(needs: TargetKind) -> &'static [&'static dyn Metric] {
    match needs {
        TargetKind::Classes => METRICS,
        TargetKind::Values => VALUE_METRICS,
        TargetKind::Nothing => INLIER_METRICS,
    }
}

/// Whether labels say of every sample whether it is inside (1) or not (−1): one class can then be
/// scored as two are, as LIBSVM does.
pub(crate) fn are_sides(labels: &[f64]) -> bool {
    labels.iter().all(|label| label.abs() == 1.0)
}

/// [`Metric::range`] of a metric by its name.
pub(crate) fn range_of(name: &str) -> [f64; 2] {
    let mut all = [METRICS, TWO_CLASS_METRICS, VALUE_METRICS, INLIER_METRICS].into_iter().flatten();
    all.find(|metric| metric.name() == name).map_or([f64::NEG_INFINITY, f64::INFINITY], |metric| metric.range())
}

/// Every metric of formulations with these needs, those of two classes included.
pub fn all_metrics(needs: TargetKind) -> impl Iterator<Item = &'static dyn Metric> {
    let two = if needs == TargetKind::Classes { TWO_CLASS_METRICS } else { &[] };
    metrics_of(needs).iter().chain(two).copied()
}

/// The greatest of some labels; not a number of none.
pub(crate) fn greatest(labels: &[f64]) -> f64 {
    labels.iter().copied().fold(f64::NAN, f64::max)
}

/// The score of predictions by a metric. Those of one of two classes ([`TWO_CLASS_METRICS`]) are of
/// the label `greater`: not a number where no sample has it (nor, unless the metric ranks, is
/// predicted to), and where decision values are missing.
pub fn score_of(metric: &dyn Metric, greater: f64, truth: &[f64], values: &[f64]) -> f64 {
    let has = |labels: &[f64]| labels.contains(&greater);
    let of_one = TWO_CLASS_METRICS.iter().any(|known| known.name() == metric.name());
    let missing = of_one && !has(truth) && (metric.ranks() || !has(values));
    if missing || values.iter().any(|value| value.is_nan()) { f64::NAN } else { metric.score(truth, values) }
}

/// The scores over the samples that have a prediction: one that is not a number is none.
/// `decisions` has one value a sample where one machine decides between two classes, the greater of
/// which has the label `greater`.
pub(crate) fn scores(needs: TargetKind, greater: f64, truth: &[f64], predicted: &[f64], decisions: Option<&[f64]>) -> Vec<Score> {
    let known: Vec<usize> = (0..truth.len()).filter(|&i| !predicted[i].is_nan()).collect();
    let of = |values: &[f64]| known.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let (truth, predicted, decisions) = (of(truth), of(predicted), decisions.map(of));
    let sides = needs == TargetKind::Nothing && are_sides(&truth);
    let classes = if sides { METRICS } else { &[] };
    let two = if sides || needs == TargetKind::Classes { TWO_CLASS_METRICS } else { &[] };
    let of = |metric: &&dyn Metric, values: &[f64]| (metric.name(), score_of(*metric, greater, &truth, values));
    let mut scores: Vec<Score> = metrics_of(needs).iter().chain(classes).map(|metric| of(metric, &predicted)).collect();
    if let Some(decisions) = decisions {
        scores.extend(two.iter().map(|metric| of(metric, if metric.ranks() { &decisions } else { &predicted })));
    }
    scores
}

/// The fraction of samples whose label is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy;

impl Metric for Accuracy {
    fn name(&self) -> &'static str {
        "accuracy"
    }

    fn counts(&self) -> bool {
        true
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
        right as f64 / truth.len() as f64
    }

    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        Some((table[0][0] + table[1][1]) as f64 / table.as_flattened().iter().sum::<usize>() as f64)
    }

    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        Some(truth.iter().zip(predicted).map(|(t, p)| f64::from(u8::from(t != p))).collect())
    }
}

/// The mean over the classes of the fraction of their samples whose label is predicted: guessing
/// one class is right for one class only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BalancedAccuracy;

impl Metric for BalancedAccuracy {
    fn name(&self) -> &'static str {
        "balanced_accuracy"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        Confusion::of(&labels_of(truth), truth, predicted).balanced_accuracy()
    }

    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        let counts = table.map(Vec::from).to_vec();
        let sizes = counts.iter().map(|row| row.iter().sum()).collect();
        Some(Confusion { counts, sizes }.balanced_accuracy())
    }
}

/// How often samples of each class are predicted to be of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Confusion {
    /// One row for each class of the data, one column for each that is predicted.
    pub counts: Vec<Vec<usize>>,
    /// Samples of each class, whatever is predicted.
    #[serde(skip)]
    pub sizes: Vec<usize>,
}

impl Confusion {
    /// Counts the samples whose label is one of the classes; `classes` ascend. Samples whose
    /// prediction is not a number have none and are left out.
    pub fn of(classes: &[f64], truth: &[f64], predicted: &[f64]) -> Self {
        // −0 is 0.
        let place = |label: f64| classes.binary_search_by(|class| class.total_cmp(&(label + 0.0))).ok();
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        let mut sizes = vec![0; classes.len()];
        for (truth, predicted) in truth.iter().zip(predicted).filter(|(_, predicted)| !predicted.is_nan()) {
            let Some(row) = place(*truth) else { continue };
            sizes[row] += 1;
            if let Some(column) = place(*predicted) {
                counts[row][column] += 1;
            }
        }
        Self { counts, sizes }
    }

    /// Samples whose label is one of the classes.
    pub fn known(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Those that are predicted correctly.
    pub fn correct(&self) -> usize {
        (0..self.counts.len()).map(|class| self.counts[class][class]).sum()
    }

    /// The mean over the classes that have samples of the fraction predicted correctly.
    pub fn balanced_accuracy(&self) -> f64 {
        let of = |class: &usize| self.counts[*class][*class] as f64 / self.sizes[*class] as f64;
        let present: Vec<usize> = (0..self.sizes.len()).filter(|&class| self.sizes[class] > 0).collect();
        present.iter().map(of).sum::<f64>() / present.len() as f64
    }
}

/// The labels that occur, ascending; −0 is 0.
pub(crate) fn labels_of(truth: &[f64]) -> Vec<f64> {
    let mut labels: Vec<f64> = truth.iter().map(|label| label + 0.0).collect();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 2.0, 5.0], [1.0, 1.0, 2.0, 1.0]);
        assert_eq!(Accuracy.score(&truth, &predicted), 0.5);
        assert_eq!(Accuracy.losses(&truth, &predicted), Some(vec![0.0, 1.0, 0.0, 1.0]));
        let confusion = Confusion::of(&[1.0, 2.0], &truth, &predicted);
        assert_eq!(confusion.counts, [[1, 0], [1, 1]]);
        assert_eq!((confusion.known(), confusion.correct()), (3, 2));
        assert_eq!(confusion.balanced_accuracy(), 0.75);
        assert_eq!(Confusion::of(&[0.0, 1.0], &[-0.0, 0.0], &[0.0, -0.0]).correct(), 2);
        assert_eq!(BalancedAccuracy.score(&[-0.0, 0.0, 1.0], &[0.0; 3]), 0.5);
        // The third class is never predicted.
        assert_eq!(BalancedAccuracy.score(&truth, &predicted), 0.5);
        assert_eq!(Confusion::of(&[1.0, 2.0], &[1.0, 2.0], &[1.0, f64::NAN]).sizes, [1, 0]);
        assert_eq!(scores(TargetKind::Classes, 2.0, &[1.0, 2.0], &[1.0, f64::NAN], None)[0].1, 1.0);
        let names: Vec<&str> = scores(TargetKind::Classes, 5.0, &truth, &predicted, None).iter().map(|score| score.0).collect();
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
