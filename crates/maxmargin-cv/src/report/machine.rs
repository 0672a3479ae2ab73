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
            train: samples.iter().filter(|sample| sample.takes_part()).count(),
            status: solution.status,
            iterations: solution.work.iterations,
            rows_computed: solution.work.rows_computed,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            objective: -certificate.dual,
            bias: solution.bias,
            support_vectors: samples.iter().filter(|sample| sample.coef != 0.0).count(),
            bounded: samples.iter().filter(|sample| sample.is_bounded()).count(),
            certificate: CertificateReport::new(certificate, holds),
        }
    }
}

/// The number of samples whose coefficient is at its bound.
pub(crate) fn bounded_of(dual: &Dual, alpha: &[f64]) -> usize {
    samples_of(dual, alpha).iter().filter(|sample| sample.is_bounded()).count()
}

/// The coefficient of a sample, in regression the difference of two variables, and its bounds.
#[derive(Clone, Copy, Default)]
struct SampleBox {
    coef: f64,
    /// The bound of positive and that of negative coefficients, which differ for a quantile; 0
    /// where the sample has no variable of that sign.
    bounds: [f64; 2],
}

impl SampleBox {
    fn takes_part(self) -> bool {
        self.bounds.iter().any(|bound| *bound > 0.0)
    }

    fn is_bounded(self) -> bool {
        self.coef != 0.0 && self.coef.abs() >= self.bounds[usize::from(self.coef < 0.0)]
    }
}

/// The box of each sample.
fn samples_of(dual: &Dual, alpha: &[f64]) -> Vec<SampleBox> {
    let mut samples = vec![SampleBox::default(); dual.ids().iter().max().map_or(0, |id| id + 1)];
    for (k, &id) in dual.ids().iter().enumerate() {
        samples[id].coef += dual.sign()[k] * alpha[k];
        let bound = &mut samples[id].bounds[usize::from(dual.sign()[k] < 0.0)];
        *bound = bound.max(dual.upper()[k]);
    }
    samples
}
