//! The default: coordinate descent while it pays, then Newton steps until the certificate holds.
//!
//! ```text
//!   1  coordinate descent until the goal holds or Newton steps are cheaper (front.rs)
//!   2  if its end is far from the goal and features are many, from zero: Newton steps on the dual
//!      + ‖α‖² / 2σ, σ thirty times larger from stage to stage, each from the w of the last
//!   3  repeat until the certificate shows the goal
//!   4    α' ← argmin of the dual + ‖α' − α‖² / 2σ, by Newton steps on its dual (newton.rs)
//!   5    certificate of α' from values computed anew; α ← α' if it is no worse
//!   6    σ ← larger if few Newton steps sufficed, smaller if step 4 was not solved
//! ```

use crate::config::Method;
use crate::coordinate::descent::{Descent, Shrinking, SweepResult};
use crate::front::{FrontEnd, certified_point, front};
use crate::point::PointValues;
use crate::run::{Run, RunEnd, meets_goal};
use crate::second_order::newton::{Cost, Newton, Round};
use crate::second_order::system::DIRECT;
use maxmargin_core::warm::{balance, close};
use maxmargin_core::{EqualityConstraint, Status};
use maxmargin_kernel::features::FeatureRows;

/// The largest number of proximal steps. Each divides the rest by the growth of σ or more.
const ROUNDS: usize = 60;

/// The first σ of the path times the mean of `‖x‖²`, and the sweeps to its approximate solution.
const FIRST: f64 = 10.0;
const SWEEPS: usize = 10;

/// With many features, the relative gap of a point from which Newton steps begin instead of on the
/// path: most of its active set is that of the solution. From a gap near 1 they take many times as
/// long as on the path. The first σ is larger there by this factor.
const NEAR: f64 = 0.7;
const BOLDER: f64 = 10.0;

/// The growth of σ along the path, and to the first proximal step after it.
const STAGE: f64 = 30.0;
const GROWTH: f64 = 3.0;

/// Solves by [`Method::Hybrid`] or [`Method::Newton`].
pub(crate) fn finish<R: FeatureRows>(run: &mut Run, rows: &R, alpha: Vec<f64>) -> RunEnd {
    let dual = run.dual;
    let warm = alpha.iter().any(|a| *a > 0.0);
    if warm {
        // A start that is a solution is returned unchanged.
        let point = run.point_of_sum(rows, &alpha);
        if meets_goal(run, &point) {
            return RunEnd { alpha, values: point, status: Status::Converged, work: run.work };
        }
    }
    let mut descent = run.begin(rows, &alpha);
    // 1: coordinate descent. Near a solution a Newton step does more than a sweep, unless there
    // are many features.
    let sweeps = run.config.method == Method::Hybrid && (!warm || rows.width() > DIRECT);
    let FrontEnd { point, is_solved } = if sweeps { front(run, &mut descent) } else { FrontEnd::default() };
    run.work.steps = descent.steps;
    run.work.entries = descent.entries;
    let mut newton = Newton::new(rows, run.memory, run.squares, dual, run.config.par);
    let wide = rows.width() > DIRECT;
    let (alpha, point) = point.unwrap_or_else(|| certified_point(run, &descent));
    let from = if is_solved {
        Position { alpha, point, sigma: 0.0, continues: false }
    } else {
        let near = point.certificate.relative_gap() < NEAR;
        if wide && !warm && !near && run.control.ended.is_none() {
            path(run, &mut newton)
        } else {
            let sigma = first_sigma(run, &point) * if wide && near { BOLDER } else { 1.0 };
            Position { alpha, point, sigma, continues: false }
        }
    };
    let (Position { alpha, point, .. }, status) = proximal_steps(run, &mut newton, from, wide);
    run.work.newton_steps = newton.cost.steps;
    run.work.rounds = newton.cost.rounds;
    run.work.gradients = newton.cost.gradients;
    let status =
        status.or(run.control.ended).unwrap_or(if meets_goal(run, &point) { Status::Converged } else { Status::Stalled });
    let (alpha, point) = if status == Status::Converged { (alpha, point) } else { no_worse_than_zero(run, rows, alpha, point) };
    RunEnd { alpha, values: point, status, work: run.work }
}

/// Returns the point, or that of α = 0 where its primal objective is larger: between rows of 10⁻⁸
/// and 10⁸ steps may end anywhere.
fn no_worse_than_zero<R: FeatureRows>(run: &Run, rows: &R, alpha: Vec<f64>, point: PointValues) -> (Vec<f64>, PointValues) {
    if !matches!(run.dual.balance(), EqualityConstraint::Free) {
        return (alpha, point);
    }
    let zero = vec![0.0; alpha.len()];
    let at_zero = run.point_of_sum(rows, &zero);
    if at_zero.certificate.primal < point.certificate.primal { (zero, at_zero) } else { (alpha, point) }
}

/// A point between two proximal steps.
struct Position {
    alpha: Vec<f64>,
    point: PointValues,
    /// The next proximal weight.
    sigma: f64,
    /// The next step begins at the `w` of the last.
    continues: bool,
}

/// Makes proximal steps until the certificate shows the goal (steps 3 to 6).
fn proximal_steps<R: FeatureRows>(
    run: &mut Run,
    newton: &mut Newton<R>,
    mut at: Position,
    wide: bool,
) -> (Position, Option<Status>) {
    let dual = run.dual;
    let mut tol = run.control.tol();
    for _ in 0..ROUNDS {
        if meets_goal(run, &at.point) {
            return (at, Some(Status::Converged));
        }
        if at.point.certificate.holds(tol) {
            tol *= 0.1;
        }
        let (before, sweeps) = (newton.cost.steps, run.work.steps);
        let control = &mut run.control;
        // 4: a proximal step.
        let watch = |cost: &Cost, violation| control.check(sweeps + cost.steps, violation);
        let round = if at.continues {
            newton.next_round(&at.alpha, at.sigma, tol, watch)
        } else {
            newton.round(&at.alpha, &at.point, at.sigma, tol, watch)
        };
        let mut candidate = newton.solution();
        balance(dual, &mut candidate);
        close(dual, &mut candidate);
        // 5: its certificate.
        let next = run.point(newton.rows(), &candidate, newton.own());
        let steps = newton.cost.steps - before;
        let slow = next.certificate.kkt > 0.5 * at.point.certificate.kkt;
        at.continues = false;
        if is_no_worse(&next, &at.point) {
            at.alpha = candidate;
            at.point = next;
            at.continues = wide && round == Round::Solved;
        }
        if run.control.ended.is_some() {
            break;
        }
        // 6: the next proximal weight.
        at.sigma *= growth(round, steps, slow);
    }
    (at, None)
}

/// The growth of the gap in a step that shows that rounding, not progress of the dual, moved
/// weights of the solver's own; and the relative gap below which it shows nothing.
const BURST: f64 = 10.0;
const CLOSE: f64 = 1e-3;

/// Returns true if a step to `next` is taken.
fn is_no_worse(next: &PointValues, at: &PointValues) -> bool {
    let (of_next, of_at) = (&next.certificate, &at.certificate);
    let has_burst = of_next.relative_gap() > CLOSE && of_next.gap() > BURST * of_at.gap();
    if (next.has_own_w || at.has_own_w) && has_burst {
        return false;
    }
    of_next.dual >= of_at.dual || of_next.kkt < of_at.kkt
}

/// Returns the end of the path and the next σ (step 2). Most active sets on the way are small and
/// near the next one. Newton steps at the last σ alone would begin with all rows, and take hundreds
/// of steps that change the set slowly.
fn path<R: FeatureRows>(run: &mut Run, newton: &mut Newton<R>) -> Position {
    let (dual, tol) = (run.dual, run.control.tol());
    let mean = dual.ids().iter().map(|&id| run.squares[id]).sum::<f64>() / dual.len() as f64;
    let mut sigma = FIRST / mean.max(f64::MIN_POSITIVE);
    let bounds: Vec<f64> = dual.upper().iter().copied().filter(|upper| upper.is_finite() && *upper > 0.0).collect();
    let ridge = (0..dual.len()).map(|k| dual.ridge_of(k)).fold(0.0, f64::max);
    let last = match bounds.len() {
        // Without bounds, the last σ is that of the ridge.
        0 if ridge > 0.0 => 1.0 / ridge,
        0 => sigma,
        count => bounds.iter().sum::<f64>() / count as f64,
    };
    let w = first_weights(run, newton.rows(), sigma.min(last));
    let sweeps = run.work.steps;
    newton.begin_path(&w);
    loop {
        let control = &mut run.control;
        let at = if sigma >= last && bounds.is_empty() { f64::INFINITY } else { sigma.min(last) };
        newton.stage(at, tol, |cost, violation| control.check(sweeps + cost.steps, violation));
        if sigma >= last || run.control.ended.is_some() {
            break;
        }
        sigma *= STAGE;
    }
    let mut alpha = newton.solution();
    balance(dual, &mut alpha);
    close(dual, &mut alpha);
    let point = run.point(newton.rows(), &alpha, newton.own());
    Position { alpha, point, sigma: GROWTH * sigma.min(last), continues: true }
}

/// Returns an approximate `w` of the path's first stage. At a small σ, all rows are active, and a
/// few sweeps do what a Newton step on them would.
fn first_weights<R: FeatureRows>(run: &mut Run, rows: &R, sigma: f64) -> Vec<f64> {
    let dual = run.dual;
    let zero = vec![0.0; rows.width()];
    let ridges = (0..dual.len()).map(|k| dual.ridge_of(k) + 1.0 / sigma).collect();
    let Ok(stage) = dual.with_ridges(ridges) else { return zero };
    if dual.balance() != EqualityConstraint::Free {
        return zero;
    }
    let mut descent = Descent::new(rows, run.squares, &stage, &vec![0.0; dual.len()], zero);
    let mut shrinking = Shrinking::new(&descent, true);
    let mut random = run.random();
    for _ in 0..SWEEPS {
        let (control, before) = (&mut run.control, run.work.steps);
        let swept = shrinking.sweep(&mut descent, 0.0, &mut random, &mut |steps, range| !control.check(before + steps, range));
        run.work.sweeps += 1;
        if run.control.ended.is_some() || matches!(swept, SweepResult::Done(_)) {
            break;
        }
    }
    run.work.steps += descent.steps;
    run.work.entries += descent.entries;
    descent.w
}

/// Returns the factor of the proximal weight after a round with so many Newton steps (step 6).
fn growth(round: Round, steps: u64, slow: bool) -> f64 {
    match (round, steps) {
        (Round::Unsolved, _) => 0.1,
        (_, 0..=5) if slow => 100.0,
        (_, 0..=5) => 10.0,
        (_, 6..=20) => 4.0,
        _ => 2.0,
    }
}

/// Returns the first proximal weight: a violation as large as the present one moves α across a
/// tenth of its box, or by ten coordinate steps.
fn first_sigma(run: &Run, point: &PointValues) -> f64 {
    let dual = run.dual;
    let mean = dual.ids().iter().map(|&id| run.squares[id]).sum::<f64>() / dual.len() as f64;
    let bounds: Vec<f64> = dual.upper().iter().copied().filter(|u| u.is_finite()).collect();
    let bound = bounds.iter().sum::<f64>() / bounds.len().max(1) as f64;
    let steps = 10.0 / mean.max(f64::MIN_POSITIVE);
    let sigma = if bounds.is_empty() { steps } else { steps.min(0.1 * bound) };
    sigma / point.certificate.kkt.clamp(1e-6, 1.0)
}
