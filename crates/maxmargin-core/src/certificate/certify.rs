//! The figures of one point: primal, dual, KKT violation and feasibility, from α, bias and an exact
//! gradient.

use crate::certificate::figures::{Certificate, apart, loss, outside};
use crate::certificate::gradient::check_rows;
use crate::certificate::rounding::Rounding;
use crate::certificate::simplex;
use crate::problem::dual::{Dual, EqualityConstraint};
use maxmargin_kernel::Exact;

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
    check_rows(dual, source);
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
    if dual.has_one_ridge() && dual.ridge() == 0.0 {
        of_sum_with(dual, alpha, bias, gradient, |_| 0.0)
    } else {
        of_sum_with(dual, alpha, bias, gradient, |k| dual.ridge_of(k))
    }
}

/// One pass over the variables; what a condition decides is selected, not jumped to.
#[inline]
fn of_sum_with(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64], ridge_of: impl Fn(usize) -> f64) -> Certificate {
    let n = dual.len();
    let (alpha, gradient, sign) = (&alpha[..n], &gradient[..n], &dual.sign()[..n]);
    let (upper, linear_term) = (&dual.upper()[..n], &dual.linear_term()[..n]);
    // Without a constraint every variable moves alone: its gradient is compared with 0, for either
    // sign.
    let alone = dual.balance() == EqualityConstraint::Free;
    let given = bias;
    // The bias is then inside the kernel, or there is none.
    let bias = if alone { 0.0 } else { bias };
    let none = if alone { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (mut lowest_up, mut highest_low) = none;
    let (mut quadratic, mut of_ridge, mut linear, mut slack) = (0.0, 0.0, 0.0, 0.0);
    let (mut balance, mut mass) = (0.0, 0.0);
    let (mut finite, mut infeasible) = (given.is_finite(), 0.0_f64);
    for k in 0..n {
        let (s, a, u, g) = (sign[k], alpha[k], upper[k], gradient[k]);
        // Comparisons drop NaN, which must not count as zero.
        finite &= a.is_finite() & g.is_finite();
        quadratic += a * (g - linear_term[k]);
        linear += a * linear_term[k];
        // The ridge is part of the loss, not of w: 1 − y f(x) for C-SVC.
        let ridge = ridge_of(k);
        of_ridge += ridge * a * a;
        slack += loss(ridge * a - g - s * bias, u, ridge);
        infeasible = infeasible.max(outside(a, u));
        balance += s * a;
        mass += a;
        let s = if alone { 1.0 } else { s };
        let f = s * g;
        let (positive, may_fall, may_rise) = (s > 0.0, a > 0.0, a < u);
        let up = if positive { may_rise } else { may_fall };
        let low = if positive { may_fall } else { may_rise };
        lowest_up = if up && f < lowest_up { f } else { lowest_up };
        highest_low = if low && f > highest_low { f } else { highest_low };
    }
    let wanted = match dual.balance() {
        EqualityConstraint::Sum(wanted) => Some(wanted),
        _ => None,
    };
    let infeasible = if finite { infeasible } else { f64::INFINITY };
    Certificate {
        primal: 0.5 * (quadratic - of_ridge) + slack + wanted.map_or(0.0, |d| d * bias),
        dual: -(0.5 * quadratic + linear),
        kkt: (highest_low - lowest_up).max(0.0),
        infeasible: wanted.map_or(infeasible, |wanted| infeasible.max(apart(balance, wanted, mass))),
        rounding: Rounding::NONE,
    }
}
