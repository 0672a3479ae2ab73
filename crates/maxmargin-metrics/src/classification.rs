//! Scores of predicted labels.

use crate::confusion::Confusion;
use crate::metric::{Metric, greatest_label};
use crate::ranking::{AVERAGE_PRECISION, ROC_AUC};

/// The metrics of every cross-validation of classes.
pub static CLASS_METRICS: &[&Metric] = &[&ACCURACY, &BALANCED_ACCURACY, &F1_MACRO, &MATTHEWS];

/// The further metrics of two classes: of the class with the greater label.
pub static TWO_CLASS_METRICS: &[&Metric] = &[&PRECISION, &RECALL, &F1, &ROC_AUC, &AVERAGE_PRECISION];

/// The fraction of samples whose label is predicted.
pub static ACCURACY: Metric = Metric {
    counts_errors: true,
    of_table: Some(|table| (table[0][0] + table[1][1]) as f64 / table.as_flattened().iter().sum::<usize>() as f64),
    loss: Some(|truth, predicted| f64::from(u8::from(truth != predicted))),
    ..Metric::new("accuracy", |truth, predicted| {
        let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
        right as f64 / truth.len() as f64
    })
};

/// The mean over the classes of the fraction of their samples whose label is predicted: a constant
/// prediction is right for one class only.
pub static BALANCED_ACCURACY: Metric = Metric {
    of_table: Some(|table| {
        let counts = table.map(Vec::from).to_vec();
        let sizes = counts.iter().map(|row| row.iter().sum()).collect();
        Confusion { counts, sizes }.balanced_accuracy()
    }),
    ..Metric::new("balanced_accuracy", |truth, predicted| Confusion::of(&labels_of(truth), truth, predicted).balanced_accuracy())
};

/// The mean of the F1 of every label that a sample has or is predicted to have; 0 of a label that
/// no sample has.
pub static F1_MACRO: Metric = Metric {
    of_table: Some(|table| {
        let known: Vec<Counts> =
            [0, 1].map(|class| Counts::of_class(table, class)).into_iter().filter(Counts::is_known).collect();
        known.iter().map(Counts::f1).sum::<f64>() / known.len() as f64
    }),
    ..Metric::new("f1_macro", |truth, predicted| {
        let labels = labels_of(&[truth, predicted].concat());
        labels.iter().map(|label| Counts::of(*label, truth, predicted).f1()).sum::<f64>() / labels.len() as f64
    })
};

/// Matthews' correlation of labels and predictions, for any number of classes (Gorodkin 2004): 1
/// where all are right, 0 for guesses. NaN where either is constant.
pub static MATTHEWS: Metric = Metric {
    range: [-1.0, 1.0],
    of_table: Some(|table| {
        let samples: usize = table.as_flattened().iter().sum();
        correlation(samples as f64, (0..2).map(|class| Counts::of_class(table, class)))
    }),
    ..Metric::new("matthews", |truth, predicted| {
        let labels = labels_of(&[truth, predicted].concat());
        correlation(truth.len() as f64, labels.into_iter().map(|label| Counts::of(label, truth, predicted)))
    })
};

/// Of the samples that are predicted to have the greater of two labels, the fraction that has it.
/// NaN where none is.
pub static PRECISION: Metric = Metric::new("precision", |truth, predicted| {
    let counts = Counts::of(greater(truth, predicted), truth, predicted);
    counts.correct / counts.predicted
});

/// Of the samples that have the greater of two labels, the fraction that is predicted to have it.
/// NaN where none has.
pub static RECALL: Metric = Metric::new("recall", |truth, predicted| {
    let counts = Counts::of(greater(truth, predicted), truth, predicted);
    counts.correct / counts.support
});

/// The harmonic mean of precision and recall of the greater of two labels; 0 where that label is
/// never predicted correctly.
pub static F1: Metric = Metric {
    of_table: Some(|table| {
        let greater = Counts::of_class(table, 1);
        if greater.is_known() { greater.f1() } else { Counts::of_class(table, 0).f1() }
    }),
    ..Metric::new("f1", |truth, predicted| Counts::of(greater(truth, predicted), truth, predicted).f1())
};

/// Samples of one label.
struct Counts {
    /// Samples that have the label and are predicted to.
    correct: f64,
    /// Samples that are predicted to have it.
    predicted: f64,
    /// Samples that have it.
    support: f64,
}

impl Counts {
    fn of(label: f64, truth: &[f64], predicted: &[f64]) -> Self {
        let mut counts = [0_usize; 3];
        for (truth, predicted) in truth.iter().zip(predicted) {
            counts[0] += usize::from(*truth == label && *predicted == label);
            counts[1] += usize::from(*predicted == label);
            counts[2] += usize::from(*truth == label);
        }
        Self::new(counts)
    }

    /// The same of one of two classes, from a confusion matrix.
    fn of_class(table: [[usize; 2]; 2], class: usize) -> Self {
        Self::new([table[class][class], table[0][class] + table[1][class], table[class][0] + table[class][1]])
    }

    fn new(counts: [usize; 3]) -> Self {
        let [correct, predicted, support] = counts.map(|count| count as f64);
        Self { correct, predicted, support }
    }

    /// Returns true if a sample has the label or is predicted to have it.
    fn is_known(&self) -> bool {
        self.predicted + self.support > 0.0
    }

    fn f1(&self) -> f64 {
        2.0 * self.correct / (self.predicted + self.support)
    }
}

/// The greater of two labels, which a sample has or is predicted to have.
fn greater(truth: &[f64], predicted: &[f64]) -> f64 {
    greatest_label(truth).max(greatest_label(predicted))
}

/// The labels that occur, ascending; −0 is 0.
fn labels_of(truth: &[f64]) -> Vec<f64> {
    let mut labels: Vec<f64> = truth.iter().map(|label| label + 0.0).collect();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    labels
}

/// Matthews' correlation from the counts of every label.
fn correlation(samples: f64, labels: impl Iterator<Item = Counts>) -> f64 {
    let (mut correct, mut both, mut predicted, mut support) = (0.0, 0.0, 0.0, 0.0);
    for counts in labels {
        correct += counts.correct;
        both += counts.predicted * counts.support;
        predicted += counts.predicted * counts.predicted;
        support += counts.support * counts.support;
    }
    (correct * samples - both) / ((samples * samples - predicted) * (samples * samples - support)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_scores_of_their_samples() {
        for counts in 1_usize..81 {
            let table = [[counts % 3, counts / 3 % 3], [counts / 9 % 3, counts / 27]];
            let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
            let samples = cells.iter().flat_map(|&(t, p)| vec![(t as f64, p as f64); table[t][p]]);
            let (truth, predicted): (Vec<f64>, Vec<f64>) = samples.unzip();
            for metric in CLASS_METRICS.iter().chain(TWO_CLASS_METRICS) {
                if let Some(found) = metric.of_table(table) {
                    assert_eq!(found.to_bits(), metric.score(&truth, &predicted).to_bits(), "{} {table:?}", metric.name());
                }
            }
        }
    }

    #[test]
    fn scores_of_labels_by_hand() {
        // Of the label 2: one of two is found, and one of two guesses is right.
        let (truth, predicted) = ([1.0, 1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0, 1.0]);
        assert_eq!([&PRECISION, &RECALL, &F1].map(|metric| metric.score(&truth, &predicted)), [0.5; 3]);
        // Label 1: two of three and two of three.
        assert!((F1_MACRO.score(&truth, &predicted) - f64::midpoint(0.5, 2.0 / 3.0)).abs() < 1e-15);
        // TP 1, TN 2, FP 1, FN 1: (1·2 − 1·1) / √(2·2·3·3).
        assert!((MATTHEWS.score(&truth, &predicted) - 1.0 / 6.0).abs() < 1e-15);
        assert_eq!(MATTHEWS.score(&truth, &truth), 1.0);
        assert_eq!(F1.score(&truth, &[1.0; 5]), 0.0);
        // The label 3 has no sample, the label 2 no prediction: 2/3 of one of three.
        assert!((F1_MACRO.score(&[1.0, 1.0, 2.0], &[1.0, 3.0, 3.0]) - 2.0 / 9.0).abs() < 1e-15);
        assert!([&PRECISION, &MATTHEWS].iter().all(|metric| metric.score(&truth, &[1.0; 5]).is_nan()));
        assert!([&F1, &F1_MACRO, &MATTHEWS].iter().all(|metric| metric.score(&[], &[]).is_nan()));
    }

    #[test]
    fn accuracies_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 2.0, 5.0], [1.0, 1.0, 2.0, 1.0]);
        assert_eq!(ACCURACY.score(&truth, &predicted), 0.5);
        assert_eq!(ACCURACY.losses(&truth, &predicted), Some(vec![0.0, 1.0, 0.0, 1.0]));
        assert_eq!(BALANCED_ACCURACY.score(&[-0.0, 0.0, 1.0], &[0.0; 3]), 0.5);
        // The third class is never predicted.
        assert_eq!(BALANCED_ACCURACY.score(&truth, &predicted), 0.5);
    }
}
