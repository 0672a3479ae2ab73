//! The report of one machine.

use super::certificate::CertificateReport;
use maxmargin_core::{Certificate, Dual, Solution, Status};
use serde::{Deserialize, Serialize};

/// The report of one machine of a training or of a fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineReport {
    /// The index of the machine.
    pub machine: usize,
    /// Number of training samples.
    pub train: usize,
    /// The status in which the training ended.
    pub status: Status,
    /// Solver iterations from the start to the goal.
    pub iterations: u64,
    /// Kernel rows that this training computed. Of two parallel trainings that need a row, either
    /// may compute it.
    pub rows_computed: u64,
    /// Kernel rows read to find the start. Each costs about half an iteration.
    pub seed_steps: u64,
    /// Breakpoints of the exact path that led to the start, if there was one.
    pub breakpoints: u64,
    /// Seconds to find the start.
    pub seed_seconds: f64,
    /// Seconds to solve from the start.
    pub solve_seconds: f64,
    /// LIBSVM's `obj`: `½ αᵀQα + linᵀα`.
    pub objective: f64,
    /// The bias.
    pub bias: f64,
    /// Training samples with α > 0.
    pub support_vectors: usize,
    /// Number of support vectors with α = C.
    pub bounded: usize,
    /// The certificate of the solution, from fresh `f64` kernel values.
    pub certificate: CertificateReport,
}

impl MachineReport {
    /// Returns true if predictions by this machine count: its training did not end early, or it met
    /// the goal all the same.
    pub fn is_solution(&self) -> bool {
        !self.status.ended_early() || self.certificate.holds
    }

    /// The report of a certified solution. The caller fills in the index, the seeds and the times.
    pub fn of(dual: &Dual, solution: &Solution, certificate: &Certificate, holds: bool) -> Self {
        let samples = samples_of(dual, &solution.alpha);
        Self {
            machine: 0,
            train: samples.iter().filter(|sample| sample.1 > 0.0).count(),
            status: solution.status,
            iterations: solution.work.iterations,
            rows_computed: solution.work.rows_computed,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            objective: -certificate.dual,
            bias: solution.bias,
            support_vectors: samples.iter().filter(|sample| sample.0 != 0.0).count(),
            bounded: bounded_of(dual, &solution.alpha),
            certificate: CertificateReport::new(certificate, holds),
        }
    }
}

/// The number of samples whose coefficient is at its bound.
pub(crate) fn bounded_of(dual: &Dual, alpha: &[f64]) -> usize {
    samples_of(dual, alpha).iter().filter(|(coef, bound)| *coef != 0.0 && coef.abs() >= *bound).count()
}

/// The coefficient of each sample and its bound. In regression it is the difference of two
/// variables.
fn samples_of(dual: &Dual, alpha: &[f64]) -> Vec<(f64, f64)> {
    let mut samples = vec![(0.0, 0.0_f64); dual.ids().iter().max().map_or(0, |id| id + 1)];
    for (k, &id) in dual.ids().iter().enumerate() {
        samples[id].0 += dual.sign()[k] * alpha[k];
        samples[id].1 = samples[id].1.max(dual.upper()[k]);
    }
    samples
}
