//! The path of one machine of a model: samples of its two classes are added and removed, and C
//! moves.

use crate::study::layout::MachineSamples;
use crate::study::matching::Terms;
use crate::update::error::UpdateError;
use maxmargin_core::{Certificate, DualError, GapScreening, Goal, Progress, RunControl, Status};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::MachineRecord;
use maxmargin_path::{PathConfig, SavedUpdatable, Updatable, Update};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Breakpoints of a path between two cancellation checks.
const STRETCH: usize = 64;

/// A path with more breakpoints than this for each sample, plus [`EXTRA_BREAKPOINTS`], makes no
/// progress, as in [`maxmargin_path::PathConfig`].
const BREAKPOINTS_PER_SAMPLE: usize = 4;

/// See [`BREAKPOINTS_PER_SAMPLE`].
const EXTRA_BREAKPOINTS: usize = 1000;

/// The cost of the path of one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStats {
    /// Making the stored solution exact.
    pub opened: Update,
    /// Adding and removing samples, then the change of C.
    pub paths: Vec<Update>,
}

impl PathStats {
    /// All steps as one: counts are summed, the rest is that of the last step.
    pub fn sum(&self) -> Update {
        self.paths.iter().copied().fold(self.opened, Update::followed_by)
    }
}

/// C of one class before and after a change.
#[derive(Clone, Copy)]
pub(super) struct C {
    pub(super) before: f64,
    pub(super) after: f64,
}

/// The prepared samples and C, before and after a change.
pub(super) struct ModelChange<'a> {
    pub(super) kernel: &'a Kernel,
    /// All rows of the data before the change.
    pub(super) samples: &'a Samples,
    /// For each of them, true if it stays.
    pub(super) stays: &'a [bool],
    /// The rows after the change: those that stay, then the added ones.
    pub(super) changed: &'a Samples,
    /// The number of rows that stay.
    pub(super) old: usize,
    /// C of each class.
    pub(super) c: &'a [C],
}

/// The run of all paths: its watch, its cancellation and its memory.
pub(super) struct UpdateRun<'a> {
    pub(super) watch: &'a (dyn Fn(&Update) -> ControlFlow<()> + Sync),
    /// Set once the caller has cancelled the run.
    pub(super) ended: AtomicBool,
    /// Bytes of kernel columns for each path.
    pub(super) memory: u64,
}

impl UpdateRun<'_> {
    /// Reports progress, and fails if the run is cancelled.
    fn report(&self, update: &Update) -> Result<(), UpdateError> {
        if (self.watch)(update).is_break() {
            self.ended.store(true, Ordering::Relaxed);
        }
        self.check()
    }

    /// Fails if the run is cancelled.
    pub(super) fn check(&self) -> Result<(), UpdateError> {
        if self.ended.load(Ordering::Relaxed) { Err(UpdateError::Interrupted) } else { Ok(()) }
    }
}

/// A machine after a change.
pub(super) struct UpdatedMachine {
    /// Row of the changed data and `y α` of each support vector, rows ascending.
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) bias: f64,
    pub(super) record: MachineRecord,
    pub(super) certificate: Certificate,
    pub(super) fixed_labels: Option<GapScreening>,
    /// The cost of its path; `None` if it kept its solution.
    pub(super) path: Option<PathStats>,
}

impl UpdatedMachine {
    /// The machine with the status that its certificate shows for the goal of the model. Rounding
    /// may lead a path away from the optimum.
    pub(super) fn judged(mut self, goal: Goal) -> Self {
        let (ended, certificate) = (self.record.status, &self.certificate);
        let misses = ended == Status::Converged && !goal.met(certificate);
        self.record.status = if misses { Status::Stalled } else { goal.reached(ended, certificate) };
        self
    }
}

impl ModelChange<'_> {
    /// Returns true if C of one of the machine's classes changes.
    fn moves_c(&self, machine: &MachineSamples) -> bool {
        let (a, b) = machine.pair();
        [a, b].iter().any(|&class| self.c[class].before != self.c[class].after)
    }

    /// Returns true if anything changes for the machine with these samples before and after.
    pub(super) fn touches(&self, before: &MachineSamples, after: &MachineSamples) -> bool {
        self.moves_c(before)
            || before.rows.iter().any(|&row| !self.stays[row])
            || after.rows.last().is_some_and(|&row| row >= self.old)
    }

    /// Follows the path of one machine with the samples `before` and `after` the change, from the
    /// solution `terms`.
    pub(super) fn follow(
        &self,
        before: &MachineSamples,
        after: &MachineSamples,
        terms: &Terms,
        run: &UpdateRun,
        par: Par,
    ) -> Result<UpdatedMachine, UpdateError> {
        run.check()?;
        // Opening the path reports no progress before it ends.
        let observer = |_: &Progress| match run.check().and_then(|()| run.report(&Update::nothing())) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let control = RunControl::new(observer);
        let (mut path, opened) = Updatable::open(self.saved(before, terms, run.memory), Some(&control))?;
        let mut paths = Vec::new();
        let removed: Vec<u64> = (0_u64..).zip(&before.rows).filter(|(_, row)| !self.stays[**row]).map(|(key, _)| key).collect();
        let added: Vec<usize> = after.rows.iter().copied().filter(|&row| row >= self.old).collect();
        if !removed.is_empty() || !added.is_empty() {
            let signs = &after.target[after.rows.len() - added.len()..];
            let upper: Vec<f64> = signs.iter().map(|&sign| self.class_c(after, sign).before).collect();
            let (_, update) = path.exchange(&self.changed.select(&added), signs, &upper, &removed)?;
            paths.push(walk(&mut path, update, run)?);
        }
        if self.moves_c(before) {
            let bounds = path.keys().into_iter().zip(&after.target);
            let bounds: Vec<(u64, f64)> = bounds.map(|(key, &sign)| (key, self.class_c(after, sign).after)).collect();
            let update = path.set_weights(&bounds)?;
            paths.push(walk(&mut path, update, run)?);
        }
        let end = path.save();
        let certified = path.certify_labels(par);
        run.check()?;
        let (certificate, fixed_labels) = certified.ok_or(DualError::Empty)?;
        // Keys ascend: samples that stay, then added samples, as in `after`.
        let vectors: Vec<usize> = (0..end.alpha.len()).filter(|&k| end.alpha[k] != 0.0).collect();
        let terms: Vec<(usize, f64)> = vectors.iter().map(|&k| (after.rows[k], after.target[k] * end.alpha[k])).collect();
        let record = MachineRecord {
            rows: terms.iter().map(|term| term.0 as u64).collect(),
            folded: None,
            bounded: vectors.iter().filter(|&&k| end.alpha[k] >= end.upper[k]).count() as u64,
            status: paths.last().map_or(opened.status, |update| update.status),
            iterations: paths.iter().map(|update| update.breakpoints as u64).sum(),
            certificate: certificate.as_kept(),
        };
        Ok(UpdatedMachine { terms, bias: end.bias, record, certificate, fixed_labels, path: Some(PathStats { opened, paths }) })
    }

    /// C of the class with this sign in a machine.
    fn class_c(&self, machine: &MachineSamples, sign: f64) -> C {
        let (negative, positive) = machine.pair();
        self.c[if sign > 0.0 { positive } else { negative }]
    }

    /// The solution before the change as the start of a path, with `memory` bytes for kernel
    /// columns.
    fn saved(&self, before: &MachineSamples, terms: &Terms, memory: u64) -> SavedUpdatable {
        let mut alpha = vec![0.0; before.rows.len()];
        for &(row, a) in terms {
            // Only rows of the two classes have α > 0: signs of coefficients were checked before.
            before.rows.binary_search(&row).into_iter().for_each(|k| alpha[k] += a.abs());
        }
        let keys = before.rows.len() as u64;
        SavedUpdatable {
            samples: self.samples.select(&before.rows),
            labels: before.target.clone(),
            kernel: self.kernel.clone(),
            upper: before.target.iter().map(|&sign| self.class_c(before, sign).before).collect(),
            alpha,
            bias: 0.0, // opening the path computes it
            keys: (0..keys).collect(),
            next: keys,
            config: PathConfig::default().with_memory(memory).with_limit(Some(STRETCH)),
        }
    }
}

/// Follows a path to its end. The figures are those of the whole path.
///
/// A path with too many breakpoints runs on without a limit, so that `maxmargin-path` can hand it
/// to its active set method. With a limit, each stretch counts its breakpoints from zero, and the
/// path might never end.
fn walk(path: &mut Updatable, begun: Update, run: &UpdateRun) -> Result<Update, UpdateError> {
    let usual = BREAKPOINTS_PER_SAMPLE * path.keys().len() + EXTRA_BREAKPOINTS;
    let mut sum = begun;
    loop {
        run.report(&sum)?;
        if sum.status != Status::IterationLimit {
            return Ok(sum);
        }
        sum = sum.followed_by(path.resume((sum.breakpoints < usual).then_some(STRETCH))?);
    }
}
