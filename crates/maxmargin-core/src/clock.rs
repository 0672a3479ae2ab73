//! Limits and reports while a run goes on.

use crate::dual::Dual;
use crate::gradient::exact_gradient_asking;
use crate::solution::Status;
use crate::watch::{Progress, Stop, Watch};
use maxmargin_data::{Asking, Halted};
use maxmargin_kernel::{Exact, Rows};
use std::time::{Duration, Instant};

/// Iterations between looks at the clock.
const LOOK: u64 = 64;

/// Between two reports to the watch.
const REPORT: Duration = Duration::from_millis(50);

/// What an ended run may take for its result, at least.
const LAST: Duration = Duration::from_millis(250);

/// The limits of a run and who is told on the way.
pub struct Clock<'a, 'g> {
    rows: &'a Rows<'g>,
    stop: &'a Stop,
    watch: &'a mut dyn Watch,
    begun: Instant,
    reported: Option<Duration>,
    /// Steps of all kinds.
    pub iterations: u64,
    /// [`Progress::owed`]: whoever computes rows that the store does not know of says so here.
    pub owed: u64,
    /// The first reason to end stays.
    ended: Option<Status>,
}

impl<'a, 'g> Clock<'a, 'g> {
    /// The clock of a run that begins now.
    pub fn new(rows: &'a Rows<'g>, stop: &'a Stop, watch: &'a mut dyn Watch) -> Self {
        Self { rows, stop, watch, begun: Instant::now(), reported: None, iterations: 0, owed: 0, ended: None }
    }

    /// Why the run must end before the next step, if it must. Looks at the clock now and then only.
    #[inline]
    pub fn ended(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_none() && self.stop.max_iter.is_some_and(|most| self.iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        }
        if self.ended.is_some() || !self.iterations.is_multiple_of(LOOK) { self.ended } else { self.look(violation) }
    }

    /// [`Clock::ended`] with a look at the clock, after long work.
    pub fn look(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_some() {
            return self.ended;
        }
        let elapsed = self.begun.elapsed();
        if self.stop.max_time.is_some_and(|most| elapsed >= most) {
            self.ended = Some(Status::TimeLimit);
        } else if self.reported.is_none_or(|last| elapsed.saturating_sub(last) >= REPORT) {
            self.reported = Some(elapsed);
            let rows_computed = self.rows.work().computed;
            let (iterations, tol, owed) = (self.iterations, self.stop.goal.tol(), self.owed);
            let progress = Progress { iterations, violation, tol, rows_computed, owed };
            if self.watch.tick(&progress).is_break() {
                self.ended = Some(Status::Interrupted);
            }
        }
        self.ended
    }

    /// Does long work that asks by this clock whether to go on.
    ///
    /// # Errors
    ///
    /// When it was called off, with the reason, which stays.
    pub fn asked<T>(&mut self, violation: f64, work: impl FnOnce(&Asking) -> Result<T, Halted>) -> Result<T, Status> {
        let done = {
            let mut go_on = || self.look(violation).is_none();
            work(&Asking::new(&mut go_on))
        };
        // Nobody else calls it off.
        done.map_err(|Halted| self.ended.unwrap_or(Status::Interrupted))
    }

    /// [`crate::exact_gradient`] by this clock.
    ///
    /// # Errors
    ///
    /// As [`Clock::asked`].
    pub fn exact_gradient<'e>(
        &mut self,
        dual: &Dual,
        source: impl Into<Exact<'e>>,
        alpha: &[f64],
        violation: f64,
    ) -> Result<Vec<f64>, Status> {
        let par = self.rows.par();
        self.asked(violation, |asking| exact_gradient_asking(dual, source, alpha, par, asking))
    }

    /// Does what makes the result of an ended run one: a twentieth of the time so far, or a quarter of a second, is there for it. Nothing when it did
    /// not suffice.
    pub fn last_words<T>(&self, work: impl FnOnce(&Asking) -> Result<T, Halted>) -> Option<T> {
        let begun = Instant::now();
        let most = (self.begun.elapsed() / 20).max(LAST);
        let mut go_on = || begun.elapsed() < most;
        work(&Asking::new(&mut go_on)).ok()
    }
}
