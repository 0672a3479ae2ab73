//! Coordinate descent while it is forecast to be cheaper than Newton steps.

use crate::coordinate::avsf::Frequencies;
use crate::coordinate::descent::{Descent, Shrinking, SweepResult};
use crate::point::{PointValues, point_values};
use crate::run::{Run, meets_goal};
use crate::second_order::system::{DIRECT, is_regression};
use maxmargin_core::warm::balance;
use maxmargin_core::{Dual, EqualityConstraint, Forecast};
use maxmargin_kernel::features::FeatureRows;

/// The approximate number of Newton steps with few features: of classes with upper bounds,
const STEPS_OF_CLASSES: f64 = 60.0;
/// of a regression with upper bounds,
const STEPS_OF_VALUES: f64 = 25.0;
/// and without upper bounds.
const STEPS_UNBOUNDED: f64 = 8.0;

/// Sweeps begin if Newton steps cost more than so many.
const FEWEST_SWEEPS: f64 = 12.0;

/// The approximate cost of all Newton steps with many features, in passes over all entries, without
/// and with upper bounds: 40 to 330 for the squared hinge loss on news20, 140 to 880 for the hinge
/// loss, for C from 0.01 to 1000.
const PASSES: (f64, f64) = (60.0, 600.0);

/// The same for regression. Most values are matched exactly at the optimum, so that Newton systems
/// are as large as the data: on news20 they cost more than ten times the sweeps.
const PASSES_OF_VALUES: f64 = 30_000.0;

/// With many features, the passes over all entries after which adaptive frequencies may replace the
/// plain sweeps of a regression.
const PLAIN_PASSES: f64 = 20.0;

/// The sweeps on active variables that met their tolerance but not the goal, after which they aim
/// lower.
const MISSES: u32 = 3;

/// Returns the entries of all variables.
fn entries<R: FeatureRows>(rows: &R, dual: &Dual) -> f64 {
    rows.entries() as f64 * dual.len() as f64 / rows.len().max(1) as f64
}

/// Returns the cost of Newton steps, in entries multiplied by coordinate descent (about 2 ns each).
fn newton_cost<R: FeatureRows>(rows: &R, dual: &Dual) -> f64 {
    let (entries, n, width) = (entries(rows, dual), dual.len() as f64, rows.width() as f64);
    if rows.width() > DIRECT {
        return entries
            * if is_regression(rows, dual) {
                PASSES_OF_VALUES
            } else if is_unbounded(dual) {
                PASSES.0
            } else {
                PASSES.1
            };
    }
    let step = entries + 8.0 * n + width.powi(3) / 60.0;
    if is_unbounded(dual) {
        // All rows within the margin are in the system, of two-class data often most of them.
        let each = entries / n;
        STEPS_UNBOUNDED * (step + n * each * each / 16.0)
    } else if is_regression(rows, dual) {
        STEPS_OF_VALUES * step
    } else {
        STEPS_OF_CLASSES * step
    }
}

/// Returns true if no variable has an upper bound.
fn is_unbounded(dual: &Dual) -> bool {
    dual.upper().iter().all(|upper| *upper == f64::INFINITY)
}

/// With few features, the sweeps after which a larger relative gap means no convergence: on a9a,
/// ijcnn1, w8a and usps it is .75 to 1 where thousands would follow, below .5 where hundreds do.
const NO_CONVERGENCE: (u64, f64) = (3, 0.5);

/// With many features, a bad forecast counts if the relative gap is above the first, or if sweeps
/// have cost the second share of Newton steps. The violation of single sweeps foretells little: at
/// `C = 1` on news20 it doubles from one to the next and falls to the tolerance soon after. Where
/// sweeps do not converge, the gap is .3 and more.
const NEARBY: f64 = 0.2;
const DEAR: f64 = 0.5;

/// Sweeps until the certificate shows the goal, or until the rest would cost more than Newton
/// steps. Returns the point if it shows the goal.
pub(crate) fn front<R: FeatureRows>(run: &mut Run, descent: &mut Descent<R>) -> Option<(Vec<f64>, PointValues)> {
    let few = descent.rows.width() <= DIRECT;
    if let EqualityConstraint::Sum(wanted) = descent.dual.balance() {
        let mean = descent.curvature.iter().sum::<f64>() / descent.curvature.len() as f64;
        descent.hold(wanted, mean);
    }
    // A sweep multiplies with every row and adds it.
    let sweep = 2.0 * entries(descent.rows, descent.dual);
    let mut pace = SweepForecast::new(newton_cost(descent.rows, descent.dual), run.control.tol());
    if few && pace.budget < FEWEST_SWEEPS * sweep {
        return None;
    }
    let adapts = !few && is_regression(descent.rows, descent.dual);
    let plain_limit = if adapts { PLAIN_PASSES * descent.rows.entries() as f64 } else { f64::INFINITY };
    let first = (pace.budget / 16.0).max(sweep).min(0.5 * plain_limit);
    // The dual of a squared loss is strongly convex.
    pace.forecast = if is_unbounded(descent.dual) { Forecast::linear(first) } else { Forecast::new(first) };
    let mut random = run.random();
    let mut shrinking = Shrinking::new(descent, true);
    let mut missed = 0;
    loop {
        if run.control.spent(descent.steps + shrinking.count() as u64) {
            return None;
        }
        let control = &mut run.control;
        let swept = shrinking.sweep(descent, pace.inner, &mut random, &mut |steps, range| !control.check(steps, range));
        run.work.sweeps += 1;
        let (SweepResult::On(range) | SweepResult::Unshrunk(range) | SweepResult::Done(range)) = swept;
        let held = held(descent);
        if !matches!(swept, SweepResult::On(_)) {
            // The certificate costs less than the whole sweep that would confirm the active ones,
            // and it decides.
            if held <= pace.inner {
                let found = certified_point(run, descent);
                if meets_goal(run, &found.1) {
                    return Some(found);
                }
                missed += 1;
                if matches!(swept, SweepResult::Done(_)) {
                    if !pace.tighten(&found.1) {
                        return None;
                    }
                } else if missed % MISSES == 0 {
                    // Active sweeps that go slightly beyond the tolerance save whole ones that just
                    // miss it.
                    pace.inner *= 0.8;
                }
            }
            release(descent);
        }
        if run.control.check(descent.steps, range.max(held)) {
            return None;
        }
        if few && !converges(run, descent) {
            return None;
        }
        match pace.predict(descent.cost(), range.max(held)) {
            Some(more) if more > pace.budget && (few || is_far(run, descent, pace.budget)) => break,
            Some(more) if descent.cost() > plain_limit && more > descent.cost() => break,
            _ => {}
        }
    }
    if adapts { adaptive(run, descent, &pace) } else { None }
}

/// Continues a regression with adaptive frequencies, which need a fraction of the steps on wide
/// data and at large C.
fn adaptive<R: FeatureRows>(run: &mut Run, descent: &mut Descent<R>, before: &SweepForecast) -> Option<(Vec<f64>, PointValues)> {
    let mut pace = SweepForecast { inner: before.inner, ..SweepForecast::new(before.budget, before.tol) };
    pace.begun = descent.cost();
    let mut random = run.random();
    let mut frequencies = Frequencies::new(descent.dual.len(), false);
    loop {
        if run.control.spent(descent.steps + descent.dual.len() as u64) {
            return None;
        }
        let control = &mut run.control;
        let (largest, done) =
            frequencies.sweep(descent, pace.inner, &mut random, &mut |steps, range| !control.check(steps, range));
        run.work.sweeps += 1;
        let held = held(descent);
        if done && held <= pace.inner {
            let found = certified_point(run, descent);
            if meets_goal(run, &found.1) {
                return Some(found);
            }
            if !pace.tighten(&found.1) {
                return None;
            }
        }
        if done || held > largest {
            release(descent);
        }
        if run.control.check(descent.steps, largest.max(held)) {
            return None;
        }
        if pace.predict(descent.cost(), largest.max(held)).is_some_and(|more| more > pace.budget) {
            return None;
        }
    }
}

/// Returns false if the sweeps so far show that they do not converge, with few features.
fn converges<R: FeatureRows>(run: &Run, descent: &Descent<R>) -> bool {
    let (sweeps, gap) = NO_CONVERGENCE;
    run.work.sweeps != sweeps || relative_gap(run, descent) <= gap
}

/// Returns true if a bad forecast counts, with many features.
fn is_far<R: FeatureRows>(run: &Run, descent: &Descent<R>, budget: f64) -> bool {
    descent.cost() > DEAR * budget || relative_gap(run, descent) > NEARBY
}

/// Returns the relative gap of the present point.
fn relative_gap<R: FeatureRows>(run: &Run, descent: &Descent<R>) -> f64 {
    certified_point(run, descent).1.certificate.relative_gap()
}

/// Returns the disturbance of the gradients by the penalty alone.
fn held<R>(descent: &Descent<R>) -> f64 {
    (descent.penalty.weight * descent.penalty.excess).abs()
}

/// Moves the force of the penalty to the multiplier.
fn release<R>(descent: &mut Descent<R>) {
    descent.penalty.multiplier += descent.penalty.weight * descent.penalty.excess;
}

/// Returns the present point, feasible, with its certificate.
pub(crate) fn certified_point<R: FeatureRows>(run: &Run, descent: &Descent<R>) -> (Vec<f64>, PointValues) {
    let mut alpha = descent.alpha.clone();
    balance(descent.dual, &mut alpha);
    let point = point_values(descent.rows, descent.dual, &alpha, run.config.par);
    (alpha, point)
}

/// The progress of a descent and its forecast.
struct SweepForecast {
    /// The cost of Newton steps.
    budget: f64,
    /// The tolerance of the goal, and that of the sweeps.
    tol: f64,
    inner: f64,
    /// The work before the first sweep of this forecast.
    begun: f64,
    forecast: Forecast,
}

impl SweepForecast {
    fn new(budget: f64, tol: f64) -> Self {
        Self { budget, tol, inner: tol, begun: 0.0, forecast: Forecast::new(budget / 16.0) }
    }

    /// Lowers the tolerance of sweeps that ended without showing the goal: their gradients are
    /// computed one after another, or a gap needs a smaller violation. Returns false at the limit
    /// of rounding.
    fn tighten(&mut self, point: &PointValues) -> bool {
        self.inner *= if point.certificate.holds(self.tol) { 0.2 } else { 0.5 };
        self.inner >= 1e-9 * self.tol.min(1.0)
    }

    /// Returns the remaining work at this pace, if a check is due.
    fn predict(&mut self, spent: f64, violation: f64) -> Option<f64> {
        self.forecast.remaining(spent - self.begun, violation / self.inner)
    }
}
