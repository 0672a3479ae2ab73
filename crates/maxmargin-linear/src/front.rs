//! Coordinate descent while it is forecast to be cheaper than Newton steps.

use crate::coordinate::avsf::Frequencies;
use crate::coordinate::descent::{Descent, GoOn, Shrinking, SweepResult};
use crate::point::PointValues;
use crate::run::{Run, meets_goal};
use crate::second_order::system::DIRECT;
use maxmargin_core::warm::balance;
use maxmargin_core::{Dual, EqualityConstraint, Forecast, twins};
use maxmargin_kernel::features::FeatureRows;
use rand_chacha::ChaCha8Rng;

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
const PASSES: (f64, f64) = (150.0, 600.0);

/// The same for regression. Most values are matched exactly at the optimum, so that Newton systems
/// are as large as the data: on news20 they cost more than ten times the sweeps.
const PASSES_OF_VALUES: f64 = 30_000.0;

/// The factor of a free bias: a second right-hand side in every Newton system, solved more
/// accurately.
const PASSES_OF_BIAS: f64 = 2.0;

/// The first note of the violation, as a share of the cost of Newton steps, with few and with many
/// features; the first forecast is after twice as much. With many features the violation stays high
/// until the samples at their bounds are found, and then falls within a few sweeps.
const FIRST_NOTE: (f64, f64) = (1.0 / 16.0, 1.0 / 8.0);

/// The sweeps on active variables that met their tolerance but not the goal, after which they aim
/// lower.
const MISSES: u32 = 3;

/// Returns the entries of so many variables or coordinates with the average of a row.
fn entries<R: FeatureRows>(rows: &R, count: usize) -> f64 {
    rows.entries() as f64 * count as f64 / rows.len().max(1) as f64
}

/// Returns the cost of Newton steps, in entries multiplied by coordinate descent (about 2 ns each).
fn newton_cost<R: FeatureRows>(rows: &R, dual: &Dual) -> f64 {
    let (entries, n, width) = (entries(rows, dual.len()), dual.len() as f64, rows.width() as f64);
    if rows.width() > DIRECT {
        return entries
            * if twins(dual).is_some() {
                PASSES_OF_VALUES
            } else if is_unbounded(dual) {
                PASSES.0
            } else {
                PASSES.1
            }
            * if dual.balance() == EqualityConstraint::Free { 1.0 } else { PASSES_OF_BIAS };
    }
    let step = entries + 8.0 * n + width.powi(3) / 60.0;
    if is_unbounded(dual) {
        // All rows within the margin are in the system, of two-class data often most of them.
        let each = entries / n;
        STEPS_UNBOUNDED * (step + n * each * each / 16.0)
    } else if twins(dual).is_some() {
        STEPS_OF_VALUES * step
    } else {
        STEPS_OF_CLASSES * step
    }
}

/// The multiplier of a free bias takes over the force of the penalty when no other gradient exceeds
/// this share of it: sweeps beyond that would settle a problem whose bias is still wrong.
const RELEASE: f64 = 0.3;

/// The share of curvatures below the weight of the penalty that holds the bias.
const BELOW_PENALTY: f64 = 0.1;

/// Returns the weight of the penalty that holds the bias: a small curvature. A variable whose
/// curvature is far below it hardly moves, and rows of text that is not scaled have squares from 1
/// to 10⁵, of which the mean is that of the longest.
fn penalty_weight(curvatures: impl Iterator<Item = f64>) -> f64 {
    let mut positive: Vec<f64> = curvatures.filter(|curvature| *curvature > 0.0).collect();
    if positive.is_empty() {
        return 0.0;
    }
    let place = (BELOW_PENALTY * positive.len() as f64) as usize;
    *positive.select_nth_unstable_by(place, f64::total_cmp).1
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

/// The order of visits. With many features and a large C, adaptive frequencies need a small part of
/// the steps of random permutations; with few features Newton steps are near, and plain sweeps cost
/// least.
enum Sweeps {
    Plain(Shrinking),
    Adaptive(Frequencies),
}

impl Sweeps {
    fn new<R: FeatureRows>(descent: &Descent<R>, few: bool) -> Self {
        if few {
            Self::Plain(Shrinking::new(descent, true))
        } else {
            Self::Adaptive(Frequencies::new(descent.coordinates(), true))
        }
    }

    /// Returns the largest number of steps of the next sweep.
    fn count<R: FeatureRows>(&self, descent: &Descent<R>) -> usize {
        match self {
            Self::Plain(shrinking) => shrinking.count(),
            Self::Adaptive(_) => descent.coordinates(),
        }
    }

    fn sweep<R: FeatureRows>(&mut self, descent: &mut Descent<R>, tol: f64, random: &mut ChaCha8Rng, go_on: GoOn) -> SweepResult {
        match self {
            Self::Plain(shrinking) => shrinking.sweep(descent, tol, random, go_on),
            Self::Adaptive(frequencies) => frequencies.sweep(descent, tol, random, go_on),
        }
    }
}

/// The end of the sweeps.
#[derive(Default)]
pub(crate) struct FrontEnd {
    /// The last point, where its certificate was computed.
    pub(crate) point: Option<(Vec<f64>, PointValues)>,
    /// True if the point shows the goal.
    pub(crate) is_solved: bool,
}

/// Sweeps until the certificate shows the goal, or until the rest would cost more than Newton
/// steps.
pub(crate) fn front<R: FeatureRows>(run: &mut Run, descent: &mut Descent<R>) -> FrontEnd {
    let few = descent.rows.width() <= DIRECT;
    if let EqualityConstraint::Sum(wanted) = descent.dual.balance() {
        let weight = penalty_weight(descent.curvatures());
        descent.hold(wanted, weight);
    }
    // A sweep multiplies with every row and adds it.
    let sweep = 2.0 * entries(descent.rows, descent.coordinates());
    let (budget, tol) = (newton_cost(descent.rows, descent.dual), run.control.tol());
    if few && budget < FEWEST_SWEEPS * sweep {
        return FrontEnd::default();
    }
    let first = (budget * if few { FIRST_NOTE.0 } else { FIRST_NOTE.1 }).max(sweep);
    // The dual of a squared loss is strongly convex.
    let forecast = if is_unbounded(descent.dual) { Forecast::linear(first) } else { Forecast::new(first) };
    let mut pace = SweepForecast { budget, tol, inner: tol, forecast };
    let mut random = run.random();
    let (mut sweeps, mut missed) = (Sweeps::new(descent, few), 0);
    loop {
        if run.control.spent(descent.steps + sweeps.count(descent) as u64) {
            return FrontEnd::default();
        }
        let control = &mut run.control;
        let swept = sweeps.sweep(descent, pace.inner, &mut random, &mut |steps, range| !control.check(steps, range));
        run.work.sweeps += 1;
        let (SweepResult::On(range) | SweepResult::Unshrunk(range) | SweepResult::Done(range)) = swept;
        let held = held(descent);
        if !matches!(swept, SweepResult::On(_)) {
            // The certificate costs less than the whole sweep that would confirm the active ones,
            // and it decides.
            if held <= pace.inner {
                let found = certified_point(run, descent);
                if meets_goal(run, &found.1) {
                    return FrontEnd { point: Some(found), is_solved: true };
                }
                missed += 1;
                if matches!(swept, SweepResult::Done(_)) {
                    if !pace.tighten(&found.1) {
                        return FrontEnd { point: Some(found), is_solved: false };
                    }
                } else if missed % MISSES == 0 {
                    // Active sweeps that go slightly beyond the tolerance save whole ones that just
                    // miss it.
                    pace.inner *= 0.8;
                }
            }
            release(descent);
        } else if range < RELEASE * held {
            release(descent);
        }
        if run.control.check(descent.steps, range.max(held)) {
            return FrontEnd::default();
        }
        let is_bad = pace.predict(descent.cost(), range.max(held)).is_some_and(|more| more > pace.budget);
        if is_bad && (few || descent.cost() > DEAR * pace.budget) {
            return FrontEnd::default();
        }
        // A relative gap beyond which sweeps are given up.
        let most = if few { (run.work.sweeps == NO_CONVERGENCE.0).then_some(NO_CONVERGENCE.1) } else { is_bad.then_some(NEARBY) };
        if let Some(most) = most {
            let found = certified_point(run, descent);
            if found.1.certificate.relative_gap() > most {
                return FrontEnd { point: Some(found), is_solved: false };
            }
        }
    }
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
    let mut alpha: Vec<f64> = descent.alpha().collect();
    balance(descent.dual, &mut alpha);
    let point = run.point_of_sum(descent.rows, &alpha);
    (alpha, point)
}

/// The progress of a descent and its forecast.
struct SweepForecast {
    /// The cost of Newton steps.
    budget: f64,
    /// The tolerance of the goal, and that of the sweeps.
    tol: f64,
    inner: f64,
    forecast: Forecast,
}

impl SweepForecast {
    /// Lowers the tolerance of sweeps that ended without showing the goal: their gradients are
    /// computed one after another, or a gap needs a smaller violation. Returns false at the limit
    /// of rounding.
    fn tighten(&mut self, point: &PointValues) -> bool {
        self.inner *= if point.certificate.holds(self.tol) { 0.2 } else { 0.5 };
        self.inner >= (1e-9 * self.tol.min(1.0)).max(f64::MIN_POSITIVE)
    }

    /// Returns the remaining work at this pace, if a check is due.
    fn predict(&mut self, spent: f64, violation: f64) -> Option<f64> {
        self.forecast.remaining(spent, violation / self.inner)
    }
}
