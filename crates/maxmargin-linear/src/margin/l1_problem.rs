//! A problem with the L1 norm over a column store.

use crate::margin::evaluate::Targets;
use crate::margin::store::ColumnStore;
use maxmargin_data::Par;

/// The point of the iteration.
pub(crate) struct LassoPoint {
    pub(crate) w: Vec<f64>,
    /// `y_i w·x_i`.
    pub(crate) z: Vec<f64>,
    pub(crate) alpha: Vec<f64>,
}

/// A problem over a column store.
pub(crate) struct L1Problem<'r> {
    pub(crate) store: &'r ColumnStore,
    pub(crate) targets: Targets,
    /// The column that the penalty leaves out.
    pub(crate) free: Option<usize>,
    pub(crate) par: Par,
}

/// Returns the violation of the optimality conditions of a weight: `u` in the subdifferential of
/// `|w|`.
#[inline]
pub(crate) fn violation_of(w: f64, u: f64, free: bool) -> f64 {
    if free {
        u.abs()
    } else if w == 0.0 {
        (u.abs() - 1.0).max(0.0)
    } else {
        (u - w.signum()).abs()
    }
}
