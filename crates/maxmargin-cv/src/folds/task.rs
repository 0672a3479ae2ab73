//! A training that has run: its problem, its solution so far, its certificate.

use maxmargin_core::{Audit, Decision, Dual, KeptSums, Solution};
use std::sync::Arc;

/// A training that has run.
#[derive(Debug)]
pub(crate) struct Task {
    /// The fold; `None` for the model of all data.
    pub(crate) fold: Option<usize>,
    /// The problem of all samples with the boxes of the fold.
    pub(crate) dual: Dual,
    /// α of each variable, 0 if its box is empty; the gradient is NaN there.
    pub(crate) solution: Solution,
    /// Set if the solver stopped by exact gradients. A continuation from exact gradients then gives
    /// it nothing new.
    pub(crate) exact: bool,
    pub(crate) counts: Vec<(&'static str, u64)>,
    pub(crate) audit: Option<Audit>,
    /// The kernel sums of its first solution, if that missed the goal: audits of the solutions
    /// after it are of points near it.
    pub(crate) first_sums: Option<KeptSums>,
    /// The decision, if it is that of an earlier value of C.
    pub(crate) decision: Option<Arc<Decision>>,
    /// Number of values of C since it was trained.
    pub(crate) age: usize,
    pub(crate) seed_steps: u64,
    pub(crate) breakpoints: u64,
    pub(crate) seed_seconds: f64,
    pub(crate) solve_seconds: f64,
}
