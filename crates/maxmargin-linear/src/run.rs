//! A run of any method: limits, counts, and coordinate descent to its own rule.

use crate::config::{Config, LinearWork};
use crate::coordinate::avsf::Frequencies;
use crate::coordinate::descent::{Descent, Shrinking, SweepResult};
use crate::point::{PointValues, is_exact, point_values};
use maxmargin_core::{Dual, Pace, Progress, RunControl, Status, Stop};
use maxmargin_kernel::MemoryBudget;
use maxmargin_kernel::features::{FeatureRows, combine, combine_precisely};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The control of a run by sweeps: its limits and reports.
pub(crate) struct SweepControl<'a> {
    pub(crate) stop: &'a Stop,
    control: RunControl<'a>,
    /// The reason why the run ended.
    pub(crate) ended: Option<Status>,
    /// The value of [`Progress::gained`] after the last whole sweep.
    gained: f64,
}

impl<'a> SweepControl<'a> {
    pub(crate) fn new(stop: &'a Stop, control: &'a RunControl) -> Self {
        let control = control.child(|progress| *progress).limit_time(stop.max_time).limit_iterations(stop.max_iter);
        Self { stop, control, ended: None, gained: 0.0 }
    }

    /// The control of the run, with its limits.
    pub(crate) fn control(&self) -> &RunControl<'a> {
        &self.control
    }

    /// Returns the violation that sweeps aim at first, at least 0.
    pub(crate) fn tol(&self) -> f64 {
        self.stop.goal.first_kkt()
    }

    /// Returns true if so many iterations exceed the limit: a sweep that would pass it is not
    /// begun.
    pub(crate) fn spent(&mut self, iterations: u64) -> bool {
        if self.ended.is_none() && iterations > 0 && self.control.reached(iterations - 1) {
            self.ended = Some(Status::IterationLimit);
        }
        self.ended.is_some()
    }

    /// Reports progress; returns true if the run has to end now.
    pub(crate) fn check(&mut self, iterations: u64, violation: f64) -> bool {
        if self.ended.is_none() {
            let progress = Progress { iterations, violation, tol: self.tol(), gained: self.gained, ..Progress::default() };
            // The control remembers its end, which may also be the limit of iterations.
            let _ = self.control.progress(&progress);
            self.control.reached(iterations);
            self.ended = self.control.ended().map(Status::from);
        }
        self.ended.is_some()
    }

    /// Runs [`SweepControl::check`] after a whole sweep.
    pub(crate) fn swept<R: FeatureRows>(&mut self, descent: &Descent<R>, violation: f64) -> bool {
        self.gained = descent.gained;
        self.check(descent.steps, violation)
    }
}

/// The sweeps between two checks of progress.
const WINDOW: u32 = 50;

/// The least gain of a window of sweeps, as a share of `Σ α |linear_term|`, which is a part of the
/// objective. Rounding alone makes gains of 10⁻¹⁶ without end.
const GAIN: f64 = 1e-14;

/// Detects sweeps that gain less than `f64` can hold and come no nearer to the tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standstill {
    sweeps: u32,
    gained: f64,
    least: f64,
    least_before: f64,
}

impl Default for Standstill {
    fn default() -> Self {
        Self { sweeps: 0, gained: 0.0, least: f64::INFINITY, least_before: f64::INFINITY }
    }
}

impl Standstill {
    /// Counts a sweep; returns true if a whole window made no progress.
    pub(crate) fn seen<R: FeatureRows>(&mut self, descent: &Descent<R>, violation: f64) -> bool {
        self.sweeps += 1;
        self.least = self.least.min(violation);
        if !self.sweeps.is_multiple_of(WINDOW) {
            return false;
        }
        let scale: f64 = descent.alpha().zip(descent.dual.linear_term()).map(|(a, p)| a * p.abs()).sum();
        let still = descent.gained - self.gained <= GAIN * scale && self.least >= 0.9 * self.least_before;
        self.gained = descent.gained;
        self.least_before = self.least_before.min(self.least);
        self.least = f64::INFINITY;
        still
    }
}

/// The nanoseconds of a coordinate step: a constant, and a part for each entry of a row.
const EACH_STEP: (u64, u64) = (20, 2);

/// Detects sweeps without progress, and sweeps that will not reach the goal.
struct SweepMonitor {
    standstill: Standstill,
    pace: Pace,
    /// The nanoseconds of a step.
    price: u64,
}

impl SweepMonitor {
    fn new<R: FeatureRows>(descent: &Descent<R>) -> Self {
        let entries = descent.rows.entries() / descent.rows.len().max(1);
        let price = EACH_STEP.0 + EACH_STEP.1 * entries as u64;
        Self { standstill: Standstill::default(), pace: Pace::new(descent.coordinates(), price), price }
    }

    /// Counts a sweep; returns the status if the run ends with it. A violation within the tolerance
    /// that does not end the run is that of the active variables only, so it is not counted.
    fn seen<R: FeatureRows>(&mut self, descent: &Descent<R>, violation: f64, control: &SweepControl) -> Option<Status> {
        if self.standstill.seen(descent, violation) {
            return Some(Status::Stalled);
        }
        let measure = if violation > control.tol() { violation } else { f64::INFINITY };
        self.pace.is_hopeless(self.price.saturating_mul(descent.steps), measure, control.stop).then_some(Status::Slow)
    }
}

/// A run of any method.
pub(crate) struct Run<'a> {
    pub(crate) squares: &'a [f64],
    pub(crate) memory: &'a MemoryBudget,
    pub(crate) dual: &'a Dual,
    pub(crate) config: &'a Config,
    pub(crate) control: SweepControl<'a>,
    pub(crate) work: LinearWork,
}

/// The end of a run.
pub(crate) struct RunEnd {
    pub(crate) alpha: Vec<f64>,
    pub(crate) values: PointValues,
    pub(crate) status: Status,
    pub(crate) work: LinearWork,
}

impl<'a> Run<'a> {
    /// Returns the values of a point of a solver whose w and bias are `own`.
    pub(crate) fn point<R: FeatureRows>(&self, rows: &R, alpha: &[f64], own: (&[f64], f64)) -> PointValues {
        let (is_exact, par) = (self.is_exact(alpha), self.config.par);
        let of_sum = self.of_sum(rows, alpha, is_exact);
        if is_exact { of_sum } else { of_sum.or_own(rows, self.dual, alpha, own, par) }
    }

    /// Returns the values that follow from `alpha` alone.
    pub(crate) fn point_of_sum<R: FeatureRows>(&self, rows: &R, alpha: &[f64]) -> PointValues {
        self.of_sum(rows, alpha, self.is_exact(alpha))
    }

    /// Computes the sum over α. Where it is not exact and shows the goal, it is computed in twice
    /// the working precision, as that of the certificate: in another order a plain sum is another
    /// point.
    fn of_sum<R: FeatureRows>(&self, rows: &R, alpha: &[f64], is_exact: bool) -> PointValues {
        let of = |sum| point_values(rows, self.dual, alpha, sum, self.config.par);
        let plain = of(combine);
        if is_exact || !meets_goal(self, &plain) { plain } else { of(combine_precisely) }
    }

    fn is_exact(&self, alpha: &[f64]) -> bool {
        is_exact(self.dual, self.squares, alpha, self.control.tol())
    }

    pub(crate) fn random(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.config.seed)
    }

    /// Returns the descent at a starting point, with its `w`.
    pub(crate) fn begin<'r, R: FeatureRows>(&self, rows: &'r R, alpha: &[f64]) -> Descent<'r, R>
    where
        'a: 'r,
    {
        let coef: Vec<f64> = alpha.iter().zip(self.dual.sign()).map(|(a, s)| a * s).collect();
        let w = combine(rows, self.dual.ids(), &coef, self.config.par);
        Descent::new(rows, self.squares, self.dual, alpha, w)
    }

    pub(crate) fn descent<R: FeatureRows>(&mut self, rows: &R, alpha: &[f64]) -> RunEnd {
        let mut descent = self.begin(rows, alpha);
        if self.starts_at_goal(&descent) {
            return self.end(&descent);
        }
        let mut random = self.random();
        let mut shrinking = Shrinking::new(&descent, self.config.shrinking.unwrap_or(true));
        let mut sweeps = SweepMonitor::new(&descent);
        while !self.control.spent(descent.steps + shrinking.count() as u64) {
            let (tol, control) = (self.control.tol(), &mut self.control);
            let swept = shrinking.sweep(&mut descent, tol, &mut random, &mut |steps, range| !control.check(steps, range));
            self.work.sweeps += 1;
            let (SweepResult::On(range) | SweepResult::Unshrunk(range) | SweepResult::Done(range)) = swept;
            if matches!(swept, SweepResult::Done(_)) || self.control.swept(&descent, range) {
                break;
            }
            self.control.ended = sweeps.seen(&descent, range, &self.control);
            if self.control.ended.is_some() {
                break;
            }
        }
        self.end(&descent)
    }

    pub(crate) fn avsf<R: FeatureRows>(&mut self, rows: &R, alpha: &[f64]) -> RunEnd {
        let mut descent = self.begin(rows, alpha);
        if self.starts_at_goal(&descent) {
            return self.end(&descent);
        }
        let mut random = self.random();
        let mut frequencies = Frequencies::new(descent.coordinates(), self.config.shrinking.unwrap_or(false));
        let mut sweeps = SweepMonitor::new(&descent);
        while !self.control.spent(descent.steps + descent.coordinates() as u64) {
            let (tol, control) = (self.control.tol(), &mut self.control);
            let swept = frequencies.sweep(&mut descent, tol, &mut random, &mut |steps, range| !control.check(steps, range));
            self.work.sweeps += 1;
            let (SweepResult::On(largest) | SweepResult::Unshrunk(largest) | SweepResult::Done(largest)) = swept;
            if matches!(swept, SweepResult::Done(_)) || self.control.swept(&descent, largest) {
                break;
            }
            self.control.ended = sweeps.seen(&descent, largest, &self.control);
            if self.control.ended.is_some() {
                break;
            }
        }
        self.end(&descent)
    }

    /// Returns true if a start other than 0 meets the goal. Sweeps move before they measure, and
    /// may need many to come back where optima are not unique (regression without a tube).
    fn starts_at_goal<R: FeatureRows>(&self, descent: &Descent<R>) -> bool {
        let alpha: Vec<f64> = descent.alpha().collect();
        let starts = alpha.iter().any(|alpha| *alpha != 0.0);
        starts && meets_goal(self, &self.point_of_sum(descent.rows, &alpha))
    }

    fn end<R: FeatureRows>(&mut self, descent: &Descent<R>) -> RunEnd {
        self.work.steps = descent.steps;
        self.work.entries = descent.entries;
        let alpha: Vec<f64> = descent.alpha().collect();
        let values = self.point(descent.rows, &alpha, (&descent.w, 0.0));
        let status = self.control.ended.unwrap_or(Status::Converged);
        RunEnd { alpha, values, status, work: self.work }
    }
}

/// Returns true if the certificate shows the goal.
pub(crate) fn meets_goal(run: &Run, point: &PointValues) -> bool {
    run.control.stop.goal.met(&point.certificate)
}
