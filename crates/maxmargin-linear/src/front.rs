//! Coordinate descent as long as it promises to be cheaper than Newton steps.

use crate::descent::{Descent, Shrinking, Swept};
use crate::finish::good;
use crate::matrix::Rows;
use crate::point::{Fresh, fresh};
use crate::solve::Run;
use crate::system::DIRECT;
use crate::warm::balance;
use maxmargin_core::Balance;

/// Newton steps that a problem takes, about.
const STEPS: f64 = 60.0;

/// Iterations of conjugate gradients in one Newton step, about.
const GRADIENTS: f64 = 40.0;

/// The cost of solving by Newton steps, in entries multiplied by coordinate descent (about 2 ns each).
fn newton_cost<R: Rows>(rows: &R, n: usize) -> f64 {
    let (entries, n, width) = (rows.entries() as f64 * n as f64 / rows.len().max(1) as f64, n as f64, rows.width() as f64);
    let system = if rows.width() <= DIRECT {
        width.powi(3) / 60.0
    } else {
        // Twice there and back over the rows that count, a quarter of what could.
        GRADIENTS * n.min(width) * entries / n
    };
    STEPS * (entries + 8.0 * n + system)
}

/// After so many sweeps in which shrinking found almost nothing and a margin is still missed by its own width, more sweeps are hopeless
/// (where features are few; with many, all α may be free and yet descend fast).
const HOPELESS: (u64, f64, f64) = (6, 0.9, 1.0);

/// Sweeps until the certificate is good, or until what is left would cost more than Newton steps: the range of projected gradients is noted whenever the
/// work has doubled, and its fall from one note to the next is taken to go on (the range falls about like a power of the work).
///
/// Returns the point if it is good already.
pub(crate) fn front<R: Rows>(run: &mut Run, descent: &mut Descent<R>) -> Option<(Vec<f64>, Fresh)> {
    let budget = newton_cost(descent.rows, descent.dual.len());
    let tol = run.clock.stop.tol;
    if let Balance::Sum(wanted) = descent.dual.balance() {
        let mean = descent.curvature.iter().sum::<f64>() / descent.curvature.len() as f64;
        descent.hold(wanted, mean);
    }
    let mut random = run.random();
    let mut shrinking = Shrinking::new(descent);
    let (mut mark, mut noted) = (budget / 16.0, None);
    let mut inner = tol;
    loop {
        if run.clock.spent(descent.steps + shrinking.count() as u64) {
            return None;
        }
        let swept = shrinking.sweep(descent, inner, &mut random);
        run.work.sweeps += 1;
        let (Swept::On(range) | Swept::Unshrunk(range) | Swept::Done(range)) = swept;
        let held = (descent.penalty.weight * descent.penalty.excess).abs();
        if matches!(swept, Swept::Done(_)) && held <= inner {
            let mut alpha = descent.alpha.clone();
            balance(descent.dual, &mut alpha);
            let point = fresh(descent.rows, descent.dual, &alpha, run.config.par);
            if good(run, &point) {
                return Some((alpha, point));
            }
            // The gradients of a sweep are computed one after another: the certificate may see a little more. A gap wants far more.
            let missed = if point.certificate.holds(tol) { 0.2 } else { 0.5 };
            inner *= missed;
            if inner < 1e-9 * tol.min(1.0) {
                return None;
            }
        } else if matches!(swept, Swept::Unshrunk(_)) && inner == tol {
            // Shrunken sweeps a little beyond the tolerance save whole ones that just miss it.
            inner = 0.5 * tol;
        }
        if !matches!(swept, Swept::On(_)) {
            descent.penalty.multiplier += descent.penalty.weight * descent.penalty.excess;
        }
        if run.clock.tick(descent.steps, range.max(held)) {
            return None;
        }
        let (sweeps, share, width) = HOPELESS;
        let few = descent.rows.width() <= DIRECT;
        if few && run.work.sweeps == sweeps && range > width && shrinking.count() as f64 > share * descent.dual.len() as f64 {
            return None;
        }
        let spent = descent.entries as f64;
        if spent < mark {
            continue;
        }
        let left = range.max(held) / inner;
        if let Some(before) = noted {
            let fall: f64 = before / left;
            let predicted = if fall > 1.0 { spent * (left.ln().max(0.0) / fall.ln()).exp2() } else { f64::INFINITY };
            if predicted - spent > budget {
                return None;
            }
        }
        noted = Some(left);
        mark = 2.0 * spent;
    }
}
