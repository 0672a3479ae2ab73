//! Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008): random
//! permutations, hard shrinking where it is wanted.

use crate::order::shuffle;
use maxmargin_core::{Dual, EqualityConstraint};
use maxmargin_kernel::features::FeatureRows;
use rand_chacha::ChaCha8Rng;

/// Entries of rows between two questions whether to go on with a sweep: a hundredth of a second or
/// so.
pub(crate) const BETWEEN: u64 = 1 << 22;

/// Who is asked inside a sweep, with the steps so far and the violation seen.
pub(crate) type GoOn<'w> = &'w mut dyn FnMut(u64, f64) -> bool;

/// Steps smaller than this change nothing (LIBLINEAR's threshold on the projected gradient).
const NOTHING: f64 = 1e-12;

/// How one step of one variable went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Change of α.
    pub(crate) delta: f64,
    /// Gradient before it.
    pub(crate) gradient: f64,
    /// `∂²/∂α²`, ridge included.
    pub(crate) curvature: f64,
}

/// A bias that is not regularised, held by a multiplier and a penalty on `Σ s_k α_k − wanted`
/// (method of multipliers).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Penalty {
    /// 0 where there is no bias.
    pub(crate) weight: f64,
    /// `Σ s_k α_k − wanted`
    pub(crate) excess: f64,
    pub(crate) multiplier: f64,
}

impl Penalty {
    /// The bias that the present point implies.
    #[inline]
    pub(crate) fn bias(&self) -> f64 {
        self.multiplier + self.weight * self.excess
    }
}

/// The state that coordinate steps change.
pub(crate) struct Descent<'a, R> {
    pub(crate) rows: &'a R,
    pub(crate) dual: &'a Dual,
    /// `x · x + ridge` of every variable.
    pub(crate) curvature: Vec<f64>,
    pub(crate) alpha: Vec<f64>,
    pub(crate) w: Vec<f64>,
    pub(crate) penalty: Penalty,
    /// Coordinates looked at.
    pub(crate) steps: u64,
    /// Entries of rows multiplied or added.
    pub(crate) entries: u64,
    /// By how much the objective has fallen, as far as single steps tell.
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

    /// Holds the sum of `s α` at `wanted` from now on.
    pub(crate) fn hold(&mut self, wanted: f64, weight: f64) {
        let sum: f64 = self.alpha.iter().zip(self.dual.sign()).map(|(a, s)| a * s).sum();
        self.penalty = Penalty { weight, excess: sum - wanted, multiplier: 0.0 };
        self.curvature.iter_mut().for_each(|c| *c += weight);
    }

    /// A row without entries has a constant gradient: its α belongs at a bound, once and for all.
    fn settle_empty_rows(&mut self) {
        for k in 0..self.dual.len() {
            if self.curvature[k] == 0.0 && self.dual.balance() == EqualityConstraint::Free {
                let settled = if self.dual.linear_term()[k] < 0.0 { self.dual.upper()[k] } else { 0.0 };
                self.gained -= self.dual.linear_term()[k] * (settled - self.alpha[k]);
                self.alpha[k] = settled;
            }
        }
    }

    /// The gradient of variable `k`.
    #[inline]
    pub(crate) fn gradient(&self, k: usize) -> f64 {
        let dual = self.dual;
        let product = self.rows.dot(dual.ids()[k], &self.w) + self.penalty.bias();
        dual.sign()[k] * product + dual.ridge_of(k) * self.alpha[k] + dual.linear_term()[k]
    }

    /// Minimises over variable `k` whose gradient is `g`; returns the change of α.
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

    /// One step on variable `k` (algorithm 1 of the adaptive-frequency paper).
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

/// Which variables a sweep may set aside, by what the sweep before it saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// What is at 0 with a gradient above this,
    above: f64,
    /// and what is at its bound with a gradient below this.
    below: f64,
}

impl Thresholds {
    /// Nothing is set aside.
    pub(crate) const NONE: Self = Self { above: f64::INFINITY, below: f64::NEG_INFINITY };

    /// After a sweep with such projected gradients.
    pub(crate) fn after(highest: f64, lowest: f64) -> Self {
        Self {
            above: if highest > 0.0 { highest } else { f64::INFINITY },
            below: if lowest < 0.0 { lowest } else { f64::NEG_INFINITY },
        }
    }

    /// Whether a variable that is at 0, at its upper bound or between them, with gradient `g`, is
    /// set aside.
    #[inline]
    pub(crate) fn shrink(&self, (at_zero, at_upper): (bool, bool), g: f64) -> bool {
        (at_zero && g > self.above) || (at_upper && g < self.below)
    }
}

/// The active variables of one descent and the thresholds that the previous sweep set.
pub(crate) struct Shrinking {
    active: Vec<u32>,
    count: usize,
    /// Whether it sets anything aside.
    shrinks: bool,
    thresholds: Thresholds,
}

/// What a sweep saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Swept {
    /// Not there yet: range of projected gradients.
    On(f64),
    /// The range is within the tolerance on the active variables; all of them are active again.
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

    /// Number of active variables.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// One sweep over the active variables in random order (algorithm 3 of the ICML 2008 paper).
    /// Called off inside, it is one that is not there yet.
    pub(crate) fn sweep<R: FeatureRows>(
        &mut self,
        descent: &mut Descent<R>,
        tol: f64,
        random: &mut ChaCha8Rng,
        go_on: GoOn,
    ) -> Swept {
        shuffle(&mut self.active[..self.count], random);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut at, mut ask) = (0, descent.entries + BETWEEN);
        while at < self.count {
            if descent.entries >= ask {
                ask = descent.entries + BETWEEN;
                if !go_on(descent.steps, highest - lowest) {
                    return Swept::On(f64::INFINITY);
                }
            }
            let k = self.active[at] as usize;
            if let Some(&soon) = self.active.get(at + 4) {
                descent.rows.prefetch(descent.dual.ids()[soon as usize]);
            }
            descent.steps += 1;
            let id = descent.dual.ids()[k];
            descent.entries += descent.rows.entries_of(id) as u64;
            let g = descent.gradient(k);
            let (alpha, upper) = (descent.alpha[k], descent.dual.upper()[k]);
            let (at_zero, at_upper) = (alpha <= 0.0, alpha >= upper);
            if self.thresholds.shrink((at_zero, at_upper), g) {
                self.count -= 1;
                self.active.swap(at, self.count);
                continue;
            }
            at += 1;
            let projected = if (at_zero && g > 0.0) || (at_upper && g < 0.0) { 0.0 } else { g };
            highest = highest.max(projected);
            lowest = lowest.min(projected);
            if projected.abs() > NOTHING {
                descent.take(k, g);
                descent.entries += descent.rows.entries_of(id) as u64;
            }
        }
        let range = if self.count == 0 { 0.0 } else { highest - lowest };
        if range <= tol {
            let whole = self.count == self.active.len();
            self.count = self.active.len();
            self.thresholds = Thresholds::NONE;
            return if whole { Swept::Done(range) } else { Swept::Unshrunk(range) };
        }
        if self.shrinks {
            self.thresholds = Thresholds::after(highest, lowest);
        }
        Swept::On(range)
    }
}
