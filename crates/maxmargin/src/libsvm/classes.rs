//! Classes in LIBSVM's order, and their votes.

use maxmargin_data::LabelError;
use maxmargin_data::classes::elected_in_order;

/// The classes of a problem: their labels in LIBSVM's order, and the class of each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The labels in order of first appearance, except that +1 comes before −1 if these are the
    /// only labels.
    pub labels: Vec<i32>,
    /// The class of each row, as an index into `labels`.
    pub of: Vec<usize>,
}

impl Classes {
    /// Returns the classes of these labels. Labels are truncated to integers, as in LIBSVM: 1.5 and
    /// 1.2 are both class 1.
    ///
    /// # Errors
    ///
    /// When a label does not fit 32 bits. LIBSVM converts it to another number.
    pub fn new(given: &[f64]) -> Result<Self, LabelError> {
        let mut labels: Vec<i32> = Vec::new();
        let mut of: Vec<usize> = Vec::with_capacity(given.len());
        let mut places = std::collections::HashMap::new();
        for (row, &label) in given.iter().enumerate() {
            let label = whole(label).ok_or(LabelError::Wide { row, label })?;
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
        Ok(Self { labels, of })
    }

    /// Returns the number of rows of each class.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.labels.len()];
        self.of.iter().for_each(|&class| sizes[class] += 1);
        sizes
    }

    /// Returns the label of a class for this workspace's solvers, whose machines select the greater
    /// of two labels at 0 and above. With these labels, they have LIBSVM's pairs in LIBSVM's order,
    /// and for two classes LIBSVM's sign.
    pub fn rank(&self, class: usize) -> f64 {
        if self.labels.len() == 2 { 1.0 - class as f64 } else { class as f64 }
    }

    /// Returns the classes of `order` as indices into a [`maxmargin_model::Model`]'s classes, which
    /// ascend by [`Classes::rank`]. This order decides ties.
    pub fn ranks(&self, order: &[usize]) -> Vec<u32> {
        order.iter().map(|&class| self.rank(class) as u32).collect()
    }

    /// Returns all classes in the order of the labels of a model that is trained on `rows`, which
    /// have every class. This is the order of first appearance in `rows`, except for −1 and +1. In
    /// the training set of a fold it often differs from that of the data.
    pub fn order_of(&self, rows: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.labels.len());
        for row in rows {
            if order.len() == self.labels.len() {
                break;
            }
            if !order.contains(&self.of[row]) {
                order.push(self.of[row]);
            }
        }
        if self.labels == [1, -1] { vec![0, 1] } else { order }
    }

    /// Returns the class with most votes of pairs. `decisions` come from machines over
    /// [`Classes::rank`]. Ties are decided by `ranks`, the order of classes of a training set
    /// ([`Classes::ranks`]).
    pub fn elected(&self, decisions: &[f64], ranks: &[u32]) -> usize {
        // The function `rank` is its own inverse.
        self.rank(elected_in_order(ranks, decisions)) as usize
    }
}

/// Checks that all labels can be classes ([`Classes::new`]).
///
/// # Errors
///
/// The first label that does not fit 32 bits.
pub fn check_labels(given: &[f64]) -> Result<(), LabelError> {
    let wide = given.iter().position(|label| whole(*label).is_none());
    wide.map_or(Ok(()), |row| Err(LabelError::Wide { row, label: given[row] }))
}

/// Returns the label that LIBSVM makes of a number by truncation; `None` if it does not fit 32
/// bits.
fn whole(label: f64) -> Option<i32> {
    let cut = label.trunc();
    (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&cut).then_some(cut as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes_of(given: &[f64]) -> Classes {
        Classes::new(given).expect("labels of 32 bits")
    }

    #[test]
    fn classes_are_in_order_of_appearance_but_for_minus_one() {
        assert_eq!(classes_of(&[3.0, 1.5, 1.2, 3.0]), Classes { labels: vec![3, 1], of: vec![0, 1, 1, 0] });
        assert_eq!(classes_of(&[-1.0, 1.0]), Classes { labels: vec![1, -1], of: vec![1, 0] });
        assert_eq!(classes_of(&[-1.0, 1.0, 2.0]).labels, [-1, 1, 2]);
    }

    #[test]
    fn ties_go_to_the_class_that_the_training_set_begins_with() {
        let classes = classes_of(&[0.0, 1.0, 2.0]);
        // 0 beats 1, 1 beats 2, 2 beats 0.
        let round = [-1.0, 1.0, -1.0];
        assert_eq!(classes.elected(&round, &[0, 1, 2]), 0);
        assert_eq!(classes.elected(&round, &[2, 0, 1]), 2);
        assert_eq!(classes.elected(&[1.0, 1.0, -1.0], &[0, 1, 2]), 1);
    }

    #[test]
    fn a_decision_of_0_is_for_the_second_label_of_the_training_set() {
        let classes = classes_of(&[7.0, 3.0]);
        // Positive decision values of the machine select 7, the first label of the data.
        assert_eq!([1.0, -1.0].map(|decision| classes.elected(&[decision], &classes.ranks(&[0, 1]))), [0, 1]);
        assert_eq!(classes.elected(&[0.0], &classes.ranks(&classes.order_of([0, 1].into_iter()))), 1);
        assert_eq!(classes.elected(&[0.0], &classes.ranks(&classes.order_of([1, 0].into_iter()))), 0);
        // +1 comes first for any order of rows.
        let signs = classes_of(&[1.0, -1.0]);
        assert_eq!(signs.elected(&[0.0], &signs.ranks(&signs.order_of([1, 0].into_iter()))), 1);
    }

    #[test]
    fn labels_that_do_not_fit_are_refused_with_their_row() {
        assert_eq!(classes_of(&[2_147_483_647.0, -2_147_483_648.0, 2_147_483_647.9]).labels, [i32::MAX, i32::MIN]);
        for label in [2_147_483_648.0, -2_147_483_649.0, 3e9, -1e300] {
            assert_eq!(Classes::new(&[1.0, 2.0, label]), Err(LabelError::Wide { row: 2, label }), "{label}");
        }
        let said = Classes::new(&[1.0, 3e9]).expect_err("too great").to_string();
        assert!(said.starts_with("row 2: the class label 3000000000 does not fit 32 bits"), "{said}");
    }
}
