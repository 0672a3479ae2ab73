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

use crate::coordinate::order::shuffle;
use maxmargin_core::{Dual, EqualityConstraint};
use maxmargin_kernel::features::FeatureRows;
use rand_chacha::ChaCha8Rng;

/// The entries of rows between two checks for cancellation inside a sweep: about a hundredth of a
/// second.
pub(crate) const BETWEEN: u64 = 1 << 22;

/// The check for cancellation inside a sweep; it gets the steps so far and the violation.
pub(crate) type GoOn<'w> = &'w mut dyn FnMut(u64, f64) -> bool;

/// The least projected gradient for which a step is made (LIBLINEAR's threshold).
const NOTHING: f64 = 1e-12;

/// The result of a step on one variable.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// The change of α.
    pub(crate) delta: f64,
    /// The gradient before the step.
    pub(crate) gradient: f64,
    /// The curvature `∂²/∂α²`, ridge included.
    pub(crate) curvature: f64,
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

/// The state of coordinate descent.
pub(crate) struct Descent<'a, R> {
    pub(crate) rows: &'a R,
    pub(crate) dual: &'a Dual,
    /// The curvature `x · x + ridge` of every variable.
    pub(crate) curvature: Vec<f64>,
    pub(crate) alpha: Vec<f64>,
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
    pub(crate) fn new(rows: &'a R, squares: &[f64], dual: &'a Dual, alpha: Vec<f64>, w: Vec<f64>) -> Self {
        let curvature = dual.ids().iter().enumerate().map(|(k, &id)| squares[id] + dual.ridge_of(k)).collect();
        let penalty = Penalty::default();
        let mut descent = Self { rows, dual, curvature, alpha, w, penalty, steps: 0, entries: 0, gained: 0.0 };
        descent.settle_empty_rows();
        descent
    }

    /// Enforces `Σ s α = wanted` from now on.
    pub(crate) fn hold(&mut self, wanted: f64, weight: f64) {
        let sum: f64 = self.alpha.iter().zip(self.dual.sign()).map(|(a, s)| a * s).sum();
        self.penalty = Penalty { weight, excess: sum - wanted, multiplier: 0.0 };
        self.curvature.iter_mut().for_each(|c| *c += weight);
    }

    /// Settles rows without entries: their gradient is constant, so their α belongs at a bound.
    fn settle_empty_rows(&mut self) {
        for k in 0..self.dual.len() {
            if self.curvature[k] == 0.0 && self.dual.balance() == EqualityConstraint::Free {
                let settled = if self.dual.linear_term()[k] < 0.0 { self.dual.upper()[k] } else { 0.0 };
                self.gained -= self.dual.linear_term()[k] * (settled - self.alpha[k]);
                self.alpha[k] = settled;
            }
        }
    }

    /// The cost so far, in entries of rows: a step costs as much as twenty more (40 ns on w8a,
    /// whose rows are short).
    pub(crate) fn cost(&self) -> f64 {
        (self.entries + 20 * self.steps) as f64
    }

    /// Returns the gradient of variable `k` (step 3).
    #[inline]
    pub(crate) fn gradient(&self, k: usize) -> f64 {
        let dual = self.dual;
        let product = self.rows.dot(dual.ids()[k], &self.w) + self.penalty.bias();
        dual.sign()[k] * product + dual.ridge_of(k) * self.alpha[k] + dual.linear_term()[k]
    }

    /// Minimises over variable `k` with gradient `g` (step 6); returns the change of α.
    #[inline]
    pub(crate) fn take(&mut self, k: usize, g: f64) -> f64 {
        let (old, upper) = (self.alpha[k], self.dual.upper()[k]);
        let new = (old - g / self.curvature[k]).clamp(0.0, upper);
        let delta = new - old;
        if delta != 0.0 {
            self.gained -= delta * (g + 0.5 * self.curvature[k] * delta);
            self.alpha[k] = new;
            self.penalty.excess += delta * self.dual.sign()[k];
            self.rows.add(self.dual.ids()[k], delta * self.dual.sign()[k], &mut self.w);
        }
        delta
    }

    /// Makes one step on variable `k` (algorithm 1 of the adaptive-frequency paper).
    #[inline]
    pub(crate) fn step(&mut self, k: usize) -> Step {
        self.steps += 1;
        let curvature = self.curvature[k];
        if curvature == 0.0 {
            return Step::default();
        }
        let gradient = self.gradient(k);
        let delta = self.take(k, gradient);
        self.entries += self.rows.entries_of(self.dual.ids()[k]) as u64 * if delta == 0.0 { 1 } else { 2 };
        Step { delta, gradient, curvature }
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

/// The active variables of a descent and the thresholds from the previous sweep.
pub(crate) struct Shrinking {
    active: Vec<u32>,
    count: usize,
    /// False if no variable is ever set aside.
    shrinks: bool,
    thresholds: Thresholds,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SweepResult {
    /// The range of projected gradients exceeds the tolerance.
    On(f64),
    /// The range is within the tolerance on the active variables; all variables are active again.
    Unshrunk(f64),
    /// The range is within the tolerance on all variables.
    Done(f64),
}

impl Shrinking {
    pub(crate) fn new<R: FeatureRows>(descent: &Descent<R>, shrinks: bool) -> Self {
        let active: Vec<u32> = (0..descent.dual.len() as u32).filter(|&k| descent.curvature[k as usize] > 0.0).collect();
        let count = active.len();
        Self { active, count, shrinks, thresholds: Thresholds::NONE }
    }

    /// Returns the number of active variables.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Makes one sweep over the active variables in random order (steps 2 to 8; algorithm 3 of the
    /// ICML 2008 paper). After a cancellation it returns [`SweepResult::On`] with an infinite
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
                descent.rows.prefetch(descent.dual.ids()[soon as usize]);
            }
            descent.steps += 1;
            let id = descent.dual.ids()[k];
            descent.entries += descent.rows.entries_of(id) as u64;
            // 3: the gradient.
            let g = descent.gradient(k);
            let (alpha, upper) = (descent.alpha[k], descent.dual.upper()[k]);
            let (at_zero, at_upper) = (alpha <= 0.0, alpha >= upper);
            // 4: shrinking.
            if self.thresholds.shrink(at_zero, at_upper, g) {
                self.count -= 1;
                self.active.swap(at, self.count);
                continue;
            }
            at += 1;
            // 5: the projected gradient.
            let projected = if (at_zero && g > 0.0) || (at_upper && g < 0.0) { 0.0 } else { g };
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > NOTHING {
                // 6: the step.
                descent.take(k, g);
                descent.entries += descent.rows.entries_of(id) as u64;
            }
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
