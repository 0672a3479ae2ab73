//! Control of a run: cancellation, limits and progress of long work.

use super::progress::Progress;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Operations between two checks, about: some hundredths of a second at most, on any machine.
const BETWEEN: u64 = 1 << 24;

/// The run has ended before the work was done: the work under way has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cancelled before it was done")]
pub struct Cancelled;

/// The reason why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The observer of progress cancelled the run.
    Cancelled,
    /// The time limit has passed.
    TimeLimit,
    /// The limit of iterations is reached.
    IterationLimit,
}

type Observer<'a> = Box<dyn Fn(&Progress) -> ControlFlow<()> + Send + Sync + 'a>;
type Tag<'a> = Box<dyn Fn(&Progress) -> Progress + Send + Sync + 'a>;
type Reserve<'a> = Box<dyn Fn(&Progress) -> Duration + Send + Sync + 'a>;

/// The last event of a control, and the time of the last report.
#[derive(Default)]
struct LastReport {
    progress: Progress,
    at: Option<Duration>,
}

/// The control of a run: cancellation, limits of time and iterations, and progress.
///
/// Long work calls [`check`](Self::check), solvers call [`progress`](Self::progress). Both fail
/// once the run has ended, which is final. A part of a run, such as a fold, has a
/// [`child`](Self::child): its events are tagged with the part, and it ends with the run. Work is
/// counted in operations, not in time, so that the same run checks at the same places.
///
/// ```
/// use maxmargin_data::{Cancelled, Progress, RunControl, Stage};
/// use std::ops::ControlFlow;
///
/// let mut seen = Vec::new();
/// let control = RunControl::new(|progress| {
///     seen.push((progress.stage, progress.iterations));
///     if progress.iterations < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// });
/// let fold = control.child(|progress| Progress { stage: Stage::Fold(3), ..*progress });
/// assert_eq!(fold.progress(&Progress { iterations: 10, ..Progress::default() }), Ok(()));
/// assert_eq!(fold.progress(&Progress { iterations: 20, ..Progress::default() }), Err(Cancelled));
/// assert_eq!((fold.check(1), control.check(1)), (Err(Cancelled), Err(Cancelled)));
/// drop(fold);
/// drop(control);
/// assert_eq!(seen, [(Stage::Fold(3), 10), (Stage::Fold(3), 20)]);
/// ```
pub struct RunControl<'a> {
    observer: Option<Observer<'a>>,
    parent: Option<&'a RunControl<'a>>,
    tag: Option<Tag<'a>>,
    begun: Instant,
    max_time: Option<Duration>,
    max_iterations: Option<u64>,
    /// The part of `max_time` that work after the run needs.
    reserve: Option<Reserve<'a>>,
    /// The time for which this run may outlast its parent: at least, or this share of the parent's
    /// time.
    grace: Option<(Duration, u32)>,
    /// The time between two reports.
    pause: Duration,
    traced: bool,
    operations: AtomicU64,
    /// The first reason to end, and the time since `begun`.
    ended: OnceLock<(EndReason, Duration)>,
    last: Mutex<LastReport>,
}

impl<'a> RunControl<'a> {
    /// A run that never ends early and reports nothing.
    pub fn unlimited() -> Self {
        Self {
            observer: None,
            parent: None,
            tag: None,
            begun: Instant::now(),
            max_time: None,
            max_iterations: None,
            reserve: None,
            grace: None,
            pause: Duration::ZERO,
            traced: false,
            operations: AtomicU64::new(0),
            ended: OnceLock::new(),
            last: Mutex::default(),
        }
    }

    /// A run that reports to `observer`, whose `Break` cancels it. Calls from several threads come
    /// one after another. The observer must not use the control itself.
    pub fn new(observer: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Self {
        let observer = Mutex::new(observer);
        let observer: Observer<'a> = Box::new(move |progress| (*lock(&observer))(progress));
        Self { observer: Some(observer), ..Self::unlimited() }
    }

    /// A part of this run. It ends with the run, and its events pass through `tag` to the run.
    #[must_use]
    pub fn child<'b>(&'b self, tag: impl Fn(&Progress) -> Progress + Send + Sync + 'b) -> RunControl<'b> {
        RunControl { parent: Some(self), tag: Some(Box::new(tag)), traced: self.traced, ..RunControl::unlimited() }
    }

    /// The control of work that completes results of an ended run, such as certificates. It
    /// continues for `least` after the end of this run, or for `1/share` of its time if that is
    /// longer.
    #[must_use]
    pub fn grace<'b>(
        &'b self,
        least: Duration,
        share: u32,
        tag: impl Fn(&Progress) -> Progress + Send + Sync + 'b,
    ) -> RunControl<'b> {
        RunControl { grace: Some((least, share)), ..self.child(tag) }
    }

    /// Ends the run after this time. The time counts from the creation of the control.
    #[must_use]
    pub fn limit_time(self, max_time: Option<Duration>) -> Self {
        Self { max_time, ..self }
    }

    /// Ends the run after so many iterations ([`RunControl::reached`]).
    #[must_use]
    pub fn limit_iterations(self, max_iterations: Option<u64>) -> Self {
        Self { max_iterations, ..self }
    }

    /// Ends the run before its time limit, or that of the run it is a part of, by the time that
    /// `reserve` returns for its present progress.
    #[must_use]
    pub fn reserve_time(self, reserve: impl Fn(&Progress) -> Duration + Send + Sync + 'a) -> Self {
        Self { reserve: Some(Box::new(reserve)), ..self }
    }

    /// Reports at most once in this time.
    #[must_use]
    pub fn report_every(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Asks solvers of this run to report every iteration. Each then costs a reading of the clock.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { traced: true, ..self }
    }

    /// Returns true if anybody observes this run, or a run that it is a part of.
    pub fn is_observed(&self) -> bool {
        self.observer.is_some() || self.parent.is_some_and(RunControl::is_observed)
    }

    /// Returns true if every iteration is to be reported.
    pub fn is_traced(&self) -> bool {
        self.traced
    }

    /// Counts `operations` of work, done or about to be done, and checks once many have come
    /// together.
    ///
    /// # Errors
    ///
    /// When the run has ended.
    #[inline]
    pub fn check(&self, operations: u64) -> Result<(), Cancelled> {
        // Counts that threads lose to each other only delay a check.
        let counted = self.operations.load(Ordering::Relaxed).saturating_add(operations);
        self.operations.store(counted, Ordering::Relaxed);
        if counted >= BETWEEN { self.check_now() } else { self.state() }
    }

    /// Checks at once, and reports the last progress again.
    ///
    /// # Errors
    ///
    /// When the run has ended.
    pub fn check_now(&self) -> Result<(), Cancelled> {
        self.operations.store(0, Ordering::Relaxed);
        let progress = lock(&self.last).progress;
        self.progress(&progress)
    }

    /// Reports `progress` and checks at once.
    ///
    /// # Errors
    ///
    /// When the run has ended.
    pub fn progress(&self, progress: &Progress) -> Result<(), Cancelled> {
        if self.ended.get().is_none() && (self.observer.is_some() || self.parent.is_some() || self.max_time.is_some()) {
            let elapsed = self.begun.elapsed();
            let is_due = {
                let mut last = lock(&self.last);
                last.progress = *progress;
                let is_due = last.at.is_none_or(|at| elapsed.saturating_sub(at) >= self.pause);
                if is_due {
                    last.at = Some(elapsed);
                }
                is_due
            };
            self.check_time(progress);
            if is_due && self.ended.get().is_none() {
                self.report(progress);
            }
        }
        self.state()
    }

    /// Sets the progress that checks report, without a report.
    pub fn set_progress(&self, progress: &Progress) {
        lock(&self.last).progress = *progress;
    }

    /// Returns true if `iterations` reach the limit, which then ends the run.
    #[inline]
    pub fn reached(&self, iterations: u64) -> bool {
        let reached = self.max_iterations.is_some_and(|most| iterations >= most);
        if reached {
            self.end(EndReason::IterationLimit);
        }
        reached
    }

    /// Ends the run; the first reason stays.
    pub fn end(&self, reason: EndReason) {
        let _ = self.ended.set((reason, self.begun.elapsed()));
    }

    /// The reason why the run has ended, if it has. Does not read the time.
    pub fn ended(&self) -> Option<EndReason> {
        let own = self.ended.get().map(|(reason, _)| *reason);
        own.or_else(|| self.parent.filter(|_| self.grace.is_none()).and_then(RunControl::ended))
    }

    /// Returns true if the run has ended or a time limit has passed. Reports nothing.
    pub fn is_over(&self) -> bool {
        let progress = lock(&self.last).progress;
        self.check_time(&progress);
        self.ended().is_some()
    }

    /// The time until the limit of this run, or of a run that it is a part of; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        let own = self.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        let above = self.parent.filter(|_| self.grace.is_none()).and_then(RunControl::time_left);
        own.into_iter().chain(above).min()
    }

    /// Operations between two checks: the size of a piece of work that cannot stop inside.
    pub const fn operations_between_checks() -> u64 {
        BETWEEN
    }

    #[inline]
    fn state(&self) -> Result<(), Cancelled> {
        if self.ended().is_some() { Err(Cancelled) } else { Ok(()) }
    }

    /// Ends the run if too little time is left.
    fn check_time(&self, progress: &Progress) {
        let Some(left) = self.time_left() else { return };
        let reserve = self.reserve.as_ref().map_or(Duration::ZERO, |reserve| reserve(progress));
        if left <= reserve {
            self.end(EndReason::TimeLimit);
        }
    }

    /// Passes an event up to the observer, and ends this run if the run above has ended.
    fn report(&self, progress: &Progress) {
        if self.observer.as_ref().is_some_and(|observer| observer(progress).is_break()) {
            self.end(EndReason::Cancelled);
        }
        let Some(parent) = self.parent else { return };
        let tagged = self.tag.as_ref().map_or(*progress, |tag| tag(progress));
        if parent.ended().is_none() {
            parent.check_time(&tagged);
        }
        if parent.ended().is_none() {
            parent.report(&tagged);
        }
        let Some(reason) = parent.ended() else { return };
        if self.grace.is_none_or(|(least, share)| parent.overtime() >= least.max(parent.lasted() / share)) {
            self.end(reason);
        }
    }

    /// The duration of an ended run: its time limit, or the time of its cancellation.
    fn lasted(&self) -> Duration {
        if let (Some((EndReason::TimeLimit, _)), Some(limit)) = (self.ended.get(), self.max_time) {
            return limit;
        }
        match self.parent.filter(|parent| parent.ended().is_some()) {
            Some(parent) => parent.lasted().saturating_sub(self.begun.saturating_duration_since(parent.begun)),
            None => self.ended.get().map_or_else(|| self.begun.elapsed(), |(_, at)| *at),
        }
    }

    /// The time since the end of an ended run.
    fn overtime(&self) -> Duration {
        self.begun.elapsed().saturating_sub(self.lasted())
    }
}

/// Locks a mutex. Poisoning is ignored: a panic of an observer propagates anyway.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
