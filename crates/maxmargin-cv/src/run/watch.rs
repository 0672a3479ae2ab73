//! Progress of a study, told from several threads at once.

use maxmargin_core::{Progress, Watch};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a study is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Training on all data.
    #[default]
    Full,
    /// Training this fold.
    Fold(usize),
    /// Training this machine of several.
    Machine(usize),
    /// Judging solutions: recomputing everything in `f64`.
    Certify {
        /// Samples that are done.
        judged: usize,
        /// All samples.
        samples: usize,
    },
}

/// Progress of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CvProgress {
    /// What is being done.
    pub stage: Stage,
    /// Folds solved, or machines, where there are several.
    pub done: usize,
    /// Folds, or machines, in all.
    pub total: usize,
    /// The solver that reports.
    pub solver: Progress,
}

/// Receives progress from any thread; may end the run.
pub trait CvWatch: Sync {
    /// `Break` ends every training as soon as it can; what is known is still reported.
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()>;
}

/// Says nothing, never stops.
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

/// Passes a solver's progress on as progress of the whole.
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

/// Passes the progress of one of several machines, or of one of several values of C, on as progress
/// of the whole.
pub(crate) struct MachineProgress<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    pub(crate) machine: usize,
    pub(crate) machines: usize,
    /// Values of C for each machine.
    pub(crate) values: usize,
    /// Machines that are done, of each value.
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

/// Passes the progress of one column of a grid on as progress of all its cells.
pub(crate) struct ColumnProgress<'a> {
    pub(crate) watch: &'a dyn CvWatch,
    /// Cells that are done of each column.
    pub(crate) done: &'a [AtomicUsize],
    pub(crate) column: usize,
    /// Cells of the column that were done before.
    pub(crate) first: usize,
    /// Cells of the column.
    pub(crate) cells: usize,
    /// Cells of all columns.
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
