//! What came of the folds of one machine, as it grows.

use crate::folds::trainer::{Task, Trainer};
use crate::report::MachineReport;
use crate::study::layout::HeldOut;
use maxmargin_core::{Decision, EqualityConstraint, Solved, Status, gap_screening};
use std::sync::Arc;

/// A trained machine of one fold, or of all data.
#[derive(Clone, Debug)]
pub(crate) struct CertifiedMachine {
    pub(crate) report: MachineReport,
    /// Over rows of the machine's space; nothing where nobody will ask it.
    pub(crate) decision: Arc<Decision>,
}

/// The machine of all data and what it says of every sample.
#[derive(Clone, Debug)]
pub(crate) struct AllDataMachine {
    pub(crate) judged: CertifiedMachine,
    /// One for each variable.
    pub(crate) alpha: Vec<f64>,
    /// Exact decision value of every row.
    decisions: Vec<f64>,
}

/// The machines of all folds, and exact decision values of test samples.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Nothing where the machine of all data is that of the fold (none of its support vectors is
    /// tested there), or the fold has none.
    pub(crate) folds: Vec<Option<Box<CertifiedMachine>>>,
    /// Folds whose training sets lack one of the two sides: they have no such machine.
    pub(crate) lacking: Vec<bool>,
    /// Of every row by the machine that did not see it, one round of folds after the other; not a
    /// number where no fold of the round tests it.
    pub(crate) decisions: Vec<f64>,
    pub(crate) full: Option<AllDataMachine>,
    pub(crate) counts: Vec<(&'static str, u64)>,
    pub(crate) certify_seconds: f64,
    /// Whether it was given up, since too many errors were made in folds that were done.
    pub(crate) lost: bool,
}

impl Outcome {
    /// Nothing yet.
    pub(crate) fn new(folds: &[HeldOut], lacking: Vec<bool>, rows: usize) -> Self {
        let rounds = folds.last().map_or(0, |last| last.round + 1);
        Self {
            folds: vec![None; folds.len()],
            lacking,
            decisions: vec![f64::NAN; rounds * rows],
            full: None,
            counts: Vec::new(),
            certify_seconds: 0.0,
            lost: false,
        }
    }

    /// Whether nothing is left to be trained for fold `h`.
    pub(crate) fn has(&self, h: usize) -> bool {
        self.folds[h].is_some() || self.lacking[h]
    }

    /// Whether the machine of all data is that of fold `h`.
    pub(crate) fn is_shared(&self, h: usize) -> bool {
        !self.has(h)
    }

    /// Takes a judged training: of a fold, or of all data.
    pub(crate) fn add(&mut self, trainer: &Trainer, task: &Task) {
        let audit = task.audit.as_ref().expect("judged before it is reported");
        let scale = trainer.problem.scale(&task.dual, &task.solution.alpha, &task.solution.gradient);
        let decision = if trainer.keep { trainer.problem.decision(&task.dual, &task.solution) } else { Decision::default() };
        let decision = Arc::new(decision);
        let held = trainer.stop.goal.met(&audit.certificate);
        let report = MachineReport {
            bias: scale * task.solution.bias,
            seed_steps: task.seed_steps,
            breakpoints: task.breakpoints,
            seed_seconds: task.seed_seconds,
            solve_seconds: task.solve_seconds,
            ..MachineReport::of(&task.dual, &task.solution, &audit.certificate, held)
        };
        let proved = gap_screening(&task.dual, trainer.space, &task.solution.alpha, &audit.gradient);
        let certificate = report.certificate.with_certain(proved.as_ref());
        let report = MachineReport { certificate, ..report };
        Solved::add_counts(&mut self.counts, &task.counts);
        // Without a balance the bias is part of the sums.
        let bias = if task.dual.balance() == EqualityConstraint::Free { 0.0 } else { task.solution.bias };
        let judged = CertifiedMachine { report, decision };
        if let Some(fold) = task.fold {
            let held = &trainer.folds[fold];
            let of_round = &mut self.decisions[held.round * audit.sums.len()..];
            held.test.iter().for_each(|&i| of_round[i] = scale * (audit.sums[i] + bias));
            self.folds[fold] = Some(Box::new(judged));
        } else {
            let decisions = audit.sums.iter().map(|sum| scale * (sum + bias)).collect();
            self.full = Some(AllDataMachine { judged, alpha: task.solution.alpha.clone(), decisions });
        }
    }

    /// The machine of fold `h`, where it has one.
    pub(crate) fn judged(&self, h: usize) -> Option<&CertifiedMachine> {
        let full = || &self.full.as_ref().expect("folds without a training have the machine of all data").judged;
        (!self.lacking[h]).then(|| self.folds[h].as_deref().unwrap_or_else(full))
    }

    /// Whether every fold has a solution that met its goal.
    pub(crate) fn converged(&self) -> bool {
        let mut all = self.folds.iter().flatten().map(|judged| judged.report.status);
        let full = self.full.as_ref().map(|full| full.judged.report.status);
        !self.lost && all.all(|status| status == Status::Converged) && full.is_none_or(|status| status == Status::Converged)
    }

    /// Gives the reports the place of their machine.
    pub(crate) fn number(&mut self, machine: usize) {
        self.folds.iter_mut().flatten().for_each(|judged| judged.report.machine = machine);
        self.full.iter_mut().for_each(|full| full.judged.report.machine = machine);
    }

    /// Fills in what the machine of all data says of samples whose fold it serves.
    pub(crate) fn complete(&mut self, trainer: &Trainer) {
        let Some(full) = self.full.as_ref().filter(|_| !self.lost) else { return };
        let rows = full.decisions.len();
        for (_, held) in trainer.folds.iter().enumerate().filter(|(h, _)| self.folds[*h].is_none() && !self.lacking[*h]) {
            held.test.iter().for_each(|&i| self.decisions[held.round * rows + i] = full.decisions[i]);
        }
    }
}
