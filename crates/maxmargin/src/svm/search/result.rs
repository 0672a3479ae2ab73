//! The outcome of a search.

use super::cell::Cell;
use super::descent::Descent;
use super::select::best;
use maxmargin_cv::CvError;
use maxmargin_metrics::Metric;

/// The result of a search: its cells, and the combinations that failed.
#[derive(Debug)]
pub struct SearchResult<T> {
    /// The cells in the order of kernels, then γ, then ε or ν, then C. Searches that choose cells
    /// themselves have γ and C ascending. Cells that an ended run did not reach are missing.
    pub cells: Vec<Cell<T>>,
    /// The combinations (all parameters except C) that are not valid problems, with the error: for
    /// example a kernel whose values are not finite.
    pub failed: Vec<Cell<CvError>>,
    /// The number of planned cells, without those that failed.
    pub planned: usize,
    /// The number of solver iterations beyond those of the cells: of trainings that were repeated
    /// to the requested goal or with more samples, and of a descent.
    pub repeated_iterations: u64,
    /// The descent from the best cell, if it was requested and finished.
    pub descent: Option<Descent>,
}

impl<T> SearchResult<T> {
    pub(super) fn nothing() -> Self {
        Self { cells: Vec::new(), failed: Vec::new(), planned: 0, repeated_iterations: 0, descent: None }
    }

    pub(super) fn take(&mut self, other: Self) {
        self.cells.extend(other.cells);
        self.failed.extend(other.failed);
        self.planned += other.planned;
        self.repeated_iterations += other.repeated_iterations;
    }

    /// Returns true if the search was ended early.
    pub(crate) fn is_cut(&self) -> bool {
        self.cells.len() < self.planned || self.cells.iter().any(|cell| cell.score.ended)
    }

    /// Returns the index of the cell that the search selects: the cell of a descent if that is a
    /// candidate, otherwise the best cell.
    pub fn best_cell(&self, metric: &Metric) -> Option<usize> {
        let descended = self.descent.as_ref().map(|descent| descent.at);
        descended.filter(|&at| self.cells[at].score.is_candidate()).or_else(|| best(&self.cells, metric))
    }
}
