//! How predictions are scored.

use serde::Serialize;

/// A score of predictions.
pub trait Metric: Sync {
    /// Its name in documents.
    fn name(&self) -> &'static str;

    /// Whether larger is better.
    fn higher_is_better(&self) -> bool;

    /// The score of `predicted` against `truth`, one entry a sample.
    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64;

    /// What each sample contributes to a sum that the score is a function of, where there is one: such scores can be bounded before all
    /// folds are done.
    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        let _ = (truth, predicted);
        None
    }
}

/// The fraction of samples whose label is predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy;

impl Metric for Accuracy {
    fn name(&self) -> &'static str {
        "accuracy"
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
        right as f64 / truth.len() as f64
    }

    fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        Some(truth.iter().zip(predicted).map(|(t, p)| f64::from(u8::from(t != p))).collect())
    }
}

/// How often samples of each class are predicted to be of each: one row for each class of the data, one column for each that is predicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Confusion(pub Vec<Vec<usize>>);

impl Confusion {
    /// Counts the samples whose label is one of the classes.
    pub fn of(classes: &[f64], truth: &[f64], predicted: &[f64]) -> Self {
        let place = |label: f64| classes.iter().position(|c| *c == label);
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        for (truth, predicted) in truth.iter().zip(predicted) {
            if let (Some(row), Some(column)) = (place(*truth), place(*predicted)) {
                counts[row][column] += 1;
            }
        }
        Self(counts)
    }

    /// Samples whose label is one of the classes.
    pub fn known(&self) -> usize {
        self.0.iter().flatten().sum()
    }

    /// Those that are predicted correctly.
    pub fn correct(&self) -> usize {
        (0..self.0.len()).map(|class| self.0[class][class]).sum()
    }
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
        assert_eq!(confusion.0, [[1, 0], [1, 1]]);
        assert_eq!((confusion.known(), confusion.correct()), (3, 2));
    }
}
