//! Classes in LIBSVM's order, and how they vote.

use maxmargin_data::classes::pairs;

/// The classes of a problem: their labels in LIBSVM's order, and the class of each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// In order of first appearance; of the labels −1 and +1 the latter comes first.
    pub labels: Vec<i32>,
    /// The class of each row, a place in `labels`.
    pub of: Vec<usize>,
}

impl Classes {
    /// Labels are cut to whole numbers, as LIBSVM does it: 1.5 and 1.2 are both class 1.
    pub fn new(given: &[f64]) -> Self {
        let mut labels: Vec<i32> = Vec::new();
        let mut of: Vec<usize> = Vec::with_capacity(given.len());
        let mut places = std::collections::HashMap::new();
        for &label in given {
            let label = label as i32;
            let place = *places.entry(label).or_insert_with(|| {
                labels.push(label);
                labels.len() - 1
            });
            of.push(place);
        }
        if labels == [-1, 1] {
            labels.reverse();
            of.iter_mut().for_each(|class| *class = 1 - *class);
        }
        Self { labels, of }
    }

    /// Rows of each class.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.labels.len()];
        self.of.iter().for_each(|&class| sizes[class] += 1);
        sizes
    }

    /// The number that stands for a class in our solvers, whose machines say 0 and above to the greater of two: they then have LIBSVM's pairs in
    /// LIBSVM's order, and of two classes LIBSVM's sign.
    pub fn rank(&self, class: usize) -> f64 {
        if self.labels.len() == 2 { 1.0 - class as f64 } else { class as f64 }
    }

    /// The class that most pairs elect; of several the one that comes first in `order`, which is how often the training set of a fold of
    /// cross-validation begins with other classes than the data. `decisions` are those of machines over [`Classes::rank`].
    pub fn elected(&self, decisions: &[f64], order: &[usize]) -> usize {
        let count = self.labels.len();
        if count == 2 {
            return usize::from(decisions[0] < 0.0);
        }
        let mut votes = vec![0_u32; count];
        for ((a, b), &decision) in pairs(count).zip(decisions) {
            votes[if decision >= 0.0 { b } else { a }] += 1;
        }
        let first_most = |best: usize, &class: &usize| if votes[class] > votes[best] { class } else { best };
        order.iter().fold(order[0], first_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_of_appearance_but_for_minus_one() {
        assert_eq!(Classes::new(&[3.0, 1.5, 1.2, 3.0]), Classes { labels: vec![3, 1], of: vec![0, 1, 1, 0] });
        assert_eq!(Classes::new(&[-1.0, 1.0]), Classes { labels: vec![1, -1], of: vec![1, 0] });
        assert_eq!(Classes::new(&[-1.0, 1.0, 2.0]).labels, [-1, 1, 2]);
    }

    #[test]
    fn ties_go_to_whom_the_training_set_begins_with() {
        let classes = Classes::new(&[0.0, 1.0, 2.0]);
        // 0 beats 1, 1 beats 2, 2 beats 0.
        let round = [-1.0, 1.0, -1.0];
        assert_eq!(classes.elected(&round, &[0, 1, 2]), 0);
        assert_eq!(classes.elected(&round, &[2, 0, 1]), 2);
        assert_eq!(classes.elected(&[1.0, 1.0, -1.0], &[0, 1, 2]), 1);
    }
}
