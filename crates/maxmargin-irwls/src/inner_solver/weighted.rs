//! The chunk with fixed weights: a smooth problem, solved by re-sorting the sets until they stay.

use crate::inner_solver::system::{RightSide, System};
use crate::working_set::chunk::Chunk;
use crate::working_set::project::shift;
use maxmargin_simd::sums::{add_scaled, dot};

/// The largest number of re-sortings. A few are usual, and the point they reached is useful.
const MOST: usize = 100;

/// The factor of the cap of the weights once the sets stay.
const FASTER: f64 = 5.0;

/// If the first cap is at most this factor above the last, the last is tried alone first.
const NEAR: f64 = 25.0;

/// A share of the step that counts as none: halving an interval ends a little above 0.
const STILL: f64 = 1e-12;

/// The share of the cap that errors of free samples may have beyond their own. A larger one moves
/// samples near a bound to and fro.
const ACCURACY: f64 = 1e-6;

/// The share of the cap that errors of the wrong sign may have at a bound.
const SLACK: f64 = 0.2;

/// The problem `min ½ ΔᵀKΔ + f₀ᵀΔ + ½ ΔᵀD⁻¹Δ` over the box and `Σ Δ = 0`, `Δ = β − β₀`.
///
/// Its dual is `min ½ vᵀKv + Σ ψ_k(e_k)` with `e = t − f₀ − Kv` and `ψ_k(e) = max e Δ − ½ Δ² / a_k`
/// over the box. That is a smooth piecewise quadratic function of (v, t) without constraints: the
/// primal SVM with a loss that is quadratic for samples between their bounds (S1) and linear for
/// others (S2 and S3). Its Newton step is equation (3) of the paper. With an exact line search the
/// method ends after finitely many steps.
pub(crate) struct Weighted<'c> {
    chunk: &'c Chunk,
    /// The diagonal `1 / a_k`.
    damping: Vec<f64>,
    /// The box around β₀.
    low: Vec<f64>,
    high: Vec<f64>,
    /// The threshold.
    t: f64,
    v: Vec<f64>,
    kv: Vec<f64>,
}

/// The samples between their bounds (S1), and Δ of the others, at a bound.
struct Sets {
    inside: Vec<bool>,
    aim: Vec<f64>,
}

/// The caps of the weights, as errors: the weight of a sample is at most `C / cap` and `1 / lift`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    pub(crate) begin: f64,
    pub(crate) end: f64,
    pub(crate) lift: f64,
}

/// The result.
pub(crate) struct WeightedStep {
    /// The step Δ. If `settled`, it stays inside the box and its sum is 0.
    pub(crate) delta: Vec<f64>,
    /// The product `KΔ` of a settled step.
    pub(crate) product: Vec<f64>,
    /// True if the sets stay.
    pub(crate) settled: bool,
}

impl<'c> Weighted<'c> {
    pub(crate) fn new(chunk: &'c Chunk) -> Self {
        let m = chunk.len();
        let around = |bound: &[f64]| bound.iter().zip(&chunk.beta).map(|(b, x)| b - x).collect::<Vec<f64>>();
        Self {
            chunk,
            damping: vec![0.0; m],
            low: around(&chunk.low),
            high: around(&chunk.high),
            t: 0.0,
            v: vec![0.0; m],
            kv: vec![0.0; m],
        }
    }

    /// Returns `Δ_k` at an error.
    fn response(&self, k: usize, error: f64) -> f64 {
        (error / self.damping[k]).clamp(self.low[k], self.high[k])
    }

    fn error(&self, k: usize) -> f64 {
        self.t - self.chunk.f[k] - self.kv[k]
    }

    /// Sets the best threshold for this v. Where any sum is allowed, there is none.
    fn settle_threshold(&mut self) {
        if self.chunk.any_sum {
            return;
        }
        let m = self.v.len();
        let point: Vec<f64> = (0..m).map(|k| -(self.chunk.f[k] + self.kv[k]) / self.damping[k]).collect();
        self.t = shift(&point, |k| 1.0 / self.damping[k], &self.low, &self.high, 0.0);
    }

    /// Limits the weights to `C / cap` and `1 / lift`.
    fn cap(&mut self, cap: f64, lift: f64) {
        for k in 0..self.damping.len() {
            self.damping[k] = (cap / (self.chunk.high[k] - self.chunk.low[k])).max(lift);
        }
    }

    /// Solves with the weights of the first cap, then with larger ones, up to those of the last.
    /// Returns `None` if a system cannot be solved in this precision.
    ///
    /// If the free samples of β₀ are those of the solution, the first attempt shows it, and one
    /// system suffices. If they are nearly those, a few more are needed.
    pub(crate) fn solve(
        mut self,
        Caps { begin, end, lift }: Caps,
        system: &mut System,
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<WeightedStep> {
        let mut sets = self.free();
        // Weights that differ by more than the precision leave nothing to tell them apart.
        let mut cap = begin.max(end).min(end / f64::EPSILON);
        self.cap(end, lift);
        let near = cap <= NEAR * end;
        let settled = self.attempt(&mut sets, end, near, system, more)?;
        if settled || near && self.resort(&mut sets, end, system, more)? {
            return Some(WeightedStep { delta: self.v, product: self.kv, settled: true });
        }
        let was_last = cap <= end;
        if near && !was_last {
            // The result of the last weights may be rounding, which is no start for other weights.
            self.v.fill(0.0);
            self.kv.fill(0.0);
            sets = self.free();
        }
        // Weights that were tried alone would repeat the same steps.
        while !was_last && more() {
            self.cap(cap, lift);
            if !self.attempt(&mut sets, cap, true, system, more)? && !self.resort(&mut sets, cap, system, more)? {
                break;
            }
            if cap <= end {
                return Some(WeightedStep { delta: self.v, product: self.kv, settled: true });
            }
            cap = (cap / FASTER).max(end);
        }
        self.settle_threshold();
        let step: Vec<f64> = (0..self.v.len()).map(|k| self.response(k, self.error(k))).collect();
        Some(WeightedStep { delta: step, product: Vec::new(), settled: false })
    }

    /// Returns the sets of β₀ itself.
    fn free(&self) -> Sets {
        let inside = (0..self.v.len()).map(|k| self.low[k] < 0.0 && self.high[k] > 0.0).collect();
        Sets { inside, aim: vec![0.0; self.v.len()] }
    }

    /// Moves to the solution for these sets, if its own sets are the same; returns true then.
    /// Otherwise, with `part`, moves towards it as far as the function falls.
    fn attempt(
        &mut self,
        sets: &mut Sets,
        cap: f64,
        part: bool,
        system: &mut System,
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<bool> {
        if !sets.inside.contains(&true) {
            return Some(false);
        }
        let mut aim: Vec<f64> = sets.inside.iter().zip(&sets.aim).map(|(inside, a)| if *inside { 0.0 } else { *a }).collect();
        let t = self.newton(system, &sets.inside, &mut aim, cap, more)?;
        let there = self.chunk.multiply(&aim);
        if self.stays(&sets.inside, &aim, t, &there, cap) {
            (self.t, self.kv) = (t, there);
            self.v.copy_from_slice(&aim);
            sets.aim = aim;
            return Some(true);
        }
        if part {
            self.settle_threshold();
            let change: Vec<f64> = aim.iter().zip(&self.v).map(|(a, v)| a - v).collect();
            let product: Vec<f64> = there.iter().zip(&self.kv).map(|(a, b)| a - b).collect();
            let share = self.search(&change, &product, t - self.t);
            self.step(share, &change, &product, t);
        }
        Some(false)
    }

    /// Moves a share of the way to the end of `change`, where the threshold is `t`.
    fn step(&mut self, share: f64, change: &[f64], product: &[f64], t: f64) {
        add_scaled(&mut self.v, share, change);
        add_scaled(&mut self.kv, share, product);
        self.t += share * (t - self.t);
    }

    /// Makes Newton steps until the sets stay; returns true if they do.
    fn resort(
        &mut self,
        sets: &mut Sets,
        cap: f64,
        system: &mut System,
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<bool> {
        let m = self.v.len();
        for _ in 0..MOST {
            if !more() {
                return Some(false);
            }
            self.settle_threshold();
            for k in 0..m {
                let response = self.response(k, self.error(k));
                sets.inside[k] = response > self.low[k] && response < self.high[k];
                sets.aim[k] = if sets.inside[k] { 0.0 } else { response };
            }
            let empty = !sets.inside.contains(&true);
            let aim_t = if empty { self.t } else { self.newton(system, &sets.inside, &mut sets.aim, cap, more)? };
            let change: Vec<f64> = sets.aim.iter().zip(&self.v).map(|(a, v)| a - v).collect();
            let product = self.chunk.multiply(&change);
            let there: Vec<f64> = self.kv.iter().zip(&product).map(|(a, b)| a + b).collect();
            if self.stays(&sets.inside, &sets.aim, aim_t, &there, cap) {
                (self.t, self.kv) = (aim_t, there);
                self.v.copy_from_slice(&sets.aim);
                return Some(true);
            }
            let share = self.search(&change, &product, aim_t - self.t);
            if share < STILL {
                return Some(false);
            }
            self.step(share, &change, &product, aim_t);
        }
        Some(false)
    }

    /// Returns true if the sets of a point with Δ `aim` and KΔ `product` are those that led to it.
    /// The point is then the minimum, and a line search would only see rounding. At a bound an
    /// error of the wrong sign is allowed if it is small relative to the cap.
    fn stays(&self, inside: &[bool], aim: &[f64], t: f64, product: &[f64], cap: f64) -> bool {
        let slack = SLACK * cap;
        (0..aim.len()).all(|k| {
            let error = t - self.chunk.f[k] - product[k];
            if inside[k] {
                // This test is more accurate than the error divided by the damping.
                aim[k] > self.low[k] && aim[k] < self.high[k]
            } else {
                self.response(k, error + slack) == aim[k] || self.response(k, error - slack) == aim[k]
            }
        })
    }

    /// Computes `aim` of the samples inside from that of the others; returns the threshold.
    fn newton(
        &self,
        system: &mut System,
        inside: &[bool],
        aim: &mut [f64],
        cap: f64,
        more: &mut (dyn FnMut() -> bool + Send),
    ) -> Option<f64> {
        let mut rest = self.chunk.multiply(aim);
        rest.iter_mut().zip(&self.chunk.f).for_each(|(r, f)| *r = -*r - f);
        let sum = -aim.iter().sum::<f64>();
        let wanted: Vec<f64> = inside.iter().zip(&self.damping).map(|(i, d)| if *i { *d } else { f64::NAN }).collect();
        let right = RightSide { values: &rest, sum, accuracy: ACCURACY * cap };
        system.solve(self.chunk, &wanted, &right, aim, more)
    }

    /// Returns the share of the way in (0, 1] at which the function is least: the root of its
    /// piecewise linear derivative.
    fn search(&self, change: &[f64], product: &[f64], by: f64) -> f64 {
        let (first, second) = (dot(change, &self.kv), dot(change, product));
        let errors: Vec<(f64, f64)> = (0..change.len()).map(|k| (self.error(k), by - product[k])).collect();
        let derivative = |share: f64| {
            let (mut value, mut slope) = (first + share * second, second);
            for (k, (e, de)) in errors.iter().enumerate() {
                let response = self.response(k, e + share * de);
                value += response * de;
                if response > self.low[k] && response < self.high[k] {
                    slope += de * de / self.damping[k];
                }
            }
            (value, slope)
        };
        let (mut low, mut high) = (0.0, 1.0);
        let begin = derivative(0.0).0;
        let mut share = 1.0;
        for _ in 0..60 {
            let (value, slope) = derivative(share);
            if value.abs() <= 1e-12 * begin.abs() {
                break;
            }
            if value > 0.0 {
                high = share;
            } else {
                low = share;
            }
            if low == 1.0 {
                break;
            }
            let newton = share - value / slope;
            share = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
            if high - low <= 1e-14 {
                break;
            }
        }
        share
    }
}
