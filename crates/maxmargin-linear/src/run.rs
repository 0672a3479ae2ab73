//! A run of any method: limits, counts, coordinate descent to its own rule.

use crate::avsf::Frequencies;
use crate::config::{Config, LinearWork};
use crate::descent::{Descent, Shrinking, Swept};
use crate::point::{Fresh, fresh};
use maxmargin_core::{Dual, Pace, Progress, Status, Stop, Watch};
use maxmargin_kernel::MemoryBudget;
use maxmargin_kernel::features::{FeatureRows, combine};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

/// Limits and the watch.
pub(crate) struct Clock<'a> {
    pub(crate) stop: &'a Stop,
    watch: &'a mut dyn Watch,
    begun: Instant,
    /// The limit that ended the run.
    pub(crate) ended: Option<Status>,
    /// [`Progress::gained`] after the last whole sweep.
    gained: f64,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(stop: &'a Stop, watch: &'a mut dyn Watch) -> Self {
        Self { stop, watch, begun: Instant::now(), ended: None, gained: 0.0 }
    }

    /// The violation that sweeps work towards first.
    pub(crate) fn tol(&self) -> f64 {
        self.stop.goal.first_kkt()
    }

    /// Whether so many iterations are more than allowed: a sweep that would pass the limit is not
    /// begun.
    pub(crate) fn spent(&mut self, iterations: u64) -> bool {
        if self.stop.max_iter.is_some_and(|most| iterations > most) {
            self.ended = self.ended.or(Some(Status::IterationLimit));
        }
        self.ended.is_some()
    }

    /// Tells the watch; whether the run has to end now.
    pub(crate) fn tick(&mut self, iterations: u64, violation: f64) -> bool {
        if self.ended.is_some() {
            return true;
        }
        let progress = Progress { iterations, violation, tol: self.tol(), gained: self.gained, ..Progress::default() };
        if self.watch.tick(&progress).is_break() {
            self.ended = Some(Status::Interrupted);
        } else if self.stop.max_iter.is_some_and(|most| iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        } else if self.stop.max_time.is_some_and(|most| self.begun.elapsed() >= most) {
            self.ended = Some(Status::TimeLimit);
        }
        self.ended.is_some()
    }

    /// [`Clock::tick`] after a whole sweep.
    pub(crate) fn swept<R>(&mut self, descent: &Descent<R>, violation: f64) -> bool {
        self.gained = descent.gained;
        self.tick(descent.steps, violation)
    }
}

/// Sweeps between two looks at whether a descent gets anywhere.
const WINDOW: u32 = 50;

/// What a window of sweeps has to gain, as a share of `Σ α |linear_term|`, which the objective is a
/// part of: rounding alone makes gains of 10⁻¹⁶ for ever.
const GAIN: f64 = 1e-14;

/// Watches whether sweeps still gain anything that `f64` holds, or come nearer to the tolerance.
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
    /// Notes a sweep; whether a whole window of them did nothing.
    pub(crate) fn seen<R>(&mut self, descent: &Descent<R>, violation: f64) -> bool {
        self.sweeps += 1;
        self.least = self.least.min(violation);
        if !self.sweeps.is_multiple_of(WINDOW) {
            return false;
        }
        let scale: f64 = descent.alpha.iter().zip(descent.dual.linear_term()).map(|(a, p)| a * p.abs()).sum();
        let still = descent.gained - self.gained <= GAIN * scale && self.least >= 0.9 * self.least_before;
        self.gained = descent.gained;
        self.least_before = self.least_before.min(self.least);
        self.least = f64::INFINITY;
        still
    }
}

/// Nanoseconds of a coordinate step: so many, and so many for each entry of a row.
const EACH_STEP: (u64, u64) = (20, 2);

/// Watches whether sweeps get anywhere, and whether they get to the goal.
struct Sweeps {
    standstill: Standstill,
    pace: Pace,
    /// Nanoseconds of a step.
    price: u64,
}

impl Sweeps {
    fn new<R: FeatureRows>(descent: &Descent<R>) -> Self {
        let entries = descent.rows.entries() / descent.rows.len().max(1);
        let price = EACH_STEP.0 + EACH_STEP.1 * entries as u64;
        Self { standstill: Standstill::default(), pace: Pace::new(descent.dual.len(), price), price }
    }

    /// Notes a sweep; why the run ends with it, if it does. A violation within the tolerance that
    /// does not end the run is that of some variables alone.
    fn seen<R: FeatureRows>(&mut self, descent: &Descent<R>, violation: f64, clock: &Clock) -> Option<Status> {
        if self.standstill.seen(descent, violation) {
            return Some(Status::Stalled);
        }
        let measure = if violation > clock.tol() { violation } else { f64::INFINITY };
        self.pace.is_hopeless(self.price.saturating_mul(descent.steps), measure, clock.stop).then_some(Status::Slow)
    }
}

/// A run of any method.
pub(crate) struct Run<'a> {
    pub(crate) squares: &'a [f64],
    pub(crate) ledger: &'a MemoryBudget,
    pub(crate) dual: &'a Dual,
    pub(crate) config: &'a Config,
    pub(crate) clock: Clock<'a>,
    pub(crate) work: LinearWork,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) alpha: Vec<f64>,
    pub(crate) fresh: Fresh,
    pub(crate) status: Status,
    pub(crate) work: LinearWork,
}

impl<'a> Run<'a> {
    pub(crate) fn random(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.config.seed)
    }

    /// `w` of a starting point.
    pub(crate) fn begin<'r, R: FeatureRows>(&self, rows: &'r R, alpha: Vec<f64>) -> Descent<'r, R>
    where
        'a: 'r,
    {
        let coef: Vec<f64> = alpha.iter().zip(self.dual.sign()).map(|(a, s)| a * s).collect();
        let w = combine(rows, self.dual.ids(), &coef, self.config.par);
        Descent::new(rows, self.squares, self.dual, alpha, w)
    }

    pub(crate) fn descent<R: FeatureRows>(&mut self, rows: &R, alpha: Vec<f64>) -> Ended {
        let mut descent = self.begin(rows, alpha);
        let mut random = self.random();
        let mut shrinking = Shrinking::new(&descent, self.config.shrinking.unwrap_or(true));
        let mut sweeps = Sweeps::new(&descent);
        while !self.clock.spent(descent.steps + shrinking.count() as u64) {
            let (tol, clock) = (self.clock.tol(), &mut self.clock);
            let swept = shrinking.sweep(&mut descent, tol, &mut random, &mut |steps, range| !clock.tick(steps, range));
            self.work.sweeps += 1;
            let (Swept::On(range) | Swept::Unshrunk(range) | Swept::Done(range)) = swept;
            if matches!(swept, Swept::Done(_)) || self.clock.swept(&descent, range) {
                break;
            }
            self.clock.ended = sweeps.seen(&descent, range, &self.clock);
            if self.clock.ended.is_some() {
                break;
            }
        }
        self.end(descent)
    }

    pub(crate) fn avsf<R: FeatureRows>(&mut self, rows: &R, alpha: Vec<f64>) -> Ended {
        let mut descent = self.begin(rows, alpha);
        let mut random = self.random();
        let mut frequencies = Frequencies::new(self.dual.len(), self.config.shrinking.unwrap_or(false));
        let mut sweeps = Sweeps::new(&descent);
        while !self.clock.spent(descent.steps + self.dual.len() as u64) {
            let (tol, clock) = (self.clock.tol(), &mut self.clock);
            let (largest, done) =
                frequencies.sweep(&mut descent, tol, &mut random, &mut |steps, range| !clock.tick(steps, range));
            self.work.sweeps += 1;
            if done || self.clock.swept(&descent, largest) {
                break;
            }
            self.clock.ended = sweeps.seen(&descent, largest, &self.clock);
            if self.clock.ended.is_some() {
                break;
            }
        }
        self.end(descent)
    }

    fn end<R: FeatureRows>(&mut self, descent: Descent<R>) -> Ended {
        self.work.steps = descent.steps;
        self.work.entries = descent.entries;
        let fresh = fresh(descent.rows, self.dual, &descent.alpha, self.config.par);
        let status = self.clock.ended.unwrap_or(Status::Converged);
        Ended { alpha: descent.alpha, fresh, status, work: self.work }
    }
}

/// Whether the certificate says what was asked for.
pub(crate) fn good(run: &Run, point: &Fresh) -> bool {
    run.clock.stop.goal.met(&point.certificate)
}
