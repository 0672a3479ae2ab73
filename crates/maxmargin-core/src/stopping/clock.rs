//! Limits and progress reports during a run.

use crate::certificate::gradient::exact_gradient_controlled;
use crate::problem::dual::Dual;
use crate::problem::solution::Status;
use crate::stopping::pace::Pace;
use crate::stopping::watch::{Progress, Stop, Watch};
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_kernel::{Exact, Rows};
use std::time::{Duration, Instant};

/// Iterations between two looks at the clock: a power of two.
const LOOK: u64 = 64;

/// The time between two reports to the watch.
const REPORT: Duration = Duration::from_millis(50);

/// The least time that an ended run may take for its result.
const LAST: Duration = Duration::from_millis(250);

/// The limits of a run and the receiver of its progress.
pub struct Clock<'a, 'g> {
    rows: &'a Rows<'g>,
    stop: &'a Stop,
    watch: &'a mut dyn Watch,
    begun: Instant,
    reported: Option<Duration>,
    /// A mask of the iteration count: the clock is read where the masked bits are 0.
    between: u64,
    /// The time between two reports.
    pause: Duration,
    /// The number of steps of all kinds.
    pub iterations: u64,
    /// See [`Progress::owed`]. Solvers that compute rows outside the store set it.
    pub owed: u64,
    /// The first reason to end; later ones do not replace it.
    ended: Option<Status>,
    pace: Pace,
    /// The total price of the steps counted by [`Clock::step`].
    spent: u64,
}

/// Returns the price in nanoseconds of a step whose passes read so many kernel values. It is fitted
/// to 6.9 million steps over 3,089 values, which took 1,010 each.
const fn price(values: usize) -> u64 {
    100 + values as u64 / 3
}

impl<'a, 'g> Clock<'a, 'g> {
    /// Starts the clock of a run.
    pub fn new(rows: &'a Rows<'g>, stop: &'a Stop, watch: &'a mut dyn Watch) -> Self {
        let (between, pause) = if watch.follows() { (0, Duration::ZERO) } else { (LOOK - 1, REPORT) };
        let samples = rows.gram().len();
        let pace = Pace::new(samples, price(samples));
        Self {
            rows,
            stop,
            watch,
            begun: Instant::now(),
            reported: None,
            between,
            pause,
            iterations: 0,
            owed: 0,
            ended: None,
            pace,
            spent: 0,
        }
    }

    /// Returns true if the watch receives every iteration ([`Watch::follows`]).
    pub fn follows(&self) -> bool {
        self.between == 0
    }

    /// Returns the reason why the run must end before the next step, if there is one. Reads the
    /// time only now and then.
    #[inline]
    pub fn ended(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_none() && self.stop.max_iter.is_some_and(|most| self.iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        }
        if self.ended.is_some() || self.iterations & self.between != 0 { self.ended } else { self.look(violation) }
    }

    /// Counts an iteration whose passes read so many kernel values.
    #[inline]
    pub fn step(&mut self, values: usize) {
        self.iterations += 1;
        self.spent += price(values);
    }

    /// Like [`Clock::ended`], for solvers without a limit of their own: returns [`Status::Slow`] if
    /// the goal is out of reach at this pace. `measure` must be new and of the whole problem.
    /// `Slow` is not remembered, so that the work for the result continues.
    #[inline]
    pub fn ended_or_slow(&mut self, measure: f64) -> Option<Status> {
        let slow = self.pace.is_hopeless(self.spent, measure, self.stop);
        self.ended(measure).or(slow.then_some(Status::Slow))
    }

    /// Like [`Clock::ended`], but always reads the time: for use after long work.
    pub fn look(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_some() {
            return self.ended;
        }
        let elapsed = self.begun.elapsed();
        if self.stop.max_time.is_some_and(|most| elapsed >= most) {
            self.ended = Some(Status::TimeLimit);
        } else if self.reported.is_none_or(|last| elapsed.saturating_sub(last) >= self.pause) {
            self.reported = Some(elapsed);
            let rows_computed = self.rows.work().computed;
            let (iterations, tol, owed) = (self.iterations, self.stop.goal.tol(), self.owed);
            let progress = Progress { iterations, violation, tol, rows_computed, owed, gained: 0.0 };
            if self.watch.tick(&progress).is_break() {
                self.ended = Some(Status::Interrupted);
            }
        }
        self.ended
    }

    /// Runs long work that checks this clock for cancellation.
    ///
    /// # Errors
    ///
    /// When the work is cancelled, with the reason, which stays.
    pub fn asked<T>(&mut self, violation: f64, work: impl FnOnce(&RunControl) -> Result<T, Cancelled>) -> Result<T, Status> {
        let done = {
            let mut go_on = || self.look(violation).is_none();
            work(&RunControl::new(&mut go_on))
        };
        // Only this clock cancels the work.
        done.map_err(|Cancelled| self.ended.unwrap_or(Status::Interrupted))
    }

    /// Computes [`crate::exact_gradient`] under this clock.
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
        self.asked(violation, |control| exact_gradient_controlled(dual, source, alpha, par, control))
    }

    /// Runs the final work of an ended run within a twentieth of its time, or a quarter of a
    /// second. Returns `None` if that was too little.
    pub fn last_words<T>(&self, work: impl FnOnce(&RunControl) -> Result<T, Cancelled>) -> Option<T> {
        let begun = Instant::now();
        let most = (self.begun.elapsed() / 20).max(LAST);
        let mut go_on = || begun.elapsed() < most;
        work(&RunControl::new(&mut go_on)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::watch::Silent;
    use maxmargin_data::Par;
    use maxmargin_kernel::FnGram;
    use std::ops::ControlFlow;

    /// Records the iterations of all reports.
    struct Noted(Vec<u64>);

    impl Watch for Noted {
        fn tick(&mut self, progress: &Progress) -> ControlFlow<()> {
            self.0.push(progress.iterations);
            ControlFlow::Continue(())
        }

        fn follows(&self) -> bool {
            true
        }
    }

    #[test]
    fn who_follows_is_told_of_every_iteration_and_others_of_few() {
        let gram = FnGram::new(2, |i, j| if i == j { 1.0 } else { 0.0 });
        let (rows, stop) = (Rows::new(&gram, u64::MAX, Par::Seq), Stop::at(1e-3));
        let run = |watch: &mut dyn Watch| {
            let mut clock = Clock::new(&rows, &stop, watch);
            for _ in 0..200 {
                assert_eq!(clock.ended(1.0), None);
                clock.iterations += 1;
            }
        };
        let mut noted = Noted(Vec::new());
        run(&mut noted);
        assert!(noted.0.into_iter().eq(0..200));
        let mut few = 0;
        run(&mut |progress: &Progress| {
            assert!(progress.iterations.is_multiple_of(LOOK), "{progress:?}");
            few += 1;
            ControlFlow::Continue(())
        });
        assert!((1..=4).contains(&few), "{few}");
        assert!(!Silent.follows() && LOOK.is_power_of_two());
    }
}
