//! Coordinate descent as long as it promises to be cheaper than Newton steps.

use crate::avsf::Frequencies;
use crate::descent::{Descent, Shrinking, Swept};
use crate::point::{Fresh, fresh};
use crate::run::{Run, good};
use crate::system::DIRECT;
use maxmargin_core::warm::balance;
use maxmargin_core::{EqualityConstraint, Forecast};
use maxmargin_kernel::features::FeatureRows;

/// Newton steps that a problem takes, about.
const STEPS: f64 = 60.0;

/// Iterations of conjugate gradients in one Newton step, about: near the solution of a large C they
/// are hundreds.
const GRADIENTS: f64 = 500.0;

/// Shrunken sweeps that were done and were not, after which they aim a little lower.
const MISSES: u32 = 3;

/// With many features, passes over all entries after which plain sweeps make way for adaptive
/// frequencies.
const PATIENCE: f64 = 20.0;

/// The cost of solving by Newton steps, in entries multiplied by coordinate descent (about 2 ns
/// each).
fn newton_cost<R: FeatureRows>(rows: &R, n: usize) -> f64 {
    let (entries, n, width) = (rows.entries() as f64 * n as f64 / rows.len().max(1) as f64, n as f64, rows.width() as f64);
    let system = if rows.width() <= DIRECT {
        width.powi(3) / 60.0
    } else {
        // Twice there and back over the rows that count, a quarter of what could.
        GRADIENTS * n.min(width) * entries / n
    };
    STEPS * (entries + 8.0 * n + system)
}

/// After so many sweeps in which shrinking found almost nothing and a margin is still missed by its
/// own width, more sweeps are hopeless (where features are few; with many, all α may be free and
/// yet descend fast).
const HOPELESS: (u64, f64, f64) = (6, 0.9, 1.0);

/// Sweeps until the certificate is good, or until what is left would cost more than Newton steps.
/// Returns the point if it is good.
pub(crate) fn front<R: FeatureRows>(run: &mut Run, descent: &mut Descent<R>) -> Option<(Vec<f64>, Fresh)> {
    let few = descent.rows.width() <= DIRECT;
    if let EqualityConstraint::Sum(wanted) = descent.dual.balance() {
        let mean = descent.curvature.iter().sum::<f64>() / descent.curvature.len() as f64;
        descent.hold(wanted, mean);
    }
    let entries = descent.rows.entries() as f64;
    let mut pace = Pace::new(newton_cost(descent.rows, descent.dual.len()), run.clock.tol());
    if !few {
        pace.forecast = Forecast::new((pace.budget / 16.0).min(0.5 * PATIENCE * entries));
    }
    let mut random = run.random();
    let mut shrinking = Shrinking::new(descent, true);
    let mut missed = 0;
    let patience = if few { f64::INFINITY } else { PATIENCE * entries };
    loop {
        if run.clock.spent(descent.steps + shrinking.count() as u64) {
            return None;
        }
        let clock = &mut run.clock;
        let swept = shrinking.sweep(descent, pace.inner, &mut random, &mut |steps, range| !clock.tick(steps, range));
        run.work.sweeps += 1;
        let (Swept::On(range) | Swept::Unshrunk(range) | Swept::Done(range)) = swept;
        let held = held(descent);
        if !matches!(swept, Swept::On(_)) {
            // The certificate costs less than the whole sweep that would confirm the shrunken ones,
            // and is what counts.
            if held <= pace.inner {
                let found = judged(run, descent);
                if good(run, &found.1) {
                    return Some(found);
                }
                missed += 1;
                if matches!(swept, Swept::Done(_)) {
                    if !pace.tighten(&found.1) {
                        return None;
                    }
                } else if missed % MISSES == 0 {
                    // Shrunken sweeps a little beyond the tolerance save whole ones that just miss
                    // it.
                    pace.inner *= 0.8;
                }
            }
            release(descent);
        }
        if run.clock.tick(descent.steps, range.max(held)) {
            return None;
        }
        let (sweeps, share, width) = HOPELESS;
        if few && run.work.sweeps == sweeps && range > width && shrinking.count() as f64 > share * descent.dual.len() as f64 {
            return None;
        }
        match pace.predict(descent.entries as f64, range.max(held)) {
            Some(more) if more > pace.budget => break,
            Some(more) if descent.entries as f64 > patience && more > descent.entries as f64 => break,
            _ => {}
        }
    }
    if few { None } else { adaptive(run, descent, &pace) }
}

/// Goes on with adaptive frequencies, which on wide data and at large C need a fraction of the
/// steps.
fn adaptive<R: FeatureRows>(run: &mut Run, descent: &mut Descent<R>, before: &Pace) -> Option<(Vec<f64>, Fresh)> {
    let mut pace = Pace { inner: before.inner, ..Pace::new(before.budget, before.tol) };
    pace.begun = descent.entries as f64;
    let mut random = run.random();
    let mut frequencies = Frequencies::new(descent.dual.len(), false);
    loop {
        if run.clock.spent(descent.steps + descent.dual.len() as u64) {
            return None;
        }
        let clock = &mut run.clock;
        let (largest, done) = frequencies.sweep(descent, pace.inner, &mut random, &mut |steps, range| !clock.tick(steps, range));
        run.work.sweeps += 1;
        let held = held(descent);
        if done && held <= pace.inner {
            let found = judged(run, descent);
            if good(run, &found.1) {
                return Some(found);
            }
            if !pace.tighten(&found.1) {
                return None;
            }
        }
        if done || held > largest {
            release(descent);
        }
        if run.clock.tick(descent.steps, largest.max(held)) {
            return None;
        }
        if pace.predict(descent.entries as f64, largest.max(held)).is_some_and(|more| more > pace.budget) {
            return None;
        }
    }
}

/// By how much the penalty alone disturbs the gradients.
fn held<R>(descent: &Descent<R>) -> f64 {
    (descent.penalty.weight * descent.penalty.excess).abs()
}

/// Lets the multiplier take over what the penalty holds.
fn release<R>(descent: &mut Descent<R>) {
    descent.penalty.multiplier += descent.penalty.weight * descent.penalty.excess;
}

/// The present point, balanced, and what the certificate says of it.
fn judged<R: FeatureRows>(run: &Run, descent: &Descent<R>) -> (Vec<f64>, Fresh) {
    let mut alpha = descent.alpha.clone();
    balance(descent.dual, &mut alpha);
    let point = fresh(descent.rows, descent.dual, &alpha, run.config.par);
    (alpha, point)
}

/// Where a descent is going.
struct Pace {
    /// What Newton steps would cost.
    budget: f64,
    /// What was asked for, and what the sweeps work towards.
    tol: f64,
    inner: f64,
    begun: f64,
    forecast: Forecast,
}

impl Pace {
    fn new(budget: f64, tol: f64) -> Self {
        Self { budget, tol, inner: tol, begun: 0.0, forecast: Forecast::new(budget / 16.0) }
    }

    /// Goes on towards less than sweeps called done, since the judge saw more: their gradients are
    /// computed one after another, or a gap wants far more. Not beyond what rounding allows.
    fn tighten(&mut self, point: &Fresh) -> bool {
        self.inner *= if point.certificate.holds(self.tol) { 0.2 } else { 0.5 };
        self.inner >= 1e-9 * self.tol.min(1.0)
    }

    /// The work that is left at this pace, when it is time to look: `spent` is counted from the
    /// beginning of the run.
    fn predict(&mut self, spent: f64, violation: f64) -> Option<f64> {
        self.forecast.remaining(spent - self.begun, violation / self.inner)
    }
}
