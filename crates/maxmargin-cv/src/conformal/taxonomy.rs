//! The categories of rows of which each has the promise by itself.

/// The rows that a promise is for: all together, those of each class, those of each group, or those
/// of each class in each group. Scores are compared within one category (Mondrian).
#[derive(Clone, Copy, Debug)]
pub(super) struct Taxonomy {
    by_group: bool,
    /// The number of classes that have the promise by themselves; 1 if they have it together.
    classes: usize,
}

impl Taxonomy {
    /// Returns the taxonomy by groups if `by_group`, and by these classes if there are any.
    pub(super) fn new(by_group: bool, classes: Option<usize>) -> Self {
        Self { by_group, classes: classes.unwrap_or(1).max(1) }
    }

    /// The category of a row of this group that may be of this class.
    pub(super) fn category(self, group: u32, class: usize) -> usize {
        let group = if self.by_group { group as usize } else { 0 };
        group * self.classes + if self.classes > 1 { class } else { 0 }
    }

    /// The category of each row, by its group and its class; empty lists stand for one group or one
    /// class. `None` if all rows are together.
    pub(super) fn categories(self, group: &[u32], class: &[u32]) -> Option<Vec<u32>> {
        let rows = if self.by_group { group.len() } else { class.len() };
        let at = |of: &[u32], row: usize| of.get(row).copied().unwrap_or(0);
        let category = |row: usize| self.category(at(group, row), at(class, row) as usize) as u32;
        (self.by_group || self.classes > 1).then(|| (0..rows).map(category).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_pairs_of_what_has_the_promise() {
        let (group, class) = ([0, 1, 1], [2, 0, 1]);
        let of = |by_group, classes| Taxonomy::new(by_group, classes).categories(&group, &class);
        assert_eq!(of(false, None), None);
        assert_eq!(of(true, None), Some(vec![0, 1, 1]));
        assert_eq!(of(false, Some(3)), Some(vec![2, 0, 1]));
        assert_eq!(of(true, Some(3)), Some(vec![2, 3, 4]));
        // A regression has no classes.
        assert_eq!(Taxonomy::new(true, None).categories(&group, &[]), Some(vec![0, 1, 1]));
    }
}
