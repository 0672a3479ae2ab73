//! What a cross-validation reports.

use maxmargin_core::{Audit, Certificate, Dual, Solution, Status};
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
    /// Breakpoints of the exact path that the start came from, where it did.
    pub breakpoints: u64,
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

impl FoldReport {
    /// What a judged solution says of its fold, with the numbers of samples tested and right; seeds and times are the caller's.
    pub(crate) fn of(fold: usize, dual: &Dual, solution: &Solution, audit: &Audit, (test, correct): (usize, usize)) -> Self {
        let (support_vectors, bounded) = counts(dual, &solution.alpha);
        Self {
            fold,
            train: dual.len(),
            test,
            status: solution.status,
            iterations: solution.work.iterations,
            rows_computed: solution.work.rows_computed,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            correct,
            objective: -audit.certificate.dual,
            support_vectors,
            bounded,
            certificate: audit.certificate.into(),
        }
    }
}

/// Samples with α > 0 and with α = C.
pub(crate) fn counts(dual: &Dual, alpha: &[f64]) -> (usize, usize) {
    let bounded = alpha.iter().zip(dual.upper()).filter(|(a, u)| **a > 0.0 && a >= u).count();
    (alpha.iter().filter(|a| **a > 0.0).count(), bounded)
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
    /// Time that solvers waited for kernel rows, summed over solvers that ran side by side; it is part of the time to solve.
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
    /// Nothing done yet for this many samples.
    pub(crate) fn empty(samples: usize) -> Self {
        Self {
            folds: Vec::new(),
            full: None,
            accuracy: 0.0,
            correct: 0,
            iterations: 0,
            seed_steps: 0,
            total_iterations: 0,
            kernel_seconds: 0.0,
            certify_seconds: 0.0,
            total_seconds: 0.0,
            rows_computed: 0,
            kernel_bytes: 0,
            decisions: vec![0.0; samples],
        }
    }

    /// The worst status of all trainings.
    pub fn status(&self) -> Status {
        let all = self.folds.iter().map(|f| f.status).chain(self.full.iter().map(|f| f.status));
        all.reduce(Status::worse).unwrap_or(Status::Converged)
    }
}
