//! The limits of a study: until when it may train, and until when what is found may be judged.

use crate::run::error::CvError;
use crate::run::watch::{CvProgress, CvWatch, StageProgress};
use maxmargin_core::{Progress, Solution, Status, Stop, Watch};
use maxmargin_data::Par;
use maxmargin_kernel::{KernelError, Space};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A judgement may come so much after the end, at least, or by this share of all time before.
const GRACE: (Duration, u32) = (Duration::from_millis(400), 12);

/// Rows and columns of the block of exact kernel values that tells what an audit takes.
const PROBE: (usize, usize) = (8, 1024);

/// An audit does a little more than compute kernel values.
const MORE: f64 = 1.25;

/// When a study began and when it is over.
#[derive(Debug)]
pub(crate) struct Deadline {
    begun: Instant,
    most: Option<Duration>,
    /// When somebody ended it before.
    ended: OnceLock<Instant>,
    /// Set once a training had to leave what is left to its judgement: none begins after that.
    closed: AtomicBool,
}

impl Deadline {
    /// A study that began at `begun`.
    pub(crate) fn new(begun: Instant, stop: &Stop) -> Self {
        Self { begun, most: stop.max_time, ended: OnceLock::new(), closed: AtomicBool::new(false) }
    }

    /// Notes that the caller wants no more.
    pub(crate) fn end(&self) {
        let _ = self.ended.set(Instant::now());
    }

    /// Whether its time is over, up to what judgements need of it, or somebody has ended it.
    pub(crate) fn is_over(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
            || self.ended.get().is_some()
            || self.most.is_some_and(|most| self.begun.elapsed() >= most)
    }

    /// Whether to go on with what comes before a training. `watch` is told that it is under way.
    pub(crate) fn may_continue(&self, watch: &dyn CvWatch) -> bool {
        if !self.is_over() && watch.tick(&CvProgress::default()).is_break() {
            self.end();
        }
        !self.is_over()
    }

    /// What a kernel's error means for the study.
    pub(crate) fn error(&self, error: KernelError) -> CvError {
        if let KernelError::Halted(_) = error { CvError::Ended(self.status()) } else { error.into() }
    }

    /// Why it is over.
    pub(crate) fn status(&self) -> Status {
        if self.ended.get().is_some() { Status::Interrupted } else { Status::TimeLimit }
    }

    /// Whether a judgement may still take its time.
    pub(crate) fn may_certify(&self) -> bool {
        let end = match (self.ended.get(), self.most) {
            (Some(ended), _) => ended.duration_since(self.begun),
            (None, Some(most)) => most,
            (None, None) => return true,
        };
        self.begun.elapsed() < end + GRACE.0.max(end / GRACE.1)
    }

    /// The watch of one training in `space`, which leaves time for the audit.
    pub(crate) fn watch<'a>(&'a self, relay: StageProgress<'a>, space: Space, par: Par) -> DeadlineWatch<'a> {
        let audit = self.most.map_or(0.0, |_| seconds_per_vector(space, par));
        DeadlineWatch { deadline: self, relay, audit, most: space.len() as u64, late: false }
    }
}

/// What the audit takes for each support vector.
fn seconds_per_vector(space: Space, par: Par) -> f64 {
    let Some(rows) = space.rows() else { return 0.0 };
    let (ids, columns) = ((0..space.len().min(PROBE.0)).collect::<Vec<_>>(), space.len().min(PROBE.1));
    let mut block = vec![0.0; ids.len() * columns];
    let begun = Instant::now();
    rows.gram().fill_exact(&ids, 0..columns, &mut block);
    MORE * begun.elapsed().as_secs_f64() / block.len().max(1) as f64 * space.len() as f64 / par.threads() as f64
}

/// Passes progress on, and ends a training when what is left of the limit is what its audit will
/// take: whoever is a support vector had its row computed.
pub(crate) struct DeadlineWatch<'a> {
    deadline: &'a Deadline,
    relay: StageProgress<'a>,
    audit: f64,
    most: u64,
    late: bool,
}

impl DeadlineWatch<'_> {
    /// The solution, with the reason for which this watch ended it.
    pub(crate) fn told(&self, mut solution: Solution) -> Solution {
        match solution.status {
            Status::Interrupted if self.late => {
                solution.status = Status::TimeLimit;
                self.deadline.closed.store(true, Ordering::Relaxed);
            }
            Status::Interrupted => self.deadline.end(),
            _ => {}
        }
        solution
    }
}

impl Watch for DeadlineWatch<'_> {
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()> {
        let rows = if progress.owed > 0 { progress.owed } else { progress.rows_computed };
        let reserve = Duration::from_secs_f64(self.audit * rows.min(self.most) as f64);
        self.late = self.deadline.most.is_some_and(|most| self.deadline.begun.elapsed() + reserve >= most);
        if self.late { ControlFlow::Break(()) } else { self.relay.tick(progress) }
    }
}
