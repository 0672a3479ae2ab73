//! Progress of a study, reported from several threads at once.

use maxmargin_core::{Progress, Watch};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The present activity of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Training on all data.
    #[default]
    Full,
    /// Training this fold.
    Fold(usize),
    /// Training this machine of several.
    Machine(usize),
    /// Computing certificates: everything is recomputed in `f64`.
    Certify {
        /// Samples that are done.
        certified: usize,
        /// All samples.
        samples: usize,
    },
}

/// Progress of a whole study.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CvProgress {
    /// The present activity.
    pub stage: Stage,
    /// Folds that are solved, or machines if there are several.
    pub done: usize,
    /// Number of folds, or of machines if there are several.
    pub total: usize,
    /// Progress of the solver that reports.
    pub solver: Progress,
}

/// Receives progress from any thread, and may end the run.
pub trait CvWatch: Sync {
    /// Called with every progress report. `Break` ends every training as soon as possible; results
    /// so far are still reported.
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()>;
}

/// A watch that ignores progress and never stops a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl CvWatch for Quiet {
    fn tick(&self, _: &CvProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: Fn(&CvProgress) -> ControlFlow<()> + Sync> CvWatch for F {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        self(progress)
    }
}

/// Forwards a solver's progress as progress of the study.
pub(crate) struct StageProgress<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    pub(crate) stage: Stage,
    pub(crate) done: &'a AtomicUsize,
    pub(crate) total: usize,
}

impl Watch for StageProgress<'_> {
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()> {
        // A fold that was thought to need no training may turn out to need one.
        let done = self.done.load(Ordering::Relaxed).min(self.total);
        self.watch.tick(&CvProgress { stage: self.stage, done, total: self.total, solver: *progress })
    }
}

/// Forwards the progress of one of several machines, or of one of several values of C, as progress
/// of the study.
pub(crate) struct MachineProgress<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    pub(crate) machine: usize,
    pub(crate) machines: usize,
    /// Number of values of C for each machine.
    pub(crate) values: usize,
    /// Machines that are done, summed over the values of C.
    pub(crate) done: &'a AtomicUsize,
}

impl CvWatch for MachineProgress<'_> {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        let total = self.machines * self.values;
        if total == 1 {
            return self.watch.tick(progress);
        }
        let stage = if self.machines == 1 { progress.stage } else { Stage::Machine(self.machine) };
        self.watch.tick(&CvProgress { stage, done: self.done.load(Ordering::Relaxed), total, ..*progress })
    }
}

/// Forwards the progress of one column of a grid as progress of all its cells.
pub(crate) struct ColumnProgress<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    /// Cells that are done, for each column.
    pub(crate) done: &'a [AtomicUsize],
    pub(crate) column: usize,
    /// Cells of this column that were done before the run.
    pub(crate) first: usize,
    /// Number of cells of this column.
    pub(crate) cells: usize,
    /// Number of cells of all columns.
    pub(crate) total: usize,
}

impl CvWatch for ColumnProgress<'_> {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        let here = self.first + (self.cells - self.first) * progress.done / progress.total.max(1);
        self.done[self.column].fetch_max(here, Ordering::Relaxed);
        let done = self.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        self.watch.tick(&CvProgress { done, total: self.total, ..*progress })
    }
}
