//! The results of the folds of one machine, collected while they are trained.

use crate::folds::carried::CarriedMachines;
use crate::folds::task::Task;
use crate::folds::trainer::Trainer;
use crate::report::MachineReport;
use crate::study::layout::HeldOut;
use maxmargin_core::{Decision, EqualityConstraint, Solved, Status, gap_screening};
use std::sync::Arc;

/// A certified machine of one fold, or of all data.
#[derive(Clone, Debug)]
pub(crate) struct CertifiedMachine {
    pub(crate) report: MachineReport,
    /// The decision over rows of the machine's space; empty if no other machine needs it.
    pub(crate) decision: Arc<Decision>,
}

/// The machine of all data, and its decision values of every sample.
#[derive(Clone, Debug)]
pub(crate) struct AllDataMachine {
    pub(crate) machine: CertifiedMachine,
    /// α of each variable.
    pub(crate) alpha: Vec<f64>,
    /// Exact decision value of every row.
    pub(crate) decisions: Vec<f64>,
}

/// The machines of all folds, and exact decision values of test samples.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The machine of each fold. `None` if the fold uses the machine of all data (it tests none of
    /// its support vectors), or has no machine.
    pub(crate) folds: Vec<Option<Box<CertifiedMachine>>>,
    /// Marks folds whose training set lacks one of the two sides. They have no such machine.
    pub(crate) lacking: Vec<bool>,
    /// Exact decision value of every row, from a machine that was not trained on it: one round of
    /// folds after the other. NaN if no fold of the round tests the row.
    pub(crate) decisions: Vec<f64>,
    /// For each fold that holds out one sample, the mean square change of the decision values of
    /// the others: 0 if the fold has the machine of all data, NaN if it is not known.
    pub(crate) moved: Vec<f64>,
    pub(crate) full: Option<AllDataMachine>,
    pub(crate) counts: Vec<(&'static str, u64)>,
    pub(crate) certify_seconds: f64,
    /// Set if the rest of the folds was skipped, since the folds so far made too many errors.
    pub(crate) pruned: bool,
    /// Machines for the next value of C, until that takes them.
    pub(crate) carried: CarriedMachines,
    /// [`CarriedMachines::values`] of them.
    pub(crate) carried_values: usize,
}

impl Outcome {
    /// An outcome without results.
    pub(crate) fn new(folds: &[HeldOut], lacking: Vec<bool>, rows: usize) -> Self {
        let rounds = folds.last().map_or(0, |last| last.round + 1);
        Self {
            folds: vec![None; folds.len()],
            lacking,
            decisions: vec![f64::NAN; rounds * rows],
            moved: vec![f64::NAN; folds.len()],
            full: None,
            counts: Vec::new(),
            certify_seconds: 0.0,
            pruned: false,
            carried: CarriedMachines::default(),
            carried_values: 0,
        }
    }

    /// Returns true if fold `h` needs no training any more.
    pub(crate) fn has(&self, h: usize) -> bool {
        self.folds[h].is_some() || self.lacking[h]
    }

    /// Returns true if fold `h` uses the machine of all data.
    pub(crate) fn is_shared(&self, h: usize) -> bool {
        !self.has(h)
    }

    /// Adds a certified training of a fold, or of all data.
    pub(crate) fn add(&mut self, trainer: &Trainer, mut task: Task) {
        let audit = task.audit.as_ref().expect("certified before it is added");
        let scale = trainer.problem.scale(&task.dual, &task.solution.alpha, &task.solution.gradient);
        let decision = task.decision.take().unwrap_or_else(|| {
            let kept = trainer.keep.then(|| trainer.problem.decision(&task.dual, &task.solution, trainer.space.matrix()));
            Arc::new(kept.unwrap_or_default())
        });
        let met = trainer.stop.goal.met(&audit.certificate);
        let report = MachineReport {
            bias: scale * task.solution.bias,
            seed_steps: task.seed_steps,
            breakpoints: task.breakpoints,
            seed_seconds: task.seed_seconds,
            solve_seconds: task.solve_seconds,
            ..MachineReport::of(&task.dual, &task.solution, &audit.certificate, met)
        };
        let screening = || gap_screening(&task.dual, audit.source(trainer.space), &task.solution.alpha, &audit.gradient);
        // The proof is about the sum over α, and not about weights of its own.
        let proved = (trainer.counts_fixed_labels && !audit.of_weights).then(screening).flatten();
        let certificate = report.certificate.with_fixed_labels(proved.as_ref());
        let report = MachineReport { certificate, ..report };
        Solved::add_counts(&mut self.counts, &task.counts);
        // Without an equality constraint the sums contain the bias.
        let bias = if task.dual.balance() == EqualityConstraint::Free { 0.0 } else { task.solution.bias };
        let machine = CertifiedMachine { report, decision: Arc::clone(&decision) };
        if let Some(fold) = task.fold {
            let held_out = &trainer.folds[fold];
            let of_round = &mut self.decisions[held_out.round * audit.sums.len()..];
            held_out.test.iter().for_each(|&i| of_round[i] = scale * (audit.sums[i] + bias));
            if let (Some(full), [out]) = (&self.full, &held_out.out[..]) {
                let decisions = audit.sums.iter().map(|sum| scale * (sum + bias));
                self.moved[fold] = mean_square_change(decisions, &full.decisions, *out);
            }
            self.folds[fold] = Some(Box::new(machine));
        } else {
            let decisions = audit.sums.iter().map(|sum| scale * (sum + bias)).collect();
            self.full = Some(AllDataMachine { machine, alpha: task.solution.alpha.clone(), decisions });
        }
        // Carried machines are certified by α alone.
        let is_of_alpha = task.solution.weights.is_none();
        if trainer.carries && met && is_of_alpha && CarriedMachines::fit(trainer.folds.len(), task.dual.len()) {
            task.decision = Some(decision);
            self.carried.keep(task);
        }
    }

    /// The machine that decides in fold `h`; `None` if the fold lacks one.
    pub(crate) fn machine(&self, h: usize) -> Option<&CertifiedMachine> {
        let full = || &self.full.as_ref().expect("folds without a training have the machine of all data").machine;
        (!self.lacking[h]).then(|| self.folds[h].as_deref().unwrap_or_else(full))
    }

    /// Returns true if every fold has a solution that met its goal.
    pub(crate) fn converged(&self) -> bool {
        let mut all = self.folds.iter().flatten().map(|machine| machine.report.status);
        let full = self.full.as_ref().map(|full| full.machine.report.status);
        !self.pruned && all.all(|status| status == Status::Converged) && full.is_none_or(|status| status == Status::Converged)
    }

    /// Writes the machine's index into the reports.
    pub(crate) fn number(&mut self, machine: usize) {
        self.folds.iter_mut().flatten().for_each(|fold| fold.report.machine = machine);
        self.full.iter_mut().for_each(|full| full.machine.report.machine = machine);
    }

    /// Fills in the decision values of the machine of all data for folds that use it.
    pub(crate) fn complete(&mut self, trainer: &Trainer) {
        let Some(full) = self.full.as_ref().filter(|_| !self.pruned) else { return };
        let rows = full.decisions.len();
        for (_, held_out) in trainer.folds.iter().enumerate().filter(|(h, _)| self.folds[*h].is_none() && !self.lacking[*h]) {
            held_out.test.iter().for_each(|&i| self.decisions[held_out.round * rows + i] = full.decisions[i]);
        }
        let shared = self.moved.iter_mut().zip(self.folds.iter().zip(&self.lacking));
        shared.filter(|(_, (machine, lacking))| machine.is_none() && !**lacking).for_each(|(moved, _)| *moved = 0.0);
    }
}

/// Returns the mean square of the differences between two lists of decision values, without the one
/// at `out`.
fn mean_square_change(decisions: impl Iterator<Item = f64>, before: &[f64], out: usize) -> f64 {
    let pairs = decisions.zip(before).enumerate().filter(|(i, _)| *i != out);
    let squares: f64 = pairs.map(|(_, (now, before))| (now - before).powi(2)).sum();
    squares / (before.len() - 1).max(1) as f64
}
