//! Weighted least squares as the paper prints it, without damping and safeguard, to measure the
//! effect of both.

use maxmargin::core::Factor;
use maxmargin::irwls::{Chunk, ChunkSolver};
use std::sync::atomic::{AtomicU64, Ordering};

/// The most linear systems of a working set.
const MOST: u32 = 200;

/// The least error, as a share of the mean of the diagonal: smaller ones would give infinite
/// weights.
const LEAST: f64 = 1e-10;

/// The set of a sample: S1, S2 and S3 of the paper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Zero,
    Bound,
}

/// Table 1 of the paper (Pérez-Cruz et al. 2000).
///
/// Each step sets weights `a = C / (e y)`, solves a system for the samples between their bounds,
/// and assigns all samples to sets anew, until no sample moves. The objective can rise. A working
/// set that does not settle is given up where it is.
#[derive(Default)]
pub(crate) struct Undamped {
    /// Working sets that were given up.
    given_up: AtomicU64,
}

impl Undamped {
    /// Returns the number of working sets that were given up so far.
    pub(crate) fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }
}

impl ChunkSolver for Undamped {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut (dyn FnMut() -> bool + Send)) {
        let mut run = Iteration::of(chunk);
        let mut settled = chunk.is_empty();
        for _ in 0..MOST {
            if settled {
                break;
            }
            // A point between two steps is not feasible: β keeps its old values.
            if !more() {
                return;
            }
            if !run.solve(chunk) {
                break;
            }
            settled = run.sort(chunk) <= 0.01 * tol;
        }
        self.given_up.fetch_add(u64::from(!settled), Ordering::Relaxed);
        chunk.set(&run.beta);
    }
}

/// The state of the iteration on a working set.
struct Iteration {
    /// `f` without the working set's own contribution, and the sum of its β.
    linear: Vec<f64>,
    sum: f64,
    /// Labels and upper bounds of α.
    y: Vec<f64>,
    upper: Vec<f64>,
    least: f64,
    place: Vec<Place>,
    /// `1 / a`.
    damping: Vec<f64>,
    beta: Vec<f64>,
    bias: f64,
    /// Errors `e = −f − b` of the previous point.
    errors: Vec<f64>,
}

impl Iteration {
    /// Returns the paper's start: all samples between their bounds, weights of 1.
    fn of(chunk: &Chunk) -> Self {
        let m = chunk.len();
        let mean = (0..m).map(|k| chunk.row(k)[k]).sum::<f64>() / m.max(1) as f64;
        let linear = chunk.linear();
        Self {
            sum: chunk.beta().iter().sum(),
            y: chunk.high().iter().map(|high| if *high > 0.0 { 1.0 } else { -1.0 }).collect(),
            upper: chunk.high().iter().zip(chunk.low()).map(|(high, low)| high - low).collect(),
            least: LEAST * mean,
            place: vec![Place::Between; m],
            damping: vec![1.0; m],
            beta: chunk.beta().to_vec(),
            bias: 0.0,
            errors: linear.iter().map(|l| -l).collect(),
            linear,
        }
    }

    /// Returns `f` at the present β.
    fn f(&self, chunk: &Chunk, k: usize) -> f64 {
        self.linear[k] + chunk.row(k).iter().zip(&self.beta).map(|(value, beta)| value * beta).sum::<f64>()
    }

    /// Computes β and the bias for the present sets and weights. Returns whether they exist.
    fn solve(&mut self, chunk: &Chunk) -> bool {
        let m = self.y.len();
        let between: Vec<usize> = (0..m).filter(|&k| self.place[k] == Place::Between).collect();
        let mut factor = Factor::new(1.0);
        for (at, &k) in between.iter().enumerate() {
            let row = chunk.row(k);
            if !factor.append(between[..at].iter().map(|&j| row[j]), row[k] + self.damping[k]) {
                return false;
            }
        }
        for k in 0..m {
            self.beta[k] = if self.place[k] == Place::Bound { self.y[k] * self.upper[k] } else { 0.0 };
        }
        if between.is_empty() {
            return true;
        }
        let rest = self.sum - self.beta.iter().sum::<f64>();
        let mut x: Vec<f64> = between.iter().map(|&k| -self.f(chunk, k)).collect();
        self.bias = factor.solve(&mut x, rest);
        between.iter().zip(&x).for_each(|(&k, x)| self.beta[k] = *x);
        self.bias.is_finite() && x.iter().all(|x| x.is_finite())
    }

    /// Computes new errors, weights and sets. Returns the largest change of an error, infinity
    /// where a sample changed its set.
    fn sort(&mut self, chunk: &Chunk) -> f64 {
        let mut moved: f64 = 0.0;
        for k in 0..self.y.len() {
            let error = -self.f(chunk, k) - self.bias;
            moved = moved.max((error - self.errors[k]).abs());
            self.errors[k] = error;
            let (y, upper) = (self.y[k], self.upper[k]);
            let wrong = error * y < 0.0;
            let place = match self.place[k] {
                Place::Between if self.beta[k] * y >= upper => Place::Bound,
                Place::Bound | Place::Between if wrong => Place::Zero,
                Place::Zero if !wrong => Place::Between,
                same => same,
            };
            self.damping[k] = (error * y).max(self.least) / upper;
            if place != self.place[k] {
                (self.place[k], moved) = (place, f64::INFINITY);
            }
        }
        moved
    }
}
