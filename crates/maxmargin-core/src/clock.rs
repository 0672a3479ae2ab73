//! Limits and reports while a run goes on.

use crate::dual::Dual;
use crate::gradient::exact_gradient_asking;
use crate::pace::Pace;
use crate::solution::Status;
use crate::watch::{Progress, Stop, Watch};
use maxmargin_data::{Asking, Halted};
use maxmargin_kernel::{Exact, Rows};
use std::time::{Duration, Instant};

/// Iterations between looks at the clock: a power of two.
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
    /// Bits of the iterations that are 0 where it looks at the clock.
    between: u64,
    /// Between two reports.
    pause: Duration,
    /// Steps of all kinds.
    pub iterations: u64,
    /// [`Progress::owed`]: whoever computes rows that the store does not know of says so here.
    pub owed: u64,
    /// The first reason to end stays.
    ended: Option<Status>,
    pace: Pace,
    /// The prices of all steps that say what they are over ([`Clock::step`]).
    spent: u64,
}

/// The price of a step whose passes go over so many kernel values, in nanoseconds: of 6.9 million
/// steps over 3,089 values each takes 1,010.
const fn price(values: usize) -> u64 {
    100 + values as u64 / 3
}

impl<'a, 'g> Clock<'a, 'g> {
    /// The clock of a run that begins now.
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

    /// Whether somebody is told of every iteration ([`Watch::follows`]).
    pub fn follows(&self) -> bool {
        self.between == 0
    }

    /// Why the run must end before the next step, if it must. Looks at the clock now and then only.
    #[inline]
    pub fn ended(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_none() && self.stop.max_iter.is_some_and(|most| self.iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        }
        if self.ended.is_some() || self.iterations & self.between != 0 { self.ended } else { self.look(violation) }
    }

    /// Counts an iteration whose passes go over so many kernel values.
    #[inline]
    pub fn step(&mut self, values: usize) {
        self.iterations += 1;
        self.spent += price(values);
    }

    /// [`Clock::ended`] for solvers without a limit of their own, where `measure` is one of the
    /// whole problem and new: [`Status::Slow`] where the goal is out of reach at this pace. That
    /// does not stay: what makes the point a result goes on.
    #[inline]
    pub fn ended_or_slow(&mut self, measure: f64) -> Option<Status> {
        let slow = self.pace.is_hopeless(self.spent, measure, self.stop);
        self.ended(measure).or(slow.then_some(Status::Slow))
    }

    /// [`Clock::ended`] with a look at the clock, after long work.
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

    /// Does what makes the result of an ended run one: a twentieth of the time so far, or a quarter
    /// of a second, is there for it. Nothing when it did not suffice.
    pub fn last_words<T>(&self, work: impl FnOnce(&Asking) -> Result<T, Halted>) -> Option<T> {
        let begun = Instant::now();
        let most = (self.begun.elapsed() / 20).max(LAST);
        let mut go_on = || begun.elapsed() < most;
        work(&Asking::new(&mut go_on)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Silent;
    use maxmargin_data::Par;
    use maxmargin_kernel::FnGram;
    use std::ops::ControlFlow;

    /// Notes the iterations that it is told of.
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
