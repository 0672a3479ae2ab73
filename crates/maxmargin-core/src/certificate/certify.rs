//! The certificate of one point: primal, dual, KKT violation and feasibility, recomputed in `f64`
//! from exact kernel values.

use crate::certificate::figures::{Certificate, apart, loss, outside};
use crate::certificate::gradient::exact_gradient;
use crate::certificate::rounding::Rounding;
use crate::certificate::simplex;
use crate::problem::dual::{Dual, EqualityConstraint};
use crate::problem::solution::Solution;
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::Exact;

/// Certifies one solution from kernel values computed anew, or from features.
///
/// # Panics
///
/// When `solution` has another number of variables than `dual`.
pub fn certify<'e>(dual: &Dual, source: impl Into<Exact<'e>>, solution: &Solution, par: Par) -> Certificate {
    let source = source.into();
    let gradient = exact_gradient(dual, source, &solution.alpha, par, &RunControl::unlimited()).expect("unlimited");
    certify_gradient(dual, source, &solution.alpha, solution.bias, &gradient)
}

/// Certifies a point by its gradient `Qα + lin`, which must come from exact `f64` values of
/// `source`: a certificate is only as good as its gradient.
///
/// # Panics
///
/// When `alpha` and `gradient` do not have one entry per variable, or the problem names samples
/// that `source` does not have.
pub fn certify_gradient<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    alpha: &[f64],
    bias: f64,
    gradient: &[f64],
) -> Certificate {
    let source = source.into();
    let figures = figures(dual, alpha, bias, gradient);
    let rounding = Rounding::at(dual, source, alpha, bias, gradient);
    let shift = shift(dual, source);
    let primal = if shift == 0.0 { figures.primal } else { figures.primal + shift * reach(dual, alpha) };
    Certificate { primal, rounding, ..figures }
}

/// Returns a `σ` for which `Q + σI` is known to be positive semidefinite. A ridge is part of Q.
pub(crate) fn shift(dual: &Dual, source: Exact) -> f64 {
    let of_kernel = source.indefiniteness();
    if of_kernel == 0.0 {
        0.0
    } else {
        (of_kernel - (0..dual.len()).map(|k| dual.ridge_of(k)).fold(f64::INFINITY, f64::min)).max(0.0)
    }
}

/// Returns `½ max ‖α − α'‖²` over the box of `α'`. If `K + σI` is positive semidefinite, the dual
/// objective of a feasible point exceeds the primal by at most `σ` times this.
fn reach(dual: &Dual, alpha: &[f64]) -> f64 {
    let far = alpha.iter().zip(dual.upper()).map(|(a, u)| a.max(u - a)).filter(|by| *by != 0.0);
    0.5 * far.map(|by| by * by).sum::<f64>()
}

/// Returns the figures of a certificate from α, the bias and the gradient alone, for solvers that
/// check their goal. They are exact if the gradient is, treat a gap below 0 as rounding, and have
/// the primal of a positive semidefinite kernel matrix. Reports use [`certify_gradient`] instead.
///
/// # Panics
///
/// When `alpha` and `gradient` do not have one entry per variable.
pub fn figures(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
    let figures = if matches!(dual.balance(), EqualityConstraint::Simplex | EqualityConstraint::PerSign(..)) {
        simplex::figures(dual, alpha, bias, gradient)
    } else {
        of_sum(dual, alpha, bias, gradient)
    };
    Certificate { rounding: Rounding { gap: (-figures.gap()).max(0.0), kkt: 0.0 }, ..figures }
}

/// Returns the figures for one sum or none.
fn of_sum(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    let quadratic: f64 = (0..dual.len()).map(|k| alpha[k] * (gradient[k] - dual.linear_term()[k])).sum();
    let ridge: f64 = alpha.iter().enumerate().map(|(k, a)| dual.ridge_of(k) * a * a).sum();
    let linear: f64 = alpha.iter().zip(dual.linear_term()).map(|(a, p)| a * p).sum();
    // Without a constraint every variable moves alone: its gradient is compared with 0, for either
    // sign.
    let alone = dual.balance() == EqualityConstraint::Free;
    let given = bias;
    // The bias is then inside the kernel, or there is none.
    let bias = if alone { 0.0 } else { bias };
    let none = if alone { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (mut slack, (mut lowest_up, mut highest_low)) = (0.0, none);
    // Comparisons drop NaN, which must not count as zero.
    let finite = given.is_finite() && alpha.iter().chain(gradient).all(|v| v.is_finite());
    let mut infeasible: f64 = if finite { 0.0 } else { f64::INFINITY };
    let (mut balance, mut mass) = (0.0, 0.0);
    for k in 0..dual.len() {
        let (s, a, u) = (dual.sign()[k], alpha[k], dual.upper()[k]);
        // The ridge is part of the loss, not of w: 1 − y f(x) for C-SVC.
        let ridge = dual.ridge_of(k);
        slack += loss(ridge * a - gradient[k] - s * bias, u, ridge);
        infeasible = infeasible.max(outside(a, u));
        balance += s * a;
        mass += a;
        let s = if alone { 1.0 } else { s };
        let f = s * gradient[k];
        let (may_fall, may_rise) = (a > 0.0, a < u);
        if (s > 0.0 && may_rise) || (s < 0.0 && may_fall) {
            lowest_up = lowest_up.min(f);
        }
        if (s > 0.0 && may_fall) || (s < 0.0 && may_rise) {
            highest_low = highest_low.max(f);
        }
    }
    let wanted = match dual.balance() {
        EqualityConstraint::Sum(wanted) => Some(wanted),
        _ => None,
    };
    if let Some(wanted) = wanted {
        infeasible = infeasible.max(apart(balance, wanted, mass));
    }
    Certificate {
        primal: 0.5 * (quadratic - ridge) + slack + wanted.map_or(0.0, |d| d * bias),
        dual: -(0.5 * quadratic + linear),
        kkt: (highest_low - lowest_up).max(0.0),
        infeasible,
        rounding: Rounding::NONE,
    }
}
