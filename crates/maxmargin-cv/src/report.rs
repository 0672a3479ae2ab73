//! What a cross-validation reports.

use maxmargin_core::{Certificate, Status};
use serde::Serialize;

/// A certificate as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CertificateReport {
    /// Primal objective.
    pub primal: f64,
    /// Dual objective.
    pub dual: f64,
    /// `(primal − dual) / max(|primal|, |dual|)`.
    pub relative_gap: f64,
    /// Largest KKT violation.
    pub kkt: f64,
}

impl From<Certificate> for CertificateReport {
    fn from(c: Certificate) -> Self {
        Self { primal: c.primal, dual: c.dual, relative_gap: c.relative_gap(), kkt: c.kkt }
    }
}

/// One fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldReport {
    /// Number of the fold, from 0.
    pub fold: usize,
    /// Training samples.
    pub train: usize,
    /// Test samples.
    pub test: usize,
    /// How the training ended.
    pub status: Status,
    /// SMO iterations from the seed to the tolerance.
    pub iterations: u64,
    /// Kernel rows that this fold was the first to need (which of two parallel folds is first may vary).
    pub rows_computed: u64,
    /// Kernel rows read to find the start, each about half of an iteration.
    pub seed_steps: u64,
    /// Time to find the start.
    pub seed_seconds: f64,
    /// Time to solve from the start.
    pub solve_seconds: f64,
    /// Test samples classified correctly.
    pub correct: usize,
    /// LIBSVM's `obj`: `½ αᵀQα − Σα`.
    pub objective: f64,
    /// Training samples with α > 0.
    pub support_vectors: usize,
    /// Training samples with α = C.
    pub bounded: usize,
    /// Exact judgement of the solution.
    pub certificate: CertificateReport,
}

/// The model of all data, where the seeding trained one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FullReport {
    /// How the training ended.
    pub status: Status,
    /// SMO iterations.
    pub iterations: u64,
    /// Kernel rows computed for it.
    pub rows_computed: u64,
    /// Time to solve.
    pub solve_seconds: f64,
    /// LIBSVM's `obj`.
    pub objective: f64,
    /// Exact judgement of the solution.
    pub certificate: CertificateReport,
    /// α of every sample, in the order of the data.
    #[serde(skip)]
    pub alpha: Vec<f64>,
    /// The bias.
    pub bias: f64,
}

/// A whole cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CvReport {
    /// The folds, in order.
    pub folds: Vec<FoldReport>,
    /// The model of all data, where the seeding trained one.
    pub full: Option<FullReport>,
    /// Fraction of samples classified correctly by the model that did not see them.
    pub accuracy: f64,
    /// Samples classified correctly.
    pub correct: usize,
    /// SMO iterations of all folds.
    pub iterations: u64,
    /// Kernel rows that the seeds read, each about half of an iteration.
    pub seed_steps: u64,
    /// Iterations of all folds and of the model of all data.
    pub total_iterations: u64,
    /// Time in whole-matrix kernel work (rows computed on demand count as solving).
    pub kernel_seconds: f64,
    /// Time in certificates.
    pub certify_seconds: f64,
    /// Whole time of the engine.
    pub total_seconds: f64,
    /// Kernel rows computed, of `n`.
    pub rows_computed: u64,
    /// Most bytes of kernel rows held.
    pub kernel_bytes: u64,
    /// Exact decision value of every sample by the model that did not see it, in the order of the data.
    #[serde(skip)]
    pub decisions: Vec<f64>,
}

impl CvReport {
    /// The worst status of all trainings.
    pub fn status(&self) -> Status {
        let all = self.folds.iter().map(|f| f.status).chain(self.full.iter().map(|f| f.status));
        all.reduce(worse).unwrap_or(Status::Converged)
    }
}

/// The less favourable of two statuses.
pub(crate) fn worse(a: Status, b: Status) -> Status {
    let rank = |s: Status| match s {
        Status::Converged => 0,
        Status::Stalled => 1,
        Status::IterationLimit => 2,
        Status::TimeLimit => 3,
        Status::Interrupted => 4,
    };
    if rank(b) > rank(a) { b } else { a }
}
