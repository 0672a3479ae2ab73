//! One machine of a model along its path: the samples of its two classes that come and go, and C.

use crate::study::layout::MachineSamples;
use crate::study::matching::Terms;
use crate::update::{PathStats, UpdateError};
use maxmargin_core::{Certificate, DualError, GapScreening, Status};
use maxmargin_data::{Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::MachineRecord;
use maxmargin_path::{Config, SavedUpdatable, Updatable, Update};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Breakpoints of a path between two questions whether to go on.
const STRETCH: usize = 64;

/// Breakpoints for each sample, and in all, after which a path does not get on: as
/// [`maxmargin_path::Config`] has it.
const MORE_THAN_USUAL: (usize, usize) = (4, 1000);

/// The samples before and after, as the kernel sees them, and C of each class before and after.
pub(super) struct Move<'a> {
    pub(super) kernel: &'a Kernel,
    /// Before: all rows of the kept data.
    pub(super) samples: &'a Samples,
    /// Whether each of them stays.
    pub(super) stays: &'a [bool],
    /// After: those that stay, and those that have come below them.
    pub(super) changed: &'a Samples,
    /// How many of these were there before.
    pub(super) old: usize,
    /// (before, after) of each class.
    pub(super) c: &'a [(f64, f64)],
    /// Bytes of kernel columns.
    pub(super) memory: u64,
}

/// Asks the caller whether to go on, for all machines at once.
pub(super) struct Asking<'a> {
    pub(super) watch: &'a (dyn Fn(&Update) -> ControlFlow<()> + Sync),
    /// Set once the caller has said no.
    pub(super) ended: AtomicBool,
}

impl Asking<'_> {
    fn go_on(&self, update: &Update) -> Result<(), UpdateError> {
        if (self.watch)(update).is_break() {
            self.ended.store(true, Ordering::Relaxed);
        }
        self.check()
    }

    /// Whether another machine was told to end.
    pub(super) fn check(&self) -> Result<(), UpdateError> {
        if self.ended.load(Ordering::Relaxed) { Err(UpdateError::Interrupted) } else { Ok(()) }
    }
}

/// A machine after its path.
pub(super) struct Moved {
    /// (row of the changed data, `y α`), rows ascending.
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) bias: f64,
    pub(super) record: MachineRecord,
    pub(super) certificate: Certificate,
    pub(super) certain: Option<GapScreening>,
    pub(super) walked: Option<PathStats>,
}

impl Move<'_> {
    /// Whether C moves for one of its classes.
    fn moves_c(&self, part: &MachineSamples) -> bool {
        let (a, b) = part.pair();
        [a, b].iter().any(|&class| self.c[class].0 != self.c[class].1)
    }

    /// Whether anything changes for the machine of these samples.
    pub(super) fn touches(&self, before: &MachineSamples, after: &MachineSamples) -> bool {
        self.moves_c(before)
            || before.rows.iter().any(|&row| !self.stays[row])
            || after.rows.last().is_some_and(|&row| row >= self.old)
    }

    /// Follows the path of one machine, whose samples are `before` and shall be `after`, from the
    /// solution `terms`.
    pub(super) fn follow(
        &self,
        (before, after): (&MachineSamples, &MachineSamples),
        terms: &Terms,
        asking: &Asking,
        par: Par,
    ) -> Result<Moved, UpdateError> {
        asking.check()?;
        let c = |part: &MachineSamples, sign: f64| self.c[if sign > 0.0 { part.pair().1 } else { part.pair().0 }];
        let mut alpha = vec![0.0; before.rows.len()];
        for &(row, a) in terms {
            // A row of neither class has α = 0: otherwise its sign would have told.
            before.rows.binary_search(&row).into_iter().for_each(|k| alpha[k] += a.abs());
        }
        let keys = before.rows.len() as u64;
        let saved = SavedUpdatable {
            samples: self.samples.select(&before.rows),
            labels: before.target.clone(),
            kernel: self.kernel.clone(),
            upper: before.target.iter().map(|&sign| c(before, sign).0).collect(),
            alpha,
            bias: 0.0, // found anew
            keys: (0..keys).collect(),
            next: keys,
            config: Config::default().with_memory(self.memory).with_limit(Some(STRETCH)),
        };
        // Long work has no news before it ends.
        let go_on = || asking.check().and_then(|()| asking.go_on(&Update::nothing())).is_ok();
        let (mut path, opened) = Updatable::open_asking(saved, &go_on)?;
        let mut paths = Vec::new();
        let gone: Vec<u64> = (0..keys).filter(|&k| !self.stays[before.rows[k as usize]]).collect();
        let come: Vec<usize> = after.rows.iter().copied().filter(|&row| row >= self.old).collect();
        if !gone.is_empty() || !come.is_empty() {
            let signs = &after.target[after.rows.len() - come.len()..];
            let upper: Vec<f64> = signs.iter().map(|&sign| c(after, sign).0).collect();
            let (_, update) = path.exchange(&self.changed.select(&come), signs, &upper, &gone)?;
            paths.push(walk(&mut path, update, asking)?);
        }
        if self.moves_c(before) {
            let bounds: Vec<(u64, f64)> =
                path.keys().into_iter().zip(&after.target).map(|(key, &sign)| (key, c(after, sign).1)).collect();
            let update = path.set_weights(&bounds)?;
            paths.push(walk(&mut path, update, asking)?);
        }
        // Keys ascend: those that stay, then those that have come, as in `after`.
        let end = path.save();
        let judged = path.certify_labels(par);
        asking.check()?;
        let (certificate, certain) = judged.ok_or(DualError::Empty)?;
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
        Ok(Moved { terms, bias: end.bias, record, certificate, certain, walked: Some(PathStats { opened, paths }) })
    }
}

/// Follows a path to its end; the figures are those of the whole.
///
/// A path that takes more breakpoints than it should is left to itself, and then to the active set:
/// each stretch counts anew, and would go on for ever.
fn walk(path: &mut Updatable, begun: Update, asking: &Asking) -> Result<Update, UpdateError> {
    let usual = MORE_THAN_USUAL.0 * path.keys().len() + MORE_THAN_USUAL.1;
    let mut sum = begun;
    loop {
        asking.go_on(&sum)?;
        if sum.status != Status::IterationLimit {
            return Ok(sum);
        }
        sum = sum.followed_by(path.resume((sum.breakpoints < usual).then_some(STRETCH))?);
    }
}
