//! One combination of a search and its score.

use crate::Svm;

/// One combination of parameters in a search, with its score and result.
#[derive(Clone, Debug)]
pub struct Cell<T> {
    /// The estimator with the parameters of this cell. Its [`Svm::fit`] trains on all data.
    pub svm: Svm,
    /// The score by the metric of the search.
    pub score: CellScore,
    /// The report of the cross-validation, or the value that a callback made of it.
    pub result: T,
}

/// The score of a cell by the metric of its search, and the state of its trainings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CellScore {
    /// The score of all counted samples; `None` if it is undefined or the cell was pruned.
    pub value: Option<f64>,
    /// The standard error of the mean score of the folds; `None` for fewer than two scores.
    pub standard_error: Option<f64>,
    /// True if every training met its goal.
    pub converged: bool,
    /// True if a limit or the caller ended a training.
    pub ended: bool,
    /// True if the goal is the requested one, not the looser one of
    /// [`Search::fast`](super::options::Search::fast).
    pub exact: bool,
    /// The number of errors at which the cell was pruned, because it could not be the best any
    /// more.
    pub pruned: Option<usize>,
    /// The number of errors among all counted samples, for classification.
    pub errors: Option<usize>,
    /// The number of solver iterations of all trainings of the cell.
    pub iterations: u64,
}

impl CellScore {
    /// Returns true if the cell can be chosen.
    pub fn is_candidate(&self) -> bool {
        self.converged && self.exact && self.pruned.is_none() && self.value.is_some()
    }
}

impl<T> Cell<T> {
    /// Returns a text that is equal for cells with equal parameters, for any goal.
    pub(super) fn identity(&self) -> String {
        let svm = &self.svm;
        format!("{:?} {:?} {:?} {:?}", svm.kernel_given(), svm.options.gamma, svm.formulation(), svm.options.feature_weights)
    }
}
