//! The default: coordinate descent while it pays, then Newton steps until the certificate holds.
//!
//! ```text
//!   1  coordinate descent until the goal holds or Newton steps are cheaper (front.rs)
//!   2  repeat until the certificate shows the goal
//!   3    α' ← argmin of the dual + ‖α' − α‖² / 2σ, by Newton steps on its dual (newton.rs)
//!   4    certificate of α' from values computed anew; α ← α' if it is no worse
//!   5    σ ← larger if few Newton steps sufficed, smaller if step 3 was not solved
//! ```

use crate::config::Method;
use crate::front::{certified_point, front};
use crate::point::{PointValues, point_values};
use crate::run::{Run, RunEnd, meets_goal};
use crate::second_order::newton::{Newton, Round};
use crate::second_order::system::DIRECT;
use maxmargin_core::Status;
use maxmargin_core::warm::balance;
use maxmargin_kernel::features::FeatureRows;

/// The largest number of proximal steps. Each divides the rest by the growth of σ or more.
const ROUNDS: usize = 60;

/// Solves by [`Method::Hybrid`] or [`Method::Newton`].
pub(crate) fn finish<R: FeatureRows>(run: &mut Run, rows: &R, alpha: Vec<f64>) -> RunEnd {
    let dual = run.dual;
    let warm = alpha.iter().any(|a| *a > 0.0);
    if warm {
        // A start that is a solution is returned unchanged.
        let point = point_values(rows, dual, &alpha, run.config.par);
        if meets_goal(run, &point) {
            return RunEnd { alpha, values: point, status: Status::Converged, work: run.work };
        }
    }
    let mut descent = run.begin(rows, alpha);
    // 1: coordinate descent. Near a solution a Newton step does more than a sweep, unless there
    // are many features.
    let sweeps = run.config.method == Method::Hybrid && (!warm || rows.width() > DIRECT);
    let solved = if sweeps { front(run, &mut descent) } else { None };
    run.work.steps = descent.steps;
    run.work.entries = descent.entries;
    let (mut alpha, mut point) = solved.unwrap_or_else(|| certified_point(run, &descent));
    let mut tol = run.control.tol();
    let mut sigma = first_sigma(run, &point);
    let mut newton = Newton::new(rows, run.memory, run.squares, dual, run.config.par);
    let mut status = None;
    for _ in 0..ROUNDS {
        if meets_goal(run, &point) {
            status = Some(Status::Converged);
            break;
        }
        if point.certificate.holds(tol) {
            tol *= 0.1;
        }
        let (before, sweeps) = (newton.cost.steps, run.work.steps);
        let control = &mut run.control;
        // 3: a proximal step.
        let round = newton.round(&alpha, &point, sigma, tol, |cost, violation| control.check(sweeps + cost.steps, violation));
        let mut candidate = newton.solution();
        balance(dual, &mut candidate);
        // 4: its certificate.
        let next = point_values(rows, dual, &candidate, run.config.par);
        let steps = newton.cost.steps - before;
        let slow = next.certificate.kkt > 0.5 * point.certificate.kkt;
        if next.certificate.dual >= point.certificate.dual || next.certificate.kkt < point.certificate.kkt {
            alpha = candidate;
            point = next;
        }
        if run.control.ended.is_some() {
            break;
        }
        // 5: the next proximal weight.
        sigma *= growth(round, steps, slow);
    }
    run.work.newton_steps = newton.cost.steps;
    run.work.rounds = newton.cost.rounds;
    run.work.gradients = newton.cost.gradients;
    let status =
        status.or(run.control.ended).unwrap_or(if meets_goal(run, &point) { Status::Converged } else { Status::Stalled });
    RunEnd { alpha, values: point, status, work: run.work }
}

/// Returns the factor of the proximal weight after a round with so many Newton steps (step 5).
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
