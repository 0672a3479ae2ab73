//! Decision values of held-out samples, by the machines of all folds.

use crate::folds::outcome::Outcome;
use crate::plan::FoldPlan;
use crate::run::control::{certificate_control, status_of};
use crate::run::error::CvError;
use crate::study::layout::{HeldOut, MachineLayout};
use crate::study::space_source::SpaceSource;
use maxmargin_core::{Cancelled, Decision, Progress, RunControl, Stage};
use maxmargin_data::Par;
use maxmargin_kernel::{Exact, Matrix};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Decision values at a value of C. Those of a machine that is also the machine of the next value
/// are not computed again.
#[derive(Default)]
pub(crate) struct Decisions {
    /// Exact decision values of every sample, in the order of the layout: rounds × samples ×
    /// machines.
    pub(super) values: Vec<f64>,
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

/// Decides held-out samples, at every value of C.
pub(crate) struct HeldOutDecisions<'a> {
    pub(crate) layout: &'a MachineLayout,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) par: Par,
    pub(crate) control: &'a RunControl<'a>,
    /// The decision values of the last value of C, if several machines have several values.
    pub(crate) last: Option<Mutex<Decisions>>,
    /// Set if the report or its scores read the decision values.
    pub(crate) are_kept: bool,
}

impl HeldOutDecisions<'_> {
    /// Returns whether decision values are computed fold by fold and dropped when the labels are
    /// known: those of several machines, unless most of them are the machines of all data, which
    /// decide all samples in one pass.
    pub(super) fn decides_by_fold(&self, outcomes: &[Outcome], folds: usize) -> bool {
        !self.are_kept && self.last.is_none() && outcomes.len() > 1 && !decides_at_once(outcomes, folds)
    }

    /// The decision values of the test samples of a fold, row-major; none if it has no solution.
    pub(super) fn values_of_fold(
        &self,
        source: &SpaceSource,
        outcomes: &[Outcome],
        fold: usize,
        held_out: &HeldOut,
    ) -> Result<Vec<f64>, CvError> {
        if !is_reported(outcomes, fold) {
            return Ok(Vec::new());
        }
        let (test, width) = (&held_out.test, outcomes.len());
        let of = outcomes.iter().enumerate().filter_map(|(p, outcome)| Some((p, &*outcome.machine(fold)?.decision)));
        let (of, places) = (of.collect::<Vec<_>>(), (0..test.len()).collect::<Vec<_>>());
        let mut values = vec![0.0; test.len() * width];
        let control = certificate_control(self.control, |progress| *progress);
        let rows = TableRows { samples: test, places: &places };
        let written = self.over(source, |source| self.write_decisions(source, &of, rows, width, &mut values, &control));
        written.map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
        mark_lacking(outcomes, fold, &places, &mut values);
        Ok(values)
    }

    /// Calls `each` with the exact values of a source.
    fn over<T>(&self, source: &SpaceSource, each: impl FnOnce(Exact) -> T) -> T {
        match source {
            SpaceSource::Gram(gram, _) => each(Exact::from(gram)),
            SpaceSource::Features(samples) => each(Exact::from(&Matrix::new(samples, None, self.par))),
        }
    }

    /// Exact decision values of all samples at a value of C.
    pub(super) fn decision_values(
        &self,
        source: &SpaceSource,
        outcomes: &[Outcome],
        held_out: &[HeldOut],
    ) -> Result<Decisions, CvError> {
        let control = certificate_control(self.control, |progress| *progress);
        let stage = Stage::Certify { certified: 0, samples: self.layout.data_row.len() };
        control.set_progress(&Progress { stage, ..Progress::default() });
        let decisions = match outcomes {
            // The audits of one machine have computed the decision values of all samples already.
            [only] => Ok(Decisions { values: only.decisions.clone(), machines: Vec::new() }),
            _ => self.over(source, |source| self.decide(source, outcomes, held_out, &control)),
        };
        decisions.map_err(|Cancelled| CvError::Ended(status_of(self.control)))
    }

    /// The values of decisions, which are kept for the next value of C if there is one.
    pub(super) fn values_of(&self, decisions: Decisions) -> Vec<f64> {
        let Some(last) = &self.last else { return decisions.values };
        let values = decisions.values.clone();
        *lock(last) = decisions;
        values
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
        let mut found = self.last.as_ref().map(|last| std::mem::take(&mut *lock(last))).unwrap_or_default();
        found.machines.resize(held_out.len() * width, None);
        if found.values.is_empty() {
            found.values = vec![0.0; self.plan.rounds() * n * width];
        }
        let at_once = decides_at_once(outcomes, held_out.len());
        if at_once {
            let all: Vec<usize> = (0..n).collect();
            let machines: Vec<usize> = (0..width).filter(|&p| full[p].is_some()).collect();
            let of = machines.iter().filter_map(|&p| full[p].as_deref().map(|decision| (p, decision)));
            let values = &mut found.values[..n * width];
            self.write_decisions(
                source,
                &of.collect::<Vec<_>>(),
                TableRows { samples: &all, places: &all },
                width,
                values,
                control,
            )?;
            (1..self.plan.rounds()).for_each(|round| found.values.copy_within(..n * width, round * n * width));
            found.machines.fill(None);
        }
        for (fold, HeldOut { test, round, .. }) in held_out.iter().enumerate() {
            if !is_reported(outcomes, fold) {
                continue;
            }
            let of = (0..width).filter(|&p| !(at_once && is_full(p, fold)));
            let of = of.filter_map(|p| outcomes[p].machine(fold).map(|machine| (p, &machine.decision)));
            let of = of.filter(|(p, decision)| found.replace(fold * width + p, decision)).map(|(p, decision)| (p, &**decision));
            let of: Vec<(usize, &Decision)> = of.collect();
            let decisions = &mut found.values[round * n * width..];
            self.write_decisions(source, &of, TableRows { samples: test, places: test }, width, decisions, control)?;
            mark_lacking(outcomes, fold, test, decisions);
        }
        Ok(found)
    }

    /// Writes the decision values of some machines for some samples. Over kernel values, those of
    /// thousands of machines are computed for some samples at a time, since they are in another
    /// order first. Over features each call makes the weights of all machines.
    fn write_decisions(
        &self,
        source: Exact,
        machines: &[(usize, &Decision)],
        TableRows { samples, places }: TableRows,
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
        let is_gram = matches!(source, Exact::Gram(..));
        let some = if is_gram { (MOST_REORDERED / machines.len()).max(FEWEST_REORDERED) } else { samples.len().max(1) };
        for (samples, places) in samples.chunks(some).zip(places.chunks(some)) {
            let runs = samples.chunk_by(|a, b| a + 1 == *b).map(|run| run[0]..run[0] + run.len());
            let mut sums = source.sums_of(&terms, &runs.collect::<Vec<_>>(), self.par, control)?;
            for ((_, decision), sums) in machines.iter().zip(sums.chunks_exact_mut(samples.len())) {
                if let Some(own) = decision.weights.as_ref().and_then(|weights| source.products(weights, samples, self.par)) {
                    sums.copy_from_slice(&own);
                }
            }
            reorder(machines, places, &sums, width, decisions);
        }
        Ok(())
    }
}

/// Samples, and the row of each in a table of decision values.
#[derive(Clone, Copy)]
struct TableRows<'a> {
    samples: &'a [usize],
    places: &'a [usize],
}

/// Marks the values of machines that a fold lacks as missing. Those of the machines of all data
/// must not take their place, since these were trained on the samples.
fn mark_lacking(outcomes: &[Outcome], fold: usize, places: &[usize], decisions: &mut [f64]) {
    let width = outcomes.len();
    for p in (0..width).filter(|&p| outcomes[p].lacking[fold]) {
        places.iter().for_each(|place| decisions[place * width + p] = f64::NAN);
    }
}

/// Returns whether all machines of a fold are solutions. Decision values of other folds are not
/// reported, and the time for them is over.
fn is_reported(outcomes: &[Outcome], fold: usize) -> bool {
    outcomes.iter().filter_map(|outcome| outcome.machine(fold)).all(|machine| machine.report.is_solution())
}

/// Returns whether most machines of the folds are those of all data, which decide all samples in
/// one pass.
fn decides_at_once(outcomes: &[Outcome], folds: usize) -> bool {
    let shared: usize = (0..folds).map(|fold| outcomes.iter().filter(|outcome| outcome.is_shared(fold)).count()).sum();
    2 * shared > folds * outcomes.len() && (0..folds).any(|fold| is_reported(outcomes, fold))
}

/// Writes decision values that are there machine after machine to rows with these numbers.
fn reorder(machines: &[(usize, &Decision)], places: &[usize], sums: &[f64], width: usize, decisions: &mut [f64]) {
    // Some samples at a time: their rows stay in the cache for all machines.
    for (at, places_of_block) in places.chunks(TOGETHER).enumerate() {
        for ((p, decision), sums) in machines.iter().zip(sums.chunks_exact(places.len())) {
            let sums = &sums[at * TOGETHER..][..places_of_block.len()];
            places_of_block.iter().zip(sums).for_each(|(&place, sum)| decisions[place * width + p] = sum + decision.bias);
        }
    }
}

/// Locks the last decision values. A panic leaves them empty.
fn lock(last: &Mutex<Decisions>) -> MutexGuard<'_, Decisions> {
    last.lock().unwrap_or_else(PoisonError::into_inner)
}
