//! Labels of any number of classes.

use super::labels::{BinaryLabels, LabelError};

/// Labels of two or more classes: the labels in ascending order, and the class of each row as an
/// index of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassLabels {
    labels: Vec<f64>,
    of: Vec<u32>,
    sizes: Vec<usize>,
}

impl ClassLabels {
    /// Finds the classes in `labels`, which may be any finite numbers.
    ///
    /// # Errors
    ///
    /// When there are no rows, or only one class.
    pub fn new(labels: &[f64]) -> Result<Self, LabelError> {
        let mut classes: Vec<f64> = labels.iter().map(|l| l + 0.0).collect(); // −0 is 0
        classes.sort_by(f64::total_cmp);
        classes.dedup();
        match classes[..] {
            [] => return Err(LabelError::Empty),
            [label] => return Err(LabelError::OneClass { rows: labels.len(), label }),
            _ => {}
        }
        let place = |label: f64| classes.partition_point(|c| *c < label) as u32;
        let of: Vec<u32> = labels.iter().map(|&label| place(label)).collect();
        let mut sizes = vec![0; classes.len()];
        of.iter().for_each(|&class| sizes[class as usize] += 1);
        Ok(Self { labels: classes, of, sizes })
    }

    /// The labels of the rows `rows[0], rows[1], …`, with the classes that remain.
    ///
    /// ```
    /// use maxmargin_data::ClassLabels;
    ///
    /// let all = ClassLabels::new(&[3.0, 1.0, 2.0, 3.0])?;
    /// let some = all.subset(&[3, 1])?;
    /// assert_eq!((some.labels(), some.of()), (&[1.0, 3.0][..], &[1, 0][..]));
    /// assert!(all.subset(&[0, 3]).is_err());
    /// # Ok::<(), maxmargin_data::LabelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When no rows are left, or only one class.
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn subset(&self, rows: &[usize]) -> Result<Self, LabelError> {
        let labels: Vec<f64> = rows.iter().map(|&row| self.labels[self.of[row] as usize]).collect();
        Self::new(&labels)
    }

    /// Number of classes, at least 2.
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The labels, ascending.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// The class of each row.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Rows of each class, at least 1.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The labels as signs, if there are two classes.
    pub fn binary(&self) -> Option<BinaryLabels> {
        let [negative, positive] = self.labels[..] else { return None };
        let signs = self.of.iter().map(|class| if *class == 1 { 1.0 } else { -1.0 }).collect();
        Some(BinaryLabels { negative, positive, signs })
    }

    /// Number of pairs of classes.
    pub fn pairs(&self) -> usize {
        pairs(self.count()).count()
    }
}

/// The pairs of `classes` classes in the order of every one-versus-one model: (0, 1), (0, 2), …,
/// (1, 2), ….
pub fn pairs(classes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..classes).flat_map(move |a| (a + 1..classes).map(move |b| (a, b)))
}

/// The class with the most votes, the first of several. `decisions` has one value for each of
/// [`pairs`], and `(a, b)` votes for `b` at 0 and above (LIBSVM's voting).
///
/// # Panics
///
/// When the number of decision values differs from the number of pairs.
pub fn elected(classes: usize, decisions: &[f64]) -> usize {
    assert_eq!(decisions.len(), classes * (classes - 1) / 2, "decision values of {classes} classes");
    let mut votes = vec![0_u32; classes];
    let mut left = decisions;
    for a in 0..classes {
        let (own, later) = votes.split_at_mut(a + 1);
        let (of_pairs, rest) = left.split_at(later.len());
        let mut lost = 0;
        for (votes, &decision) in later.iter_mut().zip(of_pairs) {
            let is_later = u32::from(decision >= 0.0);
            *votes += is_later;
            lost += is_later;
        }
        own[a] += of_pairs.len() as u32 - lost;
        left = rest;
    }
    // `max_by_key` returns the last maximum, so the order is reversed.
    (0..classes).rev().max_by_key(|&class| votes[class]).unwrap_or(0)
}

/// The class with the most votes, with LIBSVM's rule for ties. `order` contains the classes in the
/// order of the labels of its model. A decision value of exactly 0 is a vote for the later class of
/// the pair in `order`. Among classes with equally many votes the first in `order` wins. Other
/// values count as in [`elected`].
///
/// # Panics
///
/// When `order` does not contain each class once, or the number of decision values differs from the
/// number of pairs.
pub fn elected_in_order(order: &[u32], decisions: &[f64]) -> usize {
    let classes = order.len();
    assert_eq!(decisions.len(), classes * (classes - 1) / 2, "decision values of {classes} classes");
    let mut places = vec![0; classes];
    order.iter().enumerate().for_each(|(place, &class)| places[class as usize] = place);
    let mut votes = vec![0_u32; classes];
    for ((a, b), &decision) in pairs(classes).zip(decisions) {
        let is_later = decision > 0.0 || (decision == 0.0 && places[b] > places[a]);
        votes[if is_later { b } else { a }] += 1;
    }
    greatest_in_order(order, &votes)
}

/// The class with the greatest of `values`, the first in `order` among equal ones.
///
/// # Panics
///
/// When `order` is empty or contains a class without a value.
pub fn greatest_in_order<T: PartialOrd>(order: &[u32], values: &[T]) -> usize {
    let better = |best: usize, &class: &u32| if values[class as usize] > values[best] { class as usize } else { best };
    order.iter().fold(order[0] as usize, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_ascend_whatever_the_order_of_the_rows() {
        let classes = ClassLabels::new(&[7.0, -1.5, 7.0, 0.0, -0.0]).expect("three classes");
        assert_eq!(classes.labels(), [-1.5, 0.0, 7.0]);
        assert_eq!(classes.of(), [2, 0, 2, 1, 1]);
        assert_eq!(classes.sizes(), [1, 2, 2]);
        assert_eq!((classes.count(), classes.pairs(), classes.binary()), (3, 3, None));
        assert_eq!(pairs(4).collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }

    #[test]
    fn the_earliest_of_equals_is_elected() {
        assert_eq!(elected(2, &[0.0]), 1);
        assert_eq!(elected(2, &[-1e-300]), 0);
        // (0,1) to 1, (0,2) to 0, (1,2) to 2: one vote each.
        assert_eq!(elected(3, &[1.0, -1.0, 1.0]), 0);
        assert_eq!(elected(3, &[1.0, 1.0, 1.0]), 2);
        assert_eq!(elected(3, &[1.0, 1.0, -1.0]), 1);
    }

    #[test]
    fn ties_go_by_the_order_of_labels() {
        for order in [[0, 1], [1, 0]] {
            assert_eq!(elected_in_order(&order, &[0.0]), order[1] as usize);
            assert_eq!([-1e-300, 1e-300].map(|decision| elected_in_order(&order, &[decision])), [0, 1]);
        }
        // (0,1) to 1, (0,2) to 0, (1,2) to 2: one vote each.
        assert_eq!(elected_in_order(&[0, 1, 2], &[1.0, -1.0, 1.0]), 0);
        assert_eq!(elected_in_order(&[2, 0, 1], &[1.0, -1.0, 1.0]), 2);
        // The last of the order wins both of its pairs by 0.
        assert_eq!(elected_in_order(&[1, 2, 0], &[0.0, 0.0, 1.0]), 0);
        assert_eq!(greatest_in_order(&[2, 0, 1], &[0.5, 0.5, 0.5]), 2);
        assert_eq!(greatest_in_order(&[2, 0, 1], &[0.25, 0.5, 0.25]), 1);
    }

    #[test]
    fn two_classes_are_signs() {
        let labels = [3.0, 1.0, 3.0];
        let two = ClassLabels::new(&labels).expect("two classes");
        assert_eq!(two.binary(), BinaryLabels::new(&labels).ok());
        assert_eq!(ClassLabels::new(&[]), Err(LabelError::Empty));
        assert_eq!(ClassLabels::new(&[2.0; 3]), Err(LabelError::OneClass { rows: 3, label: 2.0 }));
    }
}
