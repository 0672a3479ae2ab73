//! Assembles predictions and a report from the machines of all folds.

use crate::folds::decide::{Decisions, HeldOutDecisions};
use crate::folds::fold_classes::FoldClasses;
use crate::folds::outcome::{CertifiedMachine, Outcome};
use crate::plan::FoldPlan;
use crate::report::{CertificateReport, CvReport, FoldReport, FullReport, MachineReport, Scoring};
use crate::run::error::CvError;
use crate::study::layout::{HeldOut, MachineLayout};
use crate::study::space_source::SpaceSource;
use maxmargin_core::{Decision, Solved, Status};
use maxmargin_kernel::RowWork;
use maxmargin_model::Rule;

/// The inputs of a cross-validation's report that all values of C share.
pub(crate) struct ReportAssembly<'a> {
    /// The scores of predictions. Leave-one-out has as many folds as labels, and each needs the
    /// greatest label.
    pub(crate) scoring: Scoring<'a>,
    /// The decision rule over the machines of a fold.
    pub(crate) rule: Rule,
    /// The classes of each fold.
    pub(crate) classes: &'a FoldClasses,
    /// The labels of the data.
    pub(crate) labels: &'a [f64],
    /// Correct predictions can be counted.
    pub(crate) is_countable: bool,
    pub(crate) layout: &'a MachineLayout,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) decisions: HeldOutDecisions<'a>,
}

impl ReportAssembly<'_> {
    /// Assembles the report of all machines.
    ///
    /// # Errors
    ///
    /// When the run ended before the decision values were complete.
    pub(crate) fn assemble_report(
        &self,
        source: &SpaceSource,
        outcomes: &[Outcome],
        work: &[RowWork],
    ) -> Result<CvReport, CvError> {
        let held_out = self.layout.folds(self.plan);
        let by_fold = self.decisions.decides_by_fold(outcomes, held_out.len());
        let decisions =
            if by_fold { Decisions::default() } else { self.decisions.decision_values(source, outcomes, &held_out)? };
        let pruned = outcomes.iter().any(|outcome| outcome.pruned);
        let rows = self.layout.data_row.len();
        let mut predicted = vec![f64::NAN; self.plan.rounds() * rows];
        let mut leverage = vec![f64::NAN; predicted.len()];
        let mut counter = SampleCounter::new(rows);
        let mut folds = Vec::with_capacity(held_out.len());
        for (fold, held_out) in held_out.iter().enumerate() {
            if !pruned || outcomes.iter().all(|outcome| outcome.has(fold)) {
                let support_vectors = self.support_vectors(fold, outcomes, &mut counter);
                let values =
                    if by_fold { &self.decisions.values_of_fold(source, outcomes, fold, held_out)? } else { &decisions.values };
                let report = self.fold_report(fold, held_out, outcomes, TestValues { values, by_fold }, &mut predicted);
                folds.push(FoldReport { support_vectors, ..report });
                if let [only] = held_out.test[..] {
                    let moved: f64 = outcomes.iter().map(|outcome| outcome.moved[fold]).sum();
                    let place = held_out.round * rows + self.layout.data_row[only];
                    leverage[place] = (moved / outcomes.len() as f64).sqrt();
                }
            }
        }
        if leverage.iter().all(|of| of.is_nan()) {
            leverage.clear();
        }
        let values = self.decisions.values_of(decisions);
        let mut counts = Vec::new();
        outcomes.iter().for_each(|outcome| Solved::add_counts(&mut counts, &outcome.counts));
        let wrong = |fold: &FoldReport| fold.correct.map_or(0, |correct| fold.test - correct);
        let report = CvReport {
            pruned: pruned.then(|| folds.iter().map(wrong).sum()),
            folds,
            full: full_report(outcomes),
            counts,
            kernel_seconds: work.iter().map(|w| w.time.as_secs_f64()).sum(),
            certify_seconds: outcomes.iter().map(|outcome| outcome.certify_seconds).sum(),
            rows_computed: work.iter().map(|w| w.computed).sum(),
            kernel_bytes: work.iter().map(|w| w.peak_bytes).max().unwrap_or(0),
            decisions: self.in_data_order(values, outcomes.len(), &predicted),
            predicted,
            leverage,
            // The caller fills in C, the seeding and the total time.
            ..CvReport::empty(self.plan, outcomes.len())
        };
        Ok(report.summed(self.scoring.purpose, self.scoring.levels, self.labels))
    }

    /// The report of one fold without its support vectors. Writes the predicted labels of its test
    /// samples.
    fn fold_report(
        &self,
        fold: usize,
        held_out: &HeldOut,
        outcomes: &[Outcome],
        decisions: TestValues,
        predicted: &mut [f64],
    ) -> FoldReport {
        let HeldOut { test, round, .. } = held_out;
        let (width, before) = (outcomes.len(), round * self.layout.data_row.len());
        let row = |(k, at): (usize, &usize)| {
            let place = if decisions.by_fold { k } else { before + at };
            &decisions.values[place * width..(place + 1) * width]
        };
        let machines: Vec<&CertifiedMachine> = outcomes.iter().filter_map(|outcome| outcome.machine(fold)).collect();
        let solved = machines.iter().all(|machine| machine.report.is_solution());
        let own = outcomes.iter().filter_map(|outcome| outcome.folds[fold].as_ref().map(|own| own.report.clone())).collect();
        let truth: Vec<f64> = test.iter().map(|&at| self.labels[self.layout.data_row[at]]).collect();
        let label = |test| if solved { self.classes.label(fold, &self.rule, row(test)) } else { f64::NAN };
        let labels: Vec<f64> = test.iter().enumerate().map(label).collect();
        test.iter().zip(&labels).for_each(|(&at, &label)| predicted[before + self.layout.data_row[at]] = label);
        let read = if self.scoring.reads_decisions() { &test[..] } else { &[] };
        let of_test: Vec<f64> = read.iter().enumerate().flat_map(row).copied().collect();
        FoldReport {
            solved,
            correct: (solved && self.is_countable)
                .then(|| truth.iter().zip(&labels).filter(|(truth, label)| truth == label).count()),
            scores: self.scoring.scores(&truth, &labels, &of_test),
            missing_classes: self.classes.missing(fold),
            ..FoldReport::of(self.plan, fold, machines.iter().map(|machine| &machine.report), own)
        }
    }

    /// Number of different support vectors of the machines of a fold.
    fn support_vectors(&self, fold: usize, outcomes: &[Outcome], counter: &mut SampleCounter) -> usize {
        if let [only] = outcomes {
            return only.machine(fold).map_or(0, |machine| machine.report.support_vectors);
        }
        let machines = outcomes.iter().zip(&self.layout.machines);
        counter.count(
            machines
                .filter_map(|(outcome, samples)| outcome.machine(fold).map(|machine| (&*machine.decision, &samples.rows[..]))),
        )
    }

    /// Brings decision values into the order of the data, in their place: those of many classes
    /// take hundreds of megabytes. Samples that have no prediction get NaN.
    fn in_data_order(&self, mut decisions: Vec<f64>, width: usize, predicted: &[f64]) -> Vec<f64> {
        let data_row = &self.layout.data_row;
        let mut moved = vec![0.0; width];
        for of_round in decisions.chunks_exact_mut(data_row.len() * width) {
            let mut done = vec![false; data_row.len()];
            for first in 0..data_row.len() {
                if done[first] {
                    continue;
                }
                // A cycle of the permutation, until it comes back to the first row.
                moved.copy_from_slice(&of_round[first * width..][..width]);
                let mut at = first;
                while !done[first] {
                    at = data_row[at];
                    of_round[at * width..][..width].swap_with_slice(&mut moved);
                    done[at] = true;
                }
            }
        }
        for (row, _) in decisions.chunks_exact_mut(width).zip(predicted).filter(|(_, predicted)| predicted.is_nan()) {
            row.fill(f64::NAN);
        }
        decisions
    }
}

/// Decision values of test samples: rows of all samples in the order of the layout, round after
/// round, or those of the test samples of a fold.
#[derive(Clone, Copy)]
struct TestValues<'a> {
    values: &'a [f64],
    by_fold: bool,
}

/// Counts different samples. `last` has the number of the count that met each sample last.
struct SampleCounter {
    last: Vec<u32>,
    current: u32,
}

impl SampleCounter {
    fn new(samples: usize) -> Self {
        Self { last: vec![0; samples], current: 0 }
    }

    /// The number of different samples in some decisions. The terms of each decision are places in
    /// the rows paired with it.
    fn count<'d>(&mut self, decisions: impl Iterator<Item = (&'d Decision, &'d [usize])>) -> usize {
        self.current += 1;
        let mut count = 0;
        for (decision, rows) in decisions {
            for term in &decision.terms {
                let last = &mut self.last[rows[term.0]];
                count += usize::from(*last != self.current);
                *last = self.current;
            }
        }
        count
    }
}

/// The report of the machines of all data.
fn full_report(outcomes: &[Outcome]) -> Option<FullReport> {
    let machines: Vec<MachineReport> =
        outcomes.iter().filter_map(|outcome| outcome.full.as_ref().map(|full| full.machine.report.clone())).collect();
    let certificate = machines.iter().map(|m| m.certificate).reduce(CertificateReport::worse)?;
    Some(FullReport {
        status: machines.iter().map(|m| m.status).reduce(Status::worse)?,
        iterations: machines.iter().map(|m| m.iterations).sum(),
        rows_computed: machines.iter().map(|m| m.rows_computed).sum(),
        solve_seconds: machines.iter().map(|m| m.solve_seconds).sum(),
        objective: machines.iter().map(|m| m.objective).sum(),
        certificate,
        machines,
    })
}
