//! The reports of folds, and of the machines of all data.

use super::certificate::CertificateReport;
use super::machine::MachineReport;
use crate::plan::FoldPlan;
use maxmargin_core::Status;
use maxmargin_metrics::Score;
use serde::{Deserialize, Serialize};

/// The report of one fold: sums over its machines, and their worst certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldReport {
    /// Index of the fold, from 0.
    pub fold: usize,
    /// Round of the fold, from 0 ([`FoldPlan::round`]).
    pub round: usize,
    /// Number of training samples.
    pub train: usize,
    /// Number of test samples.
    pub test: usize,
    /// Labels of the classes without a sample in the training set. The fold cannot predict them.
    pub missing_classes: Vec<f64>,
    /// True if every machine of the fold is a solution ([`MachineReport::is_solution`]), so that
    /// its predictions count.
    #[serde(skip)]
    pub solved: bool,
    /// Number of test samples predicted correctly; `None` if the fold has no solution, or does not
    /// predict labels.
    pub correct: Option<usize>,
    /// The scores of the test samples, by name; NaN if the fold has no solution.
    #[serde(skip)]
    pub scores: Vec<Score>,
    /// The worst status of the machines.
    pub status: Status,
    /// Solver iterations from the seeds to the goal.
    pub iterations: u64,
    /// Kernel rows that this fold computed.
    pub rows_computed: u64,
    /// Kernel rows read to find the starts.
    pub seed_steps: u64,
    /// Breakpoints of the exact paths that led to the starts.
    pub breakpoints: u64,
    /// Seconds to find the starts.
    pub seed_seconds: f64,
    /// Seconds to solve from the starts.
    pub solve_seconds: f64,
    /// Sum of the objectives.
    pub objective: f64,
    /// Number of different training samples with α > 0 in some machine.
    pub support_vectors: usize,
    /// Number of α = C, summed over the machines.
    pub bounded: usize,
    /// The worst certificate of the machines ([`CertificateReport::worse`]).
    pub certificate: CertificateReport,
    /// The machines that were trained for this fold. Its other machines are those of all data.
    #[serde(skip)]
    pub machines: Vec<MachineReport>,
}

impl FoldReport {
    /// The report of a fold. `machines` decide in the fold, `own` were trained for it. The caller
    /// fills in the fields on predictions and the number of support vectors.
    pub(crate) fn of<'m>(
        plan: &FoldPlan,
        fold: usize,
        machines: impl Iterator<Item = &'m MachineReport> + Clone,
        own: Vec<MachineReport>,
    ) -> Self {
        Self {
            fold,
            round: plan.round(fold),
            train: plan.trained(fold),
            test: plan.test(fold).len(),
            missing_classes: Vec::new(),
            solved: false,
            correct: None,
            scores: Vec::new(),
            status: machines.clone().map(|m| m.status).reduce(Status::worse).unwrap_or(Status::Converged),
            iterations: own.iter().map(|m| m.iterations).sum(),
            rows_computed: own.iter().map(|m| m.rows_computed).sum(),
            seed_steps: own.iter().map(|m| m.seed_steps).sum(),
            breakpoints: own.iter().map(|m| m.breakpoints).sum(),
            seed_seconds: own.iter().map(|m| m.seed_seconds).fold(0.0, std::ops::Add::add),
            solve_seconds: own.iter().map(|m| m.solve_seconds).fold(0.0, std::ops::Add::add),
            objective: machines.clone().map(|m| m.objective).fold(0.0, std::ops::Add::add),
            support_vectors: 0,
            bounded: machines.clone().map(|m| m.bounded).sum(),
            certificate: machines
                .map(|m| m.certificate)
                .reduce(CertificateReport::worse)
                .unwrap_or(CertificateReport::NO_MACHINE),
            machines: own,
        }
    }

    /// Fraction of the test samples predicted correctly; `None` if the fold has no solution.
    pub fn accuracy(&self) -> Option<f64> {
        self.correct.map(|correct| correct as f64 / self.test as f64)
    }
}

/// A class without a sample in the training sets of some folds. These folds cannot predict it, and
/// its samples there count as errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingClass {
    /// The label of the class.
    pub label: f64,
    /// The folds, ascending.
    pub folds: Vec<usize>,
}

impl MissingClass {
    /// The classes that some folds lack, with these folds, ascending by label.
    pub fn of<'a>(folds: impl Iterator<Item = (usize, &'a [f64])>) -> Vec<Self> {
        let mut classes: Vec<Self> = Vec::new();
        for (fold, label) in folds.flat_map(|(fold, labels)| labels.iter().map(move |label| (fold, *label))) {
            match classes.iter_mut().find(|known| known.label == label) {
                Some(known) => known.folds.push(fold),
                None => classes.push(Self { label, folds: vec![fold] }),
            }
        }
        classes.sort_by(|a, b| a.label.total_cmp(&b.label));
        classes
    }
}

/// The report of the machines of all data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullReport {
    /// The worst status.
    pub status: Status,
    /// Solver iterations.
    pub iterations: u64,
    /// Kernel rows computed for these machines.
    pub rows_computed: u64,
    /// Seconds to solve.
    pub solve_seconds: f64,
    /// Sum of the objectives.
    pub objective: f64,
    /// The worst certificate of the machines ([`CertificateReport::worse`]).
    pub certificate: CertificateReport,
    /// A report for each machine.
    #[serde(skip)]
    pub machines: Vec<MachineReport>,
}
