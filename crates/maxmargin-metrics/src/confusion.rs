//! How often samples of each class are predicted to be of each class.

use crate::metric::assert_one_each;
use serde::Serialize;

/// A confusion matrix: counts of samples by class and by predicted class.
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
    /// Counts the samples whose label is one of `classes`, which ascend. A sample whose prediction
    /// is NaN has no prediction and is left out.
    ///
    /// # Panics
    ///
    /// When `truth` and `predicted` have different lengths.
    pub fn of(classes: &[f64], truth: &[f64], predicted: &[f64]) -> Self {
        assert_one_each("predictions", predicted.len(), truth.len());
        // −0 is 0.
        let place = |label: f64| classes.binary_search_by(|class| (class + 0.0).total_cmp(&(label + 0.0))).ok();
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

    /// Samples that are predicted correctly.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zero_is_the_class_0() {
        let found = Confusion::of(&[-0.0, 1.0], &[0.0, 1.0, -0.0], &[-0.0, 1.0, 0.0]);
        assert_eq!((found.counts, found.sizes), (vec![vec![2, 0], vec![0, 1]], vec![2, 1]));
    }

    #[test]
    fn counts_by_hand() {
        let (truth, predicted) = ([1.0, 2.0, 2.0, 5.0], [1.0, 1.0, 2.0, 1.0]);
        let confusion = Confusion::of(&[1.0, 2.0], &truth, &predicted);
        assert_eq!(confusion.counts, [[1, 0], [1, 1]]);
        assert_eq!((confusion.known(), confusion.correct()), (3, 2));
        assert_eq!(confusion.balanced_accuracy(), 0.75);
        assert_eq!(Confusion::of(&[0.0, 1.0], &[-0.0, 0.0], &[0.0, -0.0]).correct(), 2);
        assert_eq!(Confusion::of(&[1.0, 2.0], &[1.0, 2.0], &[1.0, f64::NAN]).sizes, [1, 0]);
    }
}
