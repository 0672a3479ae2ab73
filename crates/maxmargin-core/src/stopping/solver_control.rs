//! The control of a solver over kernel rows: its limits, counts and reports.

use crate::certificate::certify::shift;
use crate::certificate::gradient::exact_gradient;
use crate::problem::dual::Dual;
use crate::problem::solution::Status;
use crate::stopping::goal::gap_at;
use crate::stopping::pace::Pace;
use crate::stopping::stop::Stop;
use maxmargin_data::{Cancelled, Progress, RunControl};
use maxmargin_kernel::{Exact, Rows};
use std::time::{Duration, Instant};

/// Iterations between two readings of the clock: a power of two.
const BETWEEN: u64 = 64;

/// The time between two reports.
const REPORT: Duration = Duration::from_millis(50);

/// The time between two computations of the gap for reports. One takes some passes over the
/// variables.
const LOOK: Duration = Duration::from_millis(200);

/// The time that an ended run may take for its result: at least, or a share of its time.
const GRACE: (Duration, u32) = (Duration::from_millis(250), 20);

/// The [`RunControl`] of a solver over kernel rows: it counts iterations, enforces the limits of a
/// [`Stop`], and detects runs that are too slow.
pub struct SolverControl<'a, 'g> {
    rows: &'a Rows<'g>,
    stop: &'a Stop,
    control: RunControl<'a>,
    /// A mask of the iteration count: the clock is read where the masked bits are 0.
    mask: u64,
    /// The number of steps of all kinds.
    pub iterations: u64,
    /// See [`Progress::owed`]. Solvers that compute rows outside the store set it.
    pub owed: u64,
    /// False while the problem of a sample of the rows is being solved: its gap is not that of the
    /// whole problem.
    pub is_whole: bool,
    /// See [`Progress::gap`], and when it was computed or the run began.
    gap: Option<f64>,
    looked: Instant,
    /// The first reason to end; later ones do not replace it.
    ended: Option<Status>,
    pace: Pace,
    /// The total price of the steps counted by [`SolverControl::step`].
    spent: u64,
}

/// Returns the price in nanoseconds of a step whose passes read so many kernel values. It is fitted
/// to 6.9 million steps over 3,089 values, which took 1,010 each.
const fn price(values: usize) -> u64 {
    100 + values as u64 / 3
}

impl<'a, 'g> SolverControl<'a, 'g> {
    /// Begins the run of a solver as a part of `control`.
    pub fn new(rows: &'a Rows<'g>, stop: &'a Stop, control: &'a RunControl) -> Self {
        let (mask, pause) = if control.is_traced() { (0, Duration::ZERO) } else { (BETWEEN - 1, REPORT) };
        let samples = rows.gram().len();
        let count_rows = |progress: &Progress| Progress { rows_computed: rows.work().computed, ..*progress };
        let control = control.child(count_rows).report_every(pause);
        Self {
            rows,
            stop,
            control: control.limit_time(stop.max_time).limit_iterations(stop.max_iter),
            mask,
            iterations: 0,
            owed: 0,
            is_whole: true,
            gap: None,
            looked: Instant::now(),
            ended: None,
            pace: Pace::new(samples, price(samples)),
            spent: 0,
        }
    }

    /// Assumes a rate of the method: see [`Pace::limit_fall`].
    pub fn limit_fall(&mut self, fastest: f64) {
        self.pace.limit_fall(fastest);
    }

    /// Returns true if every iteration is to be reported ([`RunControl::traced`]).
    pub fn is_traced(&self) -> bool {
        self.mask == 0
    }

    /// Returns the reason why the run must end before the next step, if there is one. Reads the
    /// time only now and then.
    #[inline]
    pub fn ended(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_none() && self.control.reached(self.iterations) {
            self.ended = Some(Status::IterationLimit);
        }
        if self.ended.is_some() || self.iterations & self.mask != 0 { self.ended } else { self.check_now(violation) }
    }

    /// Computes the gap for the next reports, if there is an observer and the last one is old.
    /// `point` returns α and the gradient `Qα + lin` of all variables of `dual`.
    pub fn look(&mut self, dual: &Dual, point: impl FnOnce() -> (Vec<f64>, Vec<f64>)) {
        if self.is_whole
            && self.looked.elapsed() >= LOOK
            && self.control.is_observed()
            && shift(dual, self.rows.gram().into()) == 0.0
        {
            let (alpha, gradient) = point();
            self.gap = Some(gap_at(dual, &alpha, &gradient)).filter(|gap| gap.is_finite());
            self.looked = Instant::now();
        }
    }

    /// Counts an iteration whose passes read so many kernel values.
    #[inline]
    pub fn step(&mut self, values: usize) {
        self.iterations += 1;
        self.spent += price(values);
    }

    /// Like [`SolverControl::ended`], for solvers without a limit of their own: returns
    /// [`Status::Slow`] if the goal is out of reach at this pace. `measure` must be new and of the
    /// whole problem. `Slow` is not remembered, so that the work for the result continues.
    #[inline]
    pub fn ended_or_slow(&mut self, measure: f64) -> Option<Status> {
        let slow = self.pace.is_hopeless(self.spent, measure, self.stop);
        self.ended(measure).or(slow.then_some(Status::Slow))
    }

    /// Like [`SolverControl::ended`], but always reads the time: for use after long work.
    pub fn check_now(&mut self, violation: f64) -> Option<Status> {
        if self.ended.is_none() && self.control.progress(&self.progress(violation)).is_err() {
            self.ended = self.control.ended().map(Status::from);
        }
        self.ended
    }

    /// Runs long work under this control.
    ///
    /// # Errors
    ///
    /// When the run ended, with the reason, which stays.
    pub fn run<T>(&mut self, violation: f64, work: impl FnOnce(&RunControl) -> Result<T, Cancelled>) -> Result<T, Status> {
        self.control.set_progress(&self.progress(violation));
        work(&self.control).map_err(|Cancelled| {
            // Only this control cancels the work.
            let reason = self.control.ended().map_or(Status::Interrupted, Status::from);
            *self.ended.get_or_insert(reason)
        })
    }

    /// Computes [`crate::exact_gradient`] under this control.
    ///
    /// # Errors
    ///
    /// As [`SolverControl::run`].
    pub fn exact_gradient<'e>(
        &mut self,
        dual: &Dual,
        source: impl Into<Exact<'e>>,
        alpha: &[f64],
        violation: f64,
    ) -> Result<Vec<f64>, Status> {
        let par = self.rows.par();
        self.run(violation, |control| exact_gradient(dual, source, alpha, par, control))
    }

    /// Runs the final work of an ended run within a twentieth of its time, or a quarter of a
    /// second. Returns `None` if that was too little.
    pub fn run_final<T>(&self, work: impl FnOnce(&RunControl) -> Result<T, Cancelled>) -> Option<T> {
        work(&self.control.grace(GRACE.0, GRACE.1, |progress| *progress)).ok()
    }

    fn progress(&self, violation: f64) -> Progress {
        let Stop { goal, .. } = self.stop;
        Progress {
            iterations: self.iterations,
            violation,
            tol: goal.tol(),
            aims_at_gap: goal.kkt().is_none(),
            gap: self.gap,
            owed: self.owed,
            ..Progress::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::dual::EqualityConstraint;
    use maxmargin_data::Par;
    use maxmargin_kernel::FnGram;
    use std::ops::ControlFlow;

    #[test]
    fn a_traced_run_reports_every_iteration_and_others_report_few() {
        let gram = FnGram::new(2, |i, j| if i == j { 1.0 } else { 0.0 });
        let (rows, stop) = (Rows::new(&gram, u64::MAX, Par::Seq), Stop::at(1e-3));
        let run = |control: &RunControl| {
            let mut control = SolverControl::new(&rows, &stop, control);
            for _ in 0..200 {
                assert_eq!(control.ended(1.0), None);
                control.iterations += 1;
            }
        };
        let mut all = Vec::new();
        let observe = |progress: &Progress| {
            all.push(progress.iterations);
            ControlFlow::Continue(())
        };
        run(&RunControl::new(observe).traced());
        assert!(all.into_iter().eq(0..200));
        let mut few = 0;
        run(&RunControl::new(|progress| {
            assert!(progress.iterations.is_multiple_of(BETWEEN), "{progress:?}");
            few += 1;
            ControlFlow::Continue(())
        }));
        assert!((1..=4).contains(&few) && BETWEEN.is_power_of_two(), "{few}");
    }

    #[test]
    fn reports_have_the_gap_of_the_whole_problem_where_somebody_observes() {
        let gram = FnGram::new(2, |i, j| if i == j { 1.0 } else { 0.0 });
        let (rows, stop) = (Rows::new(&gram, u64::MAX, Par::Seq), Stop::at(1e-3));
        let (sign, linear_term, upper) = (vec![1.0, -1.0], vec![-1.0; 2], vec![1.0; 2]);
        let dual = Dual::new(vec![0, 1], sign, linear_term, upper, 0.0, EqualityConstraint::Sum(0.0)).expect("a problem");
        let gaps = |is_whole: bool, age: Duration, observer: RunControl| {
            let mut control = SolverControl::new(&rows, &stop, &observer);
            (control.is_whole, control.looked) = (is_whole, control.looked.checked_sub(age).expect("a time"));
            control.look(&dual, || (vec![0.5; 2], vec![-0.5; 2]));
            control.gap
        };
        let observed = || RunControl::new(|_| ControlFlow::Continue(()));
        // The primal is ¼ + ½ + ½, the dual 1 − ¼.
        assert_eq!(gaps(true, LOOK, observed()), Some(0.4));
        assert_eq!(gaps(false, LOOK, observed()), None);
        assert_eq!(gaps(true, Duration::ZERO, observed()), None);
        assert_eq!(gaps(true, LOOK, RunControl::unlimited()), None);
    }
}
