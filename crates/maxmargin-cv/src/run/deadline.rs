//! The limits of a study: the end of training, and the grace period for certificates.

use crate::run::error::CvError;
use crate::run::watch::{CvProgress, CvWatch, StageProgress};
use maxmargin_core::{Progress, Solution, Status, Stop, Watch};
use maxmargin_data::Par;
use maxmargin_kernel::{KernelError, Space};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Certificates may be computed for this long after the deadline, or for this share of the time
/// until then if that is longer.
const GRACE: (Duration, u32) = (Duration::from_millis(400), 12);

/// Rows and columns of the block of exact kernel values that is timed to estimate an audit.
const PROBE: (usize, usize) = (8, 1024);

/// Factor on the time of the kernel values: an audit does a little more than compute them.
const MORE: f64 = 1.25;

/// The start of a study and the end of its trainings.
#[derive(Debug)]
pub(crate) struct Deadline {
    begun: Instant,
    max_time: Option<Duration>,
    /// The time at which the caller cancelled the study.
    ended: OnceLock<Instant>,
    /// Set once a training ended early to leave time for its certificate. No training begins
    /// afterwards.
    closed: AtomicBool,
}

impl Deadline {
    /// The deadline of a study that began at `begun`.
    pub(crate) fn new(begun: Instant, stop: &Stop) -> Self {
        Self { begun, max_time: stop.max_time, ended: OnceLock::new(), closed: AtomicBool::new(false) }
    }

    /// Records that the caller cancelled the study.
    pub(crate) fn end(&self) {
        let _ = self.ended.set(Instant::now());
    }

    /// Returns true if the time limit has passed, the caller has cancelled, or the remaining time
    /// is reserved for certificates.
    pub(crate) fn is_over(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
            || self.ended.get().is_some()
            || self.max_time.is_some_and(|limit| self.begun.elapsed() >= limit)
    }

    /// Returns whether preparatory work before a training may continue. Reports to `watch` that the
    /// study is under way.
    pub(crate) fn may_continue(&self, watch: &dyn CvWatch) -> bool {
        if !self.is_over() && watch.tick(&CvProgress::default()).is_break() {
            self.end();
        }
        !self.is_over()
    }

    /// Converts a kernel's error to one of the study.
    pub(crate) fn error(&self, error: KernelError) -> CvError {
        if let KernelError::Cancelled(_) = error { CvError::Ended(self.status()) } else { error.into() }
    }

    /// The status that the end of this study gives to a training.
    pub(crate) fn status(&self) -> Status {
        if self.ended.get().is_some() { Status::Interrupted } else { Status::TimeLimit }
    }

    /// Returns whether the computation of certificates may continue.
    pub(crate) fn may_certify(&self) -> bool {
        let end = match (self.ended.get(), self.max_time) {
            (Some(ended), _) => ended.duration_since(self.begun),
            (None, Some(limit)) => limit,
            (None, None) => return true,
        };
        self.begun.elapsed() < end + GRACE.0.max(end / GRACE.1)
    }

    /// The watch of one training in `space`. It leaves time for the audit.
    pub(crate) fn watch<'a>(&'a self, progress: StageProgress<'a>, space: Space, par: Par) -> DeadlineWatch<'a> {
        let audit_seconds = self.max_time.map_or(0.0, |_| seconds_per_vector(space, par));
        DeadlineWatch { deadline: self, progress, audit_seconds, samples: space.len() as u64, late: false }
    }
}

/// Estimated seconds that an audit takes for each support vector.
fn seconds_per_vector(space: Space, par: Par) -> f64 {
    let Some(rows) = space.rows() else { return 0.0 };
    let (ids, columns) = ((0..space.len().min(PROBE.0)).collect::<Vec<_>>(), space.len().min(PROBE.1));
    let mut block = vec![0.0; ids.len() * columns];
    let begun = Instant::now();
    rows.gram().fill_exact(&ids, 0..columns, &mut block);
    MORE * begun.elapsed().as_secs_f64() / block.len().max(1) as f64 * space.len() as f64 / par.threads() as f64
}

/// Forwards the progress of one training, and ends it when the remaining time is what its audit
/// needs. The number of computed kernel rows bounds the number of support vectors, since a solver
/// computes the row of each of them.
pub(crate) struct DeadlineWatch<'a> {
    deadline: &'a Deadline,
    progress: StageProgress<'a>,
    /// Estimated seconds of the audit for each support vector.
    audit_seconds: f64,
    samples: u64,
    /// Set once the training was ended to leave time for its audit.
    late: bool,
}

impl DeadlineWatch<'_> {
    /// Returns the solution with the status that says why this watch ended it.
    pub(crate) fn with_reason(&self, mut solution: Solution) -> Solution {
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
        let reserve = Duration::from_secs_f64(self.audit_seconds * rows.min(self.samples) as f64);
        self.late = self.deadline.max_time.is_some_and(|limit| self.deadline.begun.elapsed() + reserve >= limit);
        if self.late { ControlFlow::Break(()) } else { self.progress.tick(progress) }
    }
}
