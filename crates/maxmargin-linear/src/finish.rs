//! The default: coordinate descent while it pays, then Newton steps until the certificate holds.

use crate::config::Method;
use crate::front::front;
use crate::newton::{Newton, Round};
use crate::point::{Fresh, fresh};
use crate::run::{Ended, Run, good};
use crate::system::DIRECT;
use maxmargin_core::Status;
use maxmargin_core::warm::balance;
use maxmargin_kernel::features::FeatureRows;

/// Proximal steps at most: each divides what is left by the growth of σ or better.
const ROUNDS: usize = 60;

/// Solves by [`Method::Hybrid`] or [`Method::Newton`].
pub(crate) fn finish<R: FeatureRows>(run: &mut Run, rows: &R, alpha: Vec<f64>) -> Ended {
    let dual = run.dual;
    let warm = alpha.iter().any(|a| *a > 0.0);
    if warm {
        // Whoever starts from a solution gets it back.
        let point = fresh(rows, dual, &alpha, run.config.par);
        if good(run, &point) {
            return Ended { alpha, fresh: point, status: Status::Converged, work: run.work };
        }
    }
    let mut descent = run.begin(rows, alpha);
    // Near a solution a Newton step does more than a sweep, unless features are many.
    let sweeps = run.config.method == Method::Hybrid && (!warm || rows.width() > DIRECT);
    let solved = if sweeps { front(run, &mut descent) } else { None };
    run.work.steps = descent.steps;
    run.work.entries = descent.entries;
    let (mut alpha, mut point) = if let Some(solved) = solved {
        solved
    } else {
        let mut alpha = descent.alpha;
        balance(dual, &mut alpha);
        let point = fresh(rows, dual, &alpha, run.config.par);
        (alpha, point)
    };
    let mut tol = run.clock.tol();
    let mut sigma = first_sigma(run, &point);
    let mut newton = Newton::new((rows, run.ledger), run.squares, dual, run.config.par);
    let mut status = None;
    for _ in 0..ROUNDS {
        if good(run, &point) {
            status = Some(Status::Converged);
            break;
        }
        if point.certificate.holds(tol) {
            tol *= 0.1;
        }
        let (before, sweeps) = (newton.cost.steps, run.work.steps);
        let clock = &mut run.clock;
        let from = (&alpha[..], &point.w[..], point.bias, &point.gradient[..]);
        let round = newton.round(from, sigma, tol, |cost, violation| clock.tick(sweeps + cost.steps, violation));
        let mut candidate = newton.solution();
        balance(dual, &mut candidate);
        let next = fresh(rows, dual, &candidate, run.config.par);
        let steps = newton.cost.steps - before;
        let slow = next.certificate.kkt > 0.5 * point.certificate.kkt;
        if next.certificate.dual >= point.certificate.dual || next.certificate.kkt < point.certificate.kkt {
            alpha = candidate;
            point = next;
        }
        if run.clock.ended.is_some() {
            break;
        }
        sigma *= match (round, steps) {
            (Round::Unsolved, _) => 0.1,
            (_, 0..=5) if slow => 100.0,
            (_, 0..=5) => 10.0,
            (_, 6..=20) => 4.0,
            _ => 2.0,
        };
    }
    run.work.newton_steps = newton.cost.steps;
    run.work.rounds = newton.cost.rounds;
    run.work.gradients = newton.cost.gradients;
    let status = status.or(run.clock.ended).unwrap_or(if good(run, &point) { Status::Converged } else { Status::Stalled });
    Ended { alpha, fresh: point, status, work: run.work }
}

/// The first proximal weight: a violation as large as the present one moves α across a tenth of a
/// box, or by ten coordinate steps.
fn first_sigma(run: &Run, point: &Fresh) -> f64 {
    let dual = run.dual;
    let mean = dual.ids().iter().map(|&id| run.squares[id]).sum::<f64>() / dual.len() as f64;
    let bounds: Vec<f64> = dual.upper().iter().copied().filter(|u| u.is_finite()).collect();
    let bound = bounds.iter().sum::<f64>() / bounds.len().max(1) as f64;
    let steps = 10.0 / mean.max(f64::MIN_POSITIVE);
    let sigma = if bounds.is_empty() { steps } else { steps.min(0.1 * bound) };
    sigma / point.certificate.kkt.clamp(1e-6, 1.0)
}
