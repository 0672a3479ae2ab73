//! Assembles predictions and a report from the machines of all folds.

use crate::folds::fold_classes::FoldClasses;
use crate::folds::outcome::{CertifiedMachine, Outcome};
use crate::plan::FoldPlan;
use crate::report::{CertificateReport, CvReport, FoldReport, FullReport, MachineReport, Scoring};
use crate::run::control::{certificate_control, status_of};
use crate::run::error::CvError;
use crate::study::layout::{HeldOut, MachineLayout};
use crate::study::space_source::SpaceSource;
use maxmargin_core::{Cancelled, Decision, Progress, RunControl, Solved, Stage, Status};
use maxmargin_data::Par;
use maxmargin_kernel::{Exact, Matrix, RowWork};
use maxmargin_model::Rule;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    pub(crate) par: Par,
    pub(crate) control: &'a RunControl<'a>,
    /// The decision values of the last value of C, if several machines have several values.
    pub(crate) last: Option<Mutex<Decisions>>,
}

/// Decision values at a value of C. Those of a machine that is also the machine of the next value
/// are not computed again.
#[derive(Default)]
pub(crate) struct Decisions {
    /// Exact decision values of every sample, in the order of the layout: rounds × samples ×
    /// machines.
    values: Vec<f64>,
    /// The machine of each fold that they are from, fold after fold.
    machines: Vec<Option<Arc<Decision>>>,
}

/// Largest number of decision values that are kept for the next value of C: 64 MiB.
const MOST_KEPT: usize = 1 << 23;

/// Decision values that are brought into the order of samples at a time (8 MiB), of so many samples
/// at least.
const MOST_REORDERED: usize = 1 << 20;
const FEWEST_REORDERED: usize = 128;

/// Samples whose decision values are written together.
const TOGETHER: usize = 8;

impl Decisions {
    /// A place for the decision values of one value of C after the other, for so many samples in
    /// all rounds; `None` if there is one value of C or one machine, or if there are too many.
    pub(crate) fn place(values_of_c: usize, machines: usize, samples: usize) -> Option<Mutex<Self>> {
        (values_of_c > 1 && machines > 1 && machines * samples <= MOST_KEPT).then(Mutex::default)
    }

    /// Makes `machine` the one whose values are in its place. Returns whether it was not.
    fn replace(&mut self, place: usize, machine: &Arc<Decision>) -> bool {
        let before = self.machines[place].replace(Arc::clone(machine));
        before.is_none_or(|before| !Arc::ptr_eq(&before, machine))
    }
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
        let decisions = self.decision_values(source, outcomes, &held_out)?;
        let pruned = outcomes.iter().any(|outcome| outcome.pruned);
        let rows = self.layout.data_row.len();
        let mut predicted = vec![f64::NAN; self.plan.rounds() * rows];
        let mut leverage = vec![f64::NAN; predicted.len()];
        let mut counter = SampleCounter::new(rows);
        let mut folds = Vec::with_capacity(held_out.len());
        for (fold, held_out) in held_out.iter().enumerate() {
            if !pruned || outcomes.iter().all(|outcome| outcome.has(fold)) {
                let support_vectors = self.support_vectors(fold, outcomes, &mut counter);
                let report = self.fold_report(fold, held_out, outcomes, &decisions.values, &mut predicted);
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
        let values = match &self.last {
            Some(last) => {
                let values = decisions.values.clone();
                *lock(last) = decisions;
                values
            }
            None => decisions.values,
        };
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

    fn decision_values(&self, source: &SpaceSource, outcomes: &[Outcome], held_out: &[HeldOut]) -> Result<Decisions, CvError> {
        let control = certificate_control(self.control, |progress| *progress);
        let stage = Stage::Certify { certified: 0, samples: self.layout.data_row.len() };
        control.set_progress(&Progress { stage, ..Progress::default() });
        let decisions = match outcomes {
            // The audits of one machine have computed the decision values of all samples already.
            [only] => Ok(Decisions { values: only.decisions.clone(), machines: Vec::new() }),
            _ => match source {
                SpaceSource::Gram(gram, _) => self.decide(Exact::from(gram), outcomes, held_out, &control),
                SpaceSource::Features(samples) => {
                    self.decide(Exact::from(&Matrix::new(samples, None, self.par)), outcomes, held_out, &control)
                }
            },
        };
        decisions.map_err(|Cancelled| CvError::Ended(status_of(self.control)))
    }

    /// The report of one fold without its support vectors. Writes the predicted labels of its test
    /// samples.
    fn fold_report(
        &self,
        fold: usize,
        held_out: &HeldOut,
        outcomes: &[Outcome],
        decisions: &[f64],
        predicted: &mut [f64],
    ) -> FoldReport {
        let HeldOut { test, round, .. } = held_out;
        let (width, before) = (outcomes.len(), round * self.layout.data_row.len());
        let row = |at: usize| &decisions[(before + at) * width..(before + at + 1) * width];
        let machines: Vec<&CertifiedMachine> = outcomes.iter().filter_map(|outcome| outcome.machine(fold)).collect();
        let solved = machines.iter().all(|machine| machine.report.is_solution());
        let own = outcomes.iter().filter_map(|outcome| outcome.folds[fold].as_ref().map(|own| own.report.clone())).collect();
        let truth: Vec<f64> = test.iter().map(|&at| self.labels[self.layout.data_row[at]]).collect();
        let label = |at: usize| if solved { self.classes.label(fold, &self.rule, row(at)) } else { f64::NAN };
        let labels: Vec<f64> = test.iter().map(|&at| label(at)).collect();
        test.iter().zip(&labels).for_each(|(&at, &label)| predicted[before + self.layout.data_row[at]] = label);
        let read = if self.scoring.reads_decisions() { &test[..] } else { &[] };
        let of_test: Vec<f64> = read.iter().flat_map(|&at| row(at).iter().copied()).collect();
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

    /// Exact decision values of all samples by the machines that were not trained on them,
    /// row-major, round after round. If most folds use the machines of all data, these decide all
    /// samples in one pass.
    fn decide(
        &self,
        source: Exact,
        outcomes: &[Outcome],
        held_out: &[HeldOut],
        control: &RunControl,
    ) -> Result<Decisions, Cancelled> {
        let (n, width) = (self.layout.data_row.len(), outcomes.len());
        let full: Vec<Option<Arc<Decision>>> =
            outcomes.iter().map(|outcome| outcome.full.as_ref().map(|full| Arc::clone(&full.machine.decision))).collect();
        let is_full = |p: usize, fold: usize| outcomes[p].is_shared(fold);
        let shared: usize = (0..held_out.len()).map(|fold| (0..width).filter(|&p| is_full(p, fold)).count()).sum();
        let mut found = self.last.as_ref().map(|last| std::mem::take(&mut *lock(last))).unwrap_or_default();
        found.machines.resize(held_out.len() * width, None);
        if found.values.is_empty() {
            found.values = vec![0.0; self.plan.rounds() * n * width];
        }
        // Decision values of folds without a solution are not reported, and the time for them is
        // over.
        let is_reported =
            |fold: usize| outcomes.iter().filter_map(|outcome| outcome.machine(fold)).all(|machine| machine.report.is_solution());
        let at_once = 2 * shared > held_out.len() * width && (0..held_out.len()).any(is_reported);
        if at_once {
            let all: Vec<usize> = (0..n).collect();
            let machines: Vec<usize> = (0..width).filter(|&p| full[p].is_some()).collect();
            let of = machines.iter().filter_map(|&p| full[p].as_deref().map(|decision| (p, decision)));
            self.write_decisions(source, &of.collect::<Vec<_>>(), &all, width, &mut found.values[..n * width], control)?;
            (1..self.plan.rounds()).for_each(|round| found.values.copy_within(..n * width, round * n * width));
            found.machines.fill(None);
        }
        for (fold, HeldOut { test, round, .. }) in held_out.iter().enumerate() {
            if !is_reported(fold) {
                continue;
            }
            let of = (0..width).filter(|&p| !(at_once && is_full(p, fold)));
            let of = of.filter_map(|p| outcomes[p].machine(fold).map(|machine| (p, &machine.decision)));
            let of = of.filter(|(p, decision)| found.replace(fold * width + p, decision)).map(|(p, decision)| (p, &**decision));
            let of: Vec<(usize, &Decision)> = of.collect();
            let decisions = &mut found.values[round * n * width..];
            self.write_decisions(source, &of, test, width, decisions, control)?;
            // A missing machine has no decision value. That of the machine of all data must not
            // take its place, since that machine was trained on the samples.
            for p in (0..width).filter(|&p| outcomes[p].lacking[fold]) {
                test.iter().for_each(|&i| decisions[i * width + p] = f64::NAN);
            }
        }
        Ok(found)
    }

    /// Writes the decision values of some machines for some samples: of thousands of machines for
    /// some samples at a time, since they are in another order first.
    fn write_decisions(
        &self,
        source: Exact,
        machines: &[(usize, &Decision)],
        samples: &[usize],
        width: usize,
        decisions: &mut [f64],
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        if machines.is_empty() {
            return Ok(());
        }
        let terms = |(p, decision): &(usize, &Decision)| -> Vec<(usize, f64)> {
            let rows = &self.layout.machines[*p].rows;
            decision.terms.iter().map(|&(row, c)| (rows[row], c)).collect()
        };
        let terms: Vec<Vec<(usize, f64)>> = machines.iter().map(terms).collect();
        let terms: Vec<&[(usize, f64)]> = terms.iter().map(Vec::as_slice).collect();
        for samples in samples.chunks((MOST_REORDERED / machines.len()).max(FEWEST_REORDERED)) {
            let runs = samples.chunk_by(|a, b| a + 1 == *b).map(|run| run[0]..run[0] + run.len());
            let mut sums = source.sums_of(&terms, &runs.collect::<Vec<_>>(), self.par, control)?;
            for ((_, decision), sums) in machines.iter().zip(sums.chunks_exact_mut(samples.len())) {
                if let Some(own) = decision.weights.as_ref().and_then(|weights| source.products(weights, samples, self.par)) {
                    sums.copy_from_slice(&own);
                }
            }
            reorder(machines, samples, &sums, width, decisions);
        }
        Ok(())
    }
}

/// Writes decision values that are there machine after machine to the rows of their samples.
fn reorder(machines: &[(usize, &Decision)], samples: &[usize], sums: &[f64], width: usize, decisions: &mut [f64]) {
    // Some samples at a time: their rows stay in the cache for all machines.
    for (at, samples_of_block) in samples.chunks(TOGETHER).enumerate() {
        for ((p, decision), sums) in machines.iter().zip(sums.chunks_exact(samples.len())) {
            let sums = &sums[at * TOGETHER..][..samples_of_block.len()];
            samples_of_block.iter().zip(sums).for_each(|(&i, sum)| decisions[i * width + p] = sum + decision.bias);
        }
    }
}

/// Locks the last decision values. A panic leaves them empty.
fn lock(last: &Mutex<Decisions>) -> MutexGuard<'_, Decisions> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
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
