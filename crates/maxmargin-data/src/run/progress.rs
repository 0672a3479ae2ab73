//! Progress of a run.

use serde::Serialize;

/// The present activity of a run that has several parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Training on all data.
    #[default]
    Full,
    /// Training this fold.
    Fold(usize),
    /// Training this machine of several.
    Machine(usize),
    /// Computing certificates: everything is recomputed in `f64`.
    Certify {
        /// Samples that are done.
        certified: usize,
        /// All samples.
        samples: usize,
    },
}

/// A progress event: the counts of the solver that reports, and the part of the run that it works
/// on. Each [`RunControl::child`](super::RunControl::child) adds what it knows of the part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// The present activity.
    pub stage: Stage,
    /// Parts that are done: folds, machines if there are several, or cells of a search.
    pub done: usize,
    /// All parts.
    pub total: usize,
    /// The solver's iterations so far.
    pub iterations: u64,
    /// The present KKT violation (not monotone). For solvers over kernel rows whose goal is a gap
    /// only, it is the last relative gap. They compute that more often if the run is
    /// [traced](super::RunControl::traced).
    pub violation: f64,
    /// The bound to reach.
    pub tol: f64,
    /// True if `violation` and `tol` are relative gaps: no KKT violation is asked for.
    pub aims_at_gap: bool,
    /// The relative duality gap of the whole training problem when the solver last computed it.
    /// Solvers over kernel rows do so some times a second if there is an observer; not for kernel
    /// matrices that are not known to be positive semidefinite.
    pub gap: Option<f64>,
    /// The kernel rows that the row store has computed so far.
    pub rows_computed: u64,
    /// The kernel rows that a result would cost if the run ended now: those of the support vectors,
    /// for the certificate, and of changes since the gradient was complete. 0 if not counted; it is
    /// then at most `rows_computed`.
    pub owed: u64,
    /// The increase of the dual objective, from the gains of single steps. Linear solvers report it
    /// after every sweep; 0 if not counted.
    pub gained: f64,
}
