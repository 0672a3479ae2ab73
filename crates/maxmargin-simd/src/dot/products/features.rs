//! The features of panels, checked once and not in every product.

use std::ops::Range;

/// Some features of samples, ascending, and a number that is above all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features<'a> {
    list: &'a [u32],
    end: usize,
}

impl<'a> Features<'a> {
    /// The features of `list`.
    ///
    /// # Panics
    ///
    /// When the list is not ascending.
    pub fn new(list: &'a [u32]) -> Self {
        assert!(list.is_sorted_by(|one, next| one < next), "features are ascending");
        Self { list, end: list.last().map_or(0, |&last| last as usize + 1) }
    }

    /// The features.
    #[inline(always)]
    pub fn list(self) -> &'a [u32] {
        self.list
    }

    /// A number that is above every feature.
    #[inline(always)]
    pub fn end(self) -> usize {
        self.end
    }
}

/// The features of several panels, one list after the other.
#[derive(Clone, Debug)]
pub struct PanelFeatures {
    /// All features are below this number.
    depth: usize,
    /// The lists, each ascending.
    features: Vec<u32>,
    /// The position in `features` at which each list begins, and the end of the last one.
    begins: Vec<usize>,
}

impl PanelFeatures {
    /// No list, for samples with `depth` features.
    pub fn new(depth: usize) -> Self {
        Self { depth, features: Vec::new(), begins: vec![0] }
    }

    /// Appends a list.
    ///
    /// # Panics
    ///
    /// When the features are not ascending, or one is not below the depth.
    pub fn push(&mut self, list: impl Iterator<Item = u32>) {
        // Features of a list that was refused before are checked again.
        let begin = self.begins.last().copied().unwrap_or(0);
        self.features.extend(list);
        let end = Features::new(&self.features[begin..]).end();
        assert!(end <= self.depth, "feature {end} of {}", self.depth);
        self.begins.push(self.features.len());
    }

    /// Appends the lists of `other`.
    ///
    /// # Panics
    ///
    /// When its samples have more features.
    pub fn append(&mut self, other: &Self) {
        assert!(other.depth <= self.depth, "features below {} of {}", other.depth, self.depth);
        let before = self.begins.last().copied().unwrap_or(0);
        self.features.truncate(before);
        self.features.extend_from_slice(&other.features);
        self.begins.extend(other.begins[1..].iter().map(|begin| before + begin));
    }

    /// Number of features of the samples.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of lists.
    pub fn lists(&self) -> usize {
        self.begins.len() - 1
    }

    /// Number of features in all lists.
    pub fn total(&self) -> usize {
        self.features.len()
    }

    /// The place of list `p` among the features of all lists.
    pub fn range(&self, p: usize) -> Range<usize> {
        self.begins[p]..self.begins[p + 1]
    }

    /// List `p`.
    pub fn of(&self, p: usize) -> Features<'_> {
        Features { list: &self.features[self.range(p)], end: self.depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Products read rows at the features of a list without a check: a list that was refused must
    /// not become a part of the next one.
    #[test]
    fn refused_lists_are_refused_again() {
        let mut lists = PanelFeatures::new(4);
        lists.push([0, 3].into_iter());
        for bad in [vec![2, 4], vec![2, 1], vec![1, 1]] {
            let mut tried = lists.clone();
            let push =
                |tried: &mut PanelFeatures, list: &[u32]| catch_unwind(AssertUnwindSafe(|| tried.push(list.iter().copied())));
            assert!(push(&mut tried, &bad).is_err() && push(&mut tried, &[0]).is_err(), "{bad:?}");
            assert_eq!((tried.lists(), tried.of(0).list()), (1, &[0, 3][..]));
        }
        lists.append(&lists.clone());
        assert_eq!((lists.lists(), lists.range(1), lists.of(1).list(), lists.of(1).end()), (2, 2..4, &[0, 3][..], 4));
    }
}
