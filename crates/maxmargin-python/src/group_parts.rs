//! The groups of samples that are predicted in parts.

use maxmargin::cv::ConformalProblem;
use std::cell::Cell;

/// The group of each sample, taken part by part.
pub(crate) struct GroupParts {
    groups: Option<Vec<String>>,
    /// The number of samples before the next part.
    taken: Cell<usize>,
}

impl GroupParts {
    /// Returns the groups of all samples.
    ///
    /// # Errors
    ///
    /// When there is another number of them.
    pub(crate) fn new(groups: Option<Vec<String>>, rows: usize) -> Result<Self, ConformalProblem> {
        match groups.as_ref().map(Vec::len).filter(|count| *count != rows) {
            Some(groups) => Err(ConformalProblem::GroupCount { groups, rows }),
            None => Ok(Self { groups, taken: Cell::new(0) }),
        }
    }

    /// Returns the groups of the next `rows` samples.
    pub(crate) fn next(&self, rows: usize) -> Option<&[String]> {
        let begin = self.taken.replace(self.taken.get() + rows);
        Some(&self.groups.as_ref()?[begin..begin + rows])
    }
}
