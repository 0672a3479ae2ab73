//! Decisions along a directed acyclic graph of pairs of classes (Platt, Cristianini and
//! Shawe-Taylor 2000): of the first and the last class that are left, the loser leaves.

use maxmargin::data::ClassLabels;

/// Returns the label of each sample, from the decision values of all pairs of classes.
pub(super) fn labels(values: &[f64], classes: &ClassLabels) -> Vec<f64> {
    let count = classes.count();
    values.chunks(count * (count - 1) / 2).map(|values| classes.labels()[class(values, count)]).collect()
}

/// Returns the class at the end of the path of one sample.
fn class(values: &[f64], count: usize) -> usize {
    let (mut first, mut last) = (0, count - 1);
    while first < last {
        // Pairs are in the order (0, 1), (0, 2), …, (1, 2), …
        let pair = first * (2 * count - first - 1) / 2 + last - first - 1;
        // A value of 0 and above is for the later class, as in votes.
        if values[pair] >= 0.0 {
            first += 1;
        } else {
            last -= 1;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    //! Paths by hand.

    use super::class;

    #[test]
    fn the_loser_of_the_outermost_pair_leaves() {
        // (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3).
        assert_eq!(class(&[-1.0; 6], 4), 0);
        assert_eq!(class(&[1.0; 6], 4), 3);
        // 0 loses to 3, 3 loses to 1, 1 loses to 2: that 0 beats 1 and 2 does not count.
        assert_eq!(class(&[-1.0, -1.0, 1.0, 1.0, -1.0, 1.0], 4), 2);
        assert_eq!(class(&[-0.5], 2), 0);
        assert_eq!(class(&[0.0], 2), 1);
    }
}
