//! A run of any method: limits, counts, coordinate descent to its own rule.

use crate::avsf::Frequencies;
use crate::config::{Config, LinearWork};
use crate::descent::{Descent, Shrinking, Swept};
use crate::point::{Fresh, fresh};
use maxmargin_core::{Dual, Progress, Status, Stop, Watch};
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
}

impl<'a> Clock<'a> {
    pub(crate) fn new(stop: &'a Stop, watch: &'a mut dyn Watch) -> Self {
        Self { stop, watch, begun: Instant::now(), ended: None }
    }

    /// Whether so many iterations are more than allowed: a sweep that would pass the limit is not begun.
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
        let progress = Progress { iterations, violation, tol: self.stop.tol, rows_computed: 0 };
        if self.watch.tick(&progress).is_break() {
            self.ended = Some(Status::Interrupted);
        } else if self.stop.max_iter.is_some_and(|most| iterations >= most) {
            self.ended = Some(Status::IterationLimit);
        } else if self.stop.max_time.is_some_and(|most| self.begun.elapsed() >= most) {
            self.ended = Some(Status::TimeLimit);
        }
        self.ended.is_some()
    }
}

/// A run of any method.
pub(crate) struct Run<'a> {
    pub(crate) squares: &'a [f64],
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
        let mut shrinking = Shrinking::new(&descent);
        while !self.clock.spent(descent.steps + shrinking.count() as u64) {
            let swept = shrinking.sweep(&mut descent, self.clock.stop.tol, &mut random);
            self.work.sweeps += 1;
            let (Swept::On(range) | Swept::Unshrunk(range) | Swept::Done(range)) = swept;
            if matches!(swept, Swept::Done(_)) || self.clock.tick(descent.steps, range) {
                break;
            }
        }
        self.end(descent)
    }

    pub(crate) fn avsf<R: FeatureRows>(&mut self, rows: &R, alpha: Vec<f64>) -> Ended {
        let mut descent = self.begin(rows, alpha);
        let mut random = self.random();
        let mut frequencies = Frequencies::new(self.dual.len());
        while !self.clock.spent(descent.steps + self.dual.len() as u64) {
            let (largest, done) = frequencies.sweep(&mut descent, self.clock.stop.tol, &mut random);
            self.work.sweeps += 1;
            if done || self.clock.tick(descent.steps, largest) {
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
    let certificate = &point.certificate;
    certificate.holds(run.clock.stop.tol) && run.config.gap.is_none_or(|gap| certificate.relative_gap() <= gap)
}
