//! Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008) with random
//! permutations and optional hard shrinking.
//!
//! ```text
//!   1  w ← Σ s_i α_i x_i;  active set ← all i
//!   2  for i in a random permutation of the active set:
//!   3    G ← s_i wᵀx_i + p_i + D_ii α_i
//!   4    if α_i = 0 and G > M̄, or α_i = U and G < m̄: set i aside
//!   5    PG ← G projected at the bounds;  M ← max(M, PG);  m ← min(m, PG)
//!   6    α_i ← clip(α_i − G / Q̄_ii, 0, U);  w += s_i Δα_i x_i
//!   7  if M − m < ε: stop if all i were active, otherwise make all i active;  M̄, m̄ ← ±∞
//!   8  otherwise M̄ ← M (∞ if M ≤ 0), m̄ ← m (−∞ if m ≥ 0);  go to 2
//! ```
//!
//! The two variables of a regression sample are one coordinate: steps 3 to 6 for both of them share
//! one product with the row and one addition of it.

use crate::coordinate::order::shuffle;
use maxmargin_core::{Dual, EqualityConstraint, twins};
use maxmargin_kernel::features::FeatureRows;
use rand_chacha::ChaCha8Rng;

/// The entries of rows between two checks for cancellation inside a sweep: about a hundredth of a
/// second.
pub(crate) const BETWEEN: u64 = 1 << 22;

/// The check for cancellation inside a sweep; it gets the steps so far and the violation.
pub(crate) type GoOn<'w> = &'w mut dyn FnMut(u64, f64) -> bool;

/// The least projected gradient for which a step is made (LIBLINEAR's threshold).
const NOTHING: f64 = 1e-12;

/// The result of a step on one coordinate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// The decrease of the objective.
    pub(crate) gain: f64,
    /// The largest and the smallest projected gradient of its variables before the step.
    pub(crate) highest: f64,
    pub(crate) lowest: f64,
    /// True if all its variables are at bounds with gradients beyond the thresholds. None of them
    /// moves then.
    pub(crate) beyond: bool,
}

/// An unregularised bias, enforced by a multiplier and a penalty on `Σ s_k α_k − wanted` (method of
/// multipliers).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Penalty {
    /// The weight of the penalty; 0 without a bias.
    pub(crate) weight: f64,
    /// The residual `Σ s_k α_k − wanted`.
    pub(crate) excess: f64,
    pub(crate) multiplier: f64,
}

impl Penalty {
    /// Returns the bias that the present point implies.
    #[inline]
    pub(crate) fn bias(&self) -> f64 {
        self.multiplier + self.weight * self.excess
    }
}

/// A variable and all that a step on it needs, in one cache line: steps visit variables in random
/// order.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Variable {
    alpha: f64,
    /// The curvature `x · x + ridge`, and what the penalty adds.
    curvature: f64,
    upper: f64,
    ridge: f64,
    linear_term: f64,
    sign: f64,
    /// The row.
    id: usize,
}

/// The state of coordinate descent.
pub(crate) struct Descent<'a, R> {
    pub(crate) rows: &'a R,
    pub(crate) dual: &'a Dual,
    /// The number of samples if each has two variables, which are one coordinate then.
    samples: Option<usize>,
    variables: Vec<Variable>,
    pub(crate) w: Vec<f64>,
    pub(crate) penalty: Penalty,
    /// The coordinate steps.
    pub(crate) steps: u64,
    /// The entries of rows multiplied or added.
    pub(crate) entries: u64,
    /// The decrease of the objective, from the gains of single steps.
    pub(crate) gained: f64,
}

impl<'a, R: FeatureRows> Descent<'a, R> {
    pub(crate) fn new(rows: &'a R, squares: &[f64], dual: &'a Dual, alpha: &[f64], w: Vec<f64>) -> Self {
        let variable = |(k, &id): (usize, &usize)| {
            let (alpha, upper, ridge) = (alpha[k], dual.upper()[k], dual.ridge_of(k));
            let (linear_term, sign) = (dual.linear_term()[k], dual.sign()[k]);
            Variable { alpha, curvature: squares[id] + ridge, upper, ridge, linear_term, sign, id }
        };
        let variables = dual.ids().iter().enumerate().map(variable).collect();
        let (samples, penalty) = (twins(dual), Penalty::default());
        let mut descent = Self { rows, dual, samples, variables, w, penalty, steps: 0, entries: 0, gained: 0.0 };
        descent.settle_empty_rows();
        descent
    }

    /// Enforces `Σ s α = wanted` from now on.
    pub(crate) fn hold(&mut self, wanted: f64, weight: f64) {
        let sum: f64 = self.variables.iter().map(|v| v.alpha * v.sign).sum();
        self.penalty = Penalty { weight, excess: sum - wanted, multiplier: 0.0 };
        self.variables.iter_mut().for_each(|v| v.curvature += weight);
    }

    /// Returns α of every variable.
    pub(crate) fn alpha(&self) -> impl Iterator<Item = f64> {
        self.variables.iter().map(|v| v.alpha)
    }

    /// Returns the curvature of every variable.
    pub(crate) fn curvatures(&self) -> impl Iterator<Item = f64> {
        self.variables.iter().map(|v| v.curvature)
    }

    /// Loads what a step on coordinate `k` needs into the cache for a use soon after.
    #[inline]
    pub(crate) fn prefetch(&self, k: usize) {
        self.rows.prefetch(self.variables[k].id);
    }

    /// Settles rows without entries: their gradient is constant, so their α belongs at a bound.
    fn settle_empty_rows(&mut self) {
        if self.dual.balance() != EqualityConstraint::Free {
            return;
        }
        for v in self.variables.iter_mut().filter(|v| v.curvature == 0.0) {
            let settled = if v.linear_term < 0.0 { v.upper } else { 0.0 };
            self.gained -= v.linear_term * (settled - v.alpha);
            v.alpha = settled;
        }
    }

    /// The cost so far, in entries of rows: a step costs as much as twenty more (40 ns on w8a,
    /// whose rows are short).
    pub(crate) fn cost(&self) -> f64 {
        (self.entries + 20 * self.steps) as f64
    }

    /// The number of coordinates: of variables, or of samples that have two each.
    pub(crate) fn coordinates(&self) -> usize {
        self.samples.unwrap_or(self.dual.len())
    }

    /// Makes one step on coordinate `k` (steps 3 to 6; algorithm 1 of the adaptive-frequency
    /// paper). Projected gradients up to `least` make no step.
    #[inline]
    pub(crate) fn step(&mut self, k: usize, thresholds: Thresholds, least: f64) -> Step {
        self.steps += 1;
        let Variable { curvature, ridge, id, .. } = self.variables[k];
        if curvature == 0.0 {
            return Step::default();
        }
        let entries = self.rows.entries_of(id) as u64;
        self.entries += entries;
        let product = self.rows.dot(id, &self.w) + self.penalty.bias();
        let (step, change) = match self.samples {
            None => self.step_on(k, product, product, thresholds, least),
            Some(n) => {
                // A positive variable goes first: only at its bound 0 does it leave a step to the
                // other, so that one of them is 0.
                let order = if self.variables[n + k].alpha > 0.0 { [n + k, k] } else { [k, n + k] };
                let (first, change) = self.step_on(order[0], product, product, thresholds, least);
                let moved = product + change * (curvature - ridge);
                let (second, more) = self.step_on(order[1], product, moved, thresholds, least);
                (first.and(&second), change + more)
            }
        };
        if change != 0.0 {
            self.penalty.excess += change;
            self.rows.add(id, change, &mut self.w);
            self.entries += entries;
        }
        step
    }

    /// Minimises over one variable whose row has the product `now`, and had `before` at the
    /// beginning of the step. Returns the change of `s α`, which `w` does not have yet.
    #[inline]
    fn step_on(&mut self, k: usize, before: f64, now: f64, thresholds: Thresholds, least: f64) -> (Step, f64) {
        let Variable { alpha: old, curvature, upper, ridge, linear_term, sign, .. } = self.variables[k];
        let gradient_at = |product: f64| sign * product + ridge * old + linear_term;
        let (g, present) = (gradient_at(before), gradient_at(now));
        let (at_zero, at_upper) = (old <= 0.0, old >= upper);
        let projected = |g: f64| if (at_zero && g > 0.0) || (at_upper && g < 0.0) { 0.0 } else { g };
        let step =
            Step { gain: 0.0, highest: projected(g), lowest: projected(g), beyond: thresholds.shrink(at_zero, at_upper, g) };
        if projected(present).abs() <= least {
            return (step, 0.0);
        }
        let new = (old - present / curvature).clamp(0.0, upper);
        let delta = new - old;
        let gain = -delta * (present + 0.5 * curvature * delta);
        self.gained += gain;
        self.variables[k].alpha = new;
        (Step { gain, ..step }, delta * sign)
    }
}

impl Step {
    /// The result of the steps on both variables of a sample.
    #[inline]
    fn and(&self, other: &Self) -> Self {
        Self {
            gain: self.gain + other.gain,
            highest: self.highest.max(other.highest),
            lowest: self.lowest.min(other.lowest),
            beyond: self.beyond && other.beyond,
        }
    }
}

/// The thresholds by which a sweep may set variables aside, from the sweep before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Variables at 0 with a gradient above this are set aside,
    above: f64,
    /// and those at their upper bound with a gradient below this.
    below: f64,
}

impl Thresholds {
    /// Thresholds that set no variable aside.
    pub(crate) const NONE: Self = Self { above: f64::INFINITY, below: f64::NEG_INFINITY };

    /// Returns the thresholds after a sweep with these projected gradients.
    pub(crate) fn after(highest: f64, lowest: f64) -> Self {
        Self {
            above: if highest > 0.0 { highest } else { f64::INFINITY },
            below: if lowest < 0.0 { lowest } else { f64::NEG_INFINITY },
        }
    }

    /// Returns true if a variable with gradient `g` at 0, at its upper bound or between them is set
    /// aside (step 4).
    #[inline]
    pub(crate) fn shrink(&self, at_zero: bool, at_upper: bool, g: f64) -> bool {
        (at_zero && g > self.above) || (at_upper && g < self.below)
    }
}

/// The active coordinates of a descent and the thresholds from the previous sweep.
pub(crate) struct Shrinking {
    active: Vec<u32>,
    count: usize,
    /// False if no coordinate is ever set aside.
    shrinks: bool,
    thresholds: Thresholds,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SweepResult {
    /// The range of projected gradients exceeds the tolerance.
    On(f64),
    /// The range is within the tolerance on what was visited; the next sweep visits everything.
    Unshrunk(f64),
    /// The range is within the tolerance on all variables.
    Done(f64),
}

impl Shrinking {
    pub(crate) fn new<R: FeatureRows>(descent: &Descent<R>, shrinks: bool) -> Self {
        let curvatures = descent.curvatures().take(descent.coordinates());
        let active: Vec<u32> = (0..).zip(curvatures).filter(|(_, curvature)| *curvature > 0.0).map(|(k, _)| k).collect();
        let count = active.len();
        Self { active, count, shrinks, thresholds: Thresholds::NONE }
    }

    /// Returns the number of active coordinates.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Makes one sweep over the active coordinates in random order (steps 2 to 8; algorithm 3 of
    /// the ICML 2008 paper). After a cancellation it returns [`SweepResult::On`] with an infinite
    /// range.
    pub(crate) fn sweep<R: FeatureRows>(
        &mut self,
        descent: &mut Descent<R>,
        tol: f64,
        random: &mut ChaCha8Rng,
        go_on: GoOn,
    ) -> SweepResult {
        // 2: a random permutation of the active set.
        shuffle(&mut self.active[..self.count], random);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut at, mut ask) = (0, descent.entries + BETWEEN);
        while at < self.count {
            if descent.entries >= ask {
                ask = descent.entries + BETWEEN;
                if !go_on(descent.steps, highest - lowest) {
                    return SweepResult::On(f64::INFINITY);
                }
            }
            let k = self.active[at] as usize;
            if let Some(&soon) = self.active.get(at + 4) {
                descent.prefetch(soon as usize);
            }
            // 3, 5, 6: the step.
            let step = descent.step(k, self.thresholds, NOTHING);
            // 4: shrinking.
            if step.beyond {
                self.count -= 1;
                self.active.swap(at, self.count);
                continue;
            }
            at += 1;
            highest = highest.max(step.highest);
            lowest = lowest.min(step.lowest);
        }
        let range = if self.count == 0 { 0.0 } else { highest - lowest };
        // 7, 8: the next active set and its thresholds.
        if range <= tol {
            let whole = self.count == self.active.len();
            self.count = self.active.len();
            self.thresholds = Thresholds::NONE;
            return if whole { SweepResult::Done(range) } else { SweepResult::Unshrunk(range) };
        }
        if self.shrinks {
            self.thresholds = Thresholds::after(highest, lowest);
        }
        SweepResult::On(range)
    }
}
