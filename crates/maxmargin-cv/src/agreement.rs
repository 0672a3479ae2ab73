//! Scores of predicted labels beyond the fraction that is right: for classes of unequal size.

use crate::metric::{Best, Metric, greatest, labels_of};

/// Of the samples that are predicted to have the greater of two labels, the fraction that has it.
/// Not a number where none is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Precision;

/// Of the samples that have the greater of two labels, the fraction that is predicted to. Not a
/// number where none has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recall;

/// The harmonic mean of precision and recall of the greater of two labels; 0 where that label is
/// never predicted correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct F1;

/// The mean of the F1 of every label that a sample has or is predicted to have; 0 of one that no
/// sample has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacroF1;

/// Matthews' correlation of labels and predictions, for any number of classes (Gorodkin 2004): 1
/// where all are right, 0 for guesses. Not a number where either is constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matthews;

/// Samples of one label: those that have it and are said to, those that are said to, and those that
/// have it.
fn counts(label: f64, truth: &[f64], predicted: &[f64]) -> [f64; 3] {
    let mut counts = [0_usize; 3];
    for (truth, predicted) in truth.iter().zip(predicted) {
        counts[0] += usize::from(*truth == label && *predicted == label);
        counts[1] += usize::from(*predicted == label);
        counts[2] += usize::from(*truth == label);
    }
    counts.map(|count| count as f64)
}

/// The greater of two labels, which a sample has or is predicted to have.
fn greater(truth: &[f64], predicted: &[f64]) -> f64 {
    greatest(truth).max(greatest(predicted))
}

fn f1(label: f64, truth: &[f64], predicted: &[f64]) -> f64 {
    f1_of(counts(label, truth, predicted))
}

fn f1_of([both, said, have]: [f64; 3]) -> f64 {
    2.0 * both / (said + have)
}

/// What [`counts`] counts of one of two classes.
fn counts_of(table: [[usize; 2]; 2], class: usize) -> [f64; 3] {
    [table[class][class], table[0][class] + table[1][class], table[class][0] + table[class][1]].map(|count| count as f64)
}

/// From the counts of every label.
fn correlation(n: f64, labels: impl Iterator<Item = [f64; 3]>) -> f64 {
    let (mut right, mut both, mut said, mut have) = (0.0, 0.0, 0.0, 0.0);
    for [correct, s, h] in labels {
        right += correct;
        both += s * h;
        said += s * s;
        have += h * h;
    }
    (right * n - both) / ((n * n - said) * (n * n - have)).sqrt()
}

impl Metric for Precision {
    fn name(&self) -> &'static str {
        "precision"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let [both, said, _] = counts(greater(truth, predicted), truth, predicted);
        both / said
    }
}

impl Metric for Recall {
    fn name(&self) -> &'static str {
        "recall"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let [both, _, have] = counts(greater(truth, predicted), truth, predicted);
        both / have
    }
}

impl Metric for F1 {
    fn name(&self) -> &'static str {
        "f1"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        f1(greater(truth, predicted), truth, predicted)
    }

    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        Some(f1_of(counts_of(table, 1)))
    }
}

impl Metric for MacroF1 {
    fn name(&self) -> &'static str {
        "f1_macro"
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let labels = labels_of(&[truth, predicted].concat());
        labels.iter().map(|label| f1(*label, truth, predicted)).sum::<f64>() / labels.len() as f64
    }

    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        Some([0, 1].iter().map(|class| f1_of(counts_of(table, *class))).sum::<f64>() / 2.0)
    }
}

impl Metric for Matthews {
    fn name(&self) -> &'static str {
        "matthews"
    }

    fn range(&self) -> [f64; 2] {
        [-1.0, 1.0]
    }

    fn best(&self) -> Best {
        Best::Highest
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let labels = labels_of(&[truth, predicted].concat());
        correlation(truth.len() as f64, labels.into_iter().map(|label| counts(label, truth, predicted)))
    }

    fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        let n: usize = table.as_flattened().iter().sum();
        Some(correlation(n as f64, (0..2).map(|class| counts_of(table, class))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_labels_by_hand() {
        // Of the label 2: one of two is found, and one of two guesses is right.
        let (truth, predicted) = ([1.0, 1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0, 1.0]);
        assert_eq!([&Precision as &dyn Metric, &Recall, &F1].map(|metric| metric.score(&truth, &predicted)), [0.5; 3]);
        // Label 1: two of three and two of three.
        assert!((MacroF1.score(&truth, &predicted) - f64::midpoint(0.5, 2.0 / 3.0)).abs() < 1e-15);
        // TP 1, TN 2, FP 1, FN 1: (1·2 − 1·1) / √(2·2·3·3).
        assert!((Matthews.score(&truth, &predicted) - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!(Matthews.score(&truth, &truth), 1.0);
        assert_eq!(F1.score(&truth, &[1.0; 5]), 0.0);
        // The label 3 has no sample, the label 2 no prediction: 2/3 of one of three.
        assert!((MacroF1.score(&[1.0, 1.0, 2.0], &[1.0, 3.0, 3.0]) - 2.0 / 9.0).abs() < 1e-15);
        let metrics = [&Precision as &dyn Metric, &Matthews];
        assert!(metrics.iter().all(|metric| metric.score(&truth, &[1.0; 5]).is_nan()));
        assert!([&F1 as &dyn Metric, &MacroF1, &Matthews].iter().all(|metric| metric.score(&[], &[]).is_nan()));
    }
}
