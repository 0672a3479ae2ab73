//! Certificates of weights that are not the sum over the support vectors.
//!
//! The optimal weights of samples of size 10⁸ are of size 10⁻⁸, and the last digit of one α moves
//! `Σ s_k α_k x_k` by as much: that sum is then far from every optimum, although the dual objective
//! of α is right. A primal and a dual point need not belong together, since weak duality holds for
//! any two.

use crate::certificate::certify::figures;
use crate::certificate::figures::Certificate;
use crate::certificate::gradient::coefficients;
use crate::certificate::rounding::{Rounding, rounding_of_terms};
use crate::problem::dual::{Dual, EqualityConstraint};
use maxmargin_data::Par;
use maxmargin_kernel::Exact;

/// The relative gap that rounding may be, of which no violation follows.
const ROUNDING: f64 = 1e-9;

/// Returns the figures of weights and bias on the one side, and of α with its dual objective on the
/// other. `gradient` is that of the weights: `s_k (w · x_k) + D_k α_k + lin_k`.
///
/// The KKT violation is that of α and this gradient, which is 0 if each α is the slope of the loss
/// at its margin, whatever the weights are. So it is at least the violation that a point with
/// `w = Σ s_k α_k x_k` and the same gap has.
///
/// # Panics
///
/// When `alpha` and `gradient` do not have one entry per variable.
pub fn figures_of_weights(
    dual: &Dual,
    alpha: &[f64],
    (weights, bias): (&[f64], f64),
    gradient: &[f64],
    dual_objective: f64,
) -> Certificate {
    let found = figures(dual, alpha, bias, gradient);
    // The primal of `figures` has ½ w(α)·w in place of ½ ‖w‖².
    let mixed: f64 =
        (0..dual.len()).map(|k| alpha[k] * (gradient[k] - dual.linear_term()[k] - dual.ridge_of(k) * alpha[k])).sum();
    let square: f64 = weights.iter().map(|weight| weight * weight).sum();
    let primal = found.primal + 0.5 * (square - mixed);
    let rounding = Rounding { gap: (dual_objective - primal).max(0.0), kkt: 0.0 };
    let gap = primal - dual_objective - ROUNDING * dual_objective.abs();
    let kkt = found.kkt.max(least_violation(dual, gap));
    Certificate { primal, dual: dual_objective, kkt, rounding, ..found }
}

/// Returns the least KKT violation v of a point with a gap: each variable adds at most `v C` to the
/// gap, or `v² / 2D` if it has no upper bound.
fn least_violation(dual: &Dual, gap: f64) -> f64 {
    let (mut bounds, mut curvatures) = (0.0, 0.0);
    for (k, &upper) in dual.upper().iter().enumerate() {
        if upper.is_finite() {
            bounds += upper;
        } else {
            curvatures += 0.5 / dual.ridge_of(k);
        }
    }
    // The root of `v² curvatures + v bounds = gap`, in a form that does not cancel.
    let gap = gap.max(0.0);
    let root = (bounds * bounds + 4.0 * curvatures * gap).sqrt();
    if gap == 0.0 { 0.0 } else { 2.0 * gap / (bounds + root) }
}

/// Returns the dual objective of α whose `‖Σ s_k α_k x_k‖²` is `square`. The gradient does not give
/// it where its entries are sums that round by more than the objective.
pub fn dual_objective(dual: &Dual, alpha: &[f64], square: f64) -> f64 {
    let of_ridge: f64 = alpha.iter().enumerate().map(|(k, a)| dual.ridge_of(k) * a * a).sum();
    let linear: f64 = alpha.iter().zip(dual.linear_term()).map(|(a, p)| a * p).sum();
    -(0.5 * (square + of_ridge) + linear)
}

/// The weights of a point count if their gap is below this share of that of the sum over its
/// support vectors.
const NEARER: f64 = 0.5;

/// Returns true if weights with the first gap are to be used in place of the sum over the support
/// vectors, which has the second.
pub fn weights_are_nearer(of_weights: &Certificate, of_sum: &Certificate) -> bool {
    of_weights.gap() < NEARER * of_sum.gap()
}

/// The certificate of weights, with the exact numbers behind it.
pub(crate) struct CertifiedWeights {
    pub(crate) certificate: Certificate,
    /// `s_k (w · x_k) + D_k α_k + lin_k`.
    pub(crate) gradient: Vec<f64>,
    /// `w · x_i` of every sample.
    pub(crate) sums: Vec<f64>,
}

/// Certifies weights and bias beside α, whose own certificate is `of_sum`; `None` if the sum over
/// the support vectors is as near to the optimum.
pub(crate) fn certify_weights(
    dual: &Dual,
    source: Exact,
    alpha: &[f64],
    (weights, bias): (&[f64], f64),
    of_sum: &Certificate,
    par: Par,
) -> Option<CertifiedWeights> {
    let (Exact::Features(matrix) | Exact::TwofoldFeatures(matrix)) = source else { return None };
    if !matches!(dual.balance(), EqualityConstraint::Free | EqualityConstraint::Sum(_)) {
        return None;
    }
    let all: Vec<usize> = (0..matrix.len()).collect();
    let sums = matrix.products(weights, &all, par);
    let gradient = |k: usize| dual.sign()[k] * sums[dual.ids()[k]] + dual.ridge_of(k) * alpha[k] + dual.linear_term()[k];
    let gradient: Vec<f64> = (0..dual.len()).map(gradient).collect();
    let (ids, coef): (Vec<usize>, Vec<f64>) = coefficients(dual, source, alpha).into_iter().unzip();
    let objective = dual_objective(dual, alpha, matrix.square_of_sum(&ids, &coef, par));
    let figures = figures_of_weights(dual, alpha, (weights, bias), &gradient, objective);
    if !weights_are_nearer(&figures, of_sum) {
        return None;
    }
    let sizes = matrix.product_sizes(weights, &all, par);
    let rounding = Rounding::of_decisions(dual, alpha, bias, &gradient, |id| rounding_of_terms(sizes[id]));
    Some(CertifiedWeights { certificate: Certificate { rounding, ..figures }, gradient, sums })
}

#[cfg(test)]
mod tests {
    use super::least_violation;
    use crate::problem::dual::{Dual, EqualityConstraint};

    #[test]
    fn a_gap_needs_a_violation() {
        let of = |upper: f64, ridge: f64| {
            Dual::new(vec![0, 1], vec![1.0, -1.0], vec![-1.0; 2], vec![upper; 2], ridge, EqualityConstraint::Free)
                .expect("a problem")
        };
        assert_eq!(least_violation(&of(2.0, 0.0), 1.0), 0.25);
        // Two variables with v² / 2D = v² each.
        assert_eq!(least_violation(&of(f64::INFINITY, 0.5), 8.0), 2.0);
        assert_eq!(least_violation(&of(2.0, 0.0), -1e-16), 0.0);
    }
}
