//! Gap screening: the labels of samples that a duality gap fixes at every optimum.

use crate::certificate::certify::{certify_gradient, shift};
use crate::certificate::figures::Certificate;
use crate::problem::dual::{Dual, EqualityConstraint};
use maxmargin_kernel::Exact;
use serde::Serialize;

/// The relative rounding error of sums of so many terms: a smaller gap counts as 0.
const ROUNDING: f64 = 1e-12;

/// The labels fixed at every optimum, from the duality gap of a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapScreening {
    /// An upper bound of `‖w − w*‖`.
    pub radius: f64,
    /// The sign that the decision value of each variable's sample has at every optimum, ±1. It is 0
    /// if the gap does not fix it, and for samples that do not take part.
    pub signs: Vec<f64>,
}

impl GapScreening {
    /// Returns the number of labels fixed at every optimum.
    pub fn labels(&self) -> usize {
        self.signs.iter().filter(|sign| **sign != 0.0).count()
    }
}

/// Returns the labels that the gap of a point fixes at every optimum. Returns `None` if the problem
/// has no labels, for a free bias with another loss than the hinge loss, and if the kernel matrix
/// is not known to be positive semidefinite.
///
/// With `P` and `D` the primal and dual at `w(α)`, `½‖w − w*‖²` is at most `P − P*` and at most `D*
/// − D`, so `‖w − w*‖ ≤ r = √(P − D)`. Without a separate bias, `f*(x_i)` is within `r κ_i` of
/// `f(x_i)`, with `κ_i² = K_ii`.
///
/// A free bias minimises a piecewise linear function whose kinks `y_i − w·φ_i` move by at most
/// `r κ`, and so do its minimisers `[b₋, b₊]`. The gap is that of the best bias. So `f*(x_i)` lies
/// between `w·φ_i + b₋ − r (κ_i + κ)` and `w·φ_i + b₊ + r (κ_i + κ)`.
///
/// # Panics
///
/// When `alpha` and `gradient` (exact, `Qα + lin`) do not have one entry per variable, or the
/// problem names samples that `source` does not have.
pub fn gap_screening<'e>(dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64], gradient: &[f64]) -> Option<GapScreening> {
    let n = dual.len();
    // Only classification has labels and margins of 1: the signs of regression are directions.
    if dual.linear_term().iter().any(|p| *p != -1.0) {
        return None;
    }
    let free = match dual.balance() {
        EqualityConstraint::Free => false,
        EqualityConstraint::Sum(0.0) if dual.ridge() == 0.0 && dual.has_one_ridge() => true,
        _ => return None,
    };
    let source = source.into();
    let diagonal = source.diagonal();
    let norm = |k: usize| diagonal[dual.ids()[k]].max(0.0).sqrt();
    let takes_part = |k: &usize| dual.upper()[*k] > 0.0;
    let value = |k: usize| dual.sign()[k] * (gradient[k] - dual.linear_term()[k] - dual.ridge_of(k) * alpha[k]);
    let (low, high) = if free { biases(dual, value)? } else { (0.0, 0.0) };
    let at = certify_gradient(dual, source, alpha, low, gradient);
    if at.is_stationary_only() {
        return None;
    }
    // The primal contains the part of the gap that the shift of a kernel matrix adds; the norm in
    // the shifted space needs the same part again.
    let (shift, reach) = (shift(dual, source), dual.upper().iter().fold(0.0_f64, |most, u| most.max(*u)));
    let more = if shift == 0.0 { 0.0 } else { shift * (0..n).map(|k| dual.upper()[k].powi(2)).sum::<f64>() };
    let off = 0.5 * at.rounding.kkt + if shift == 0.0 { 0.0 } else { 2.0 * shift * reach };
    let rounding = ROUNDING * (at.primal.abs() + at.dual.abs()) + at.rounding.gap + more;
    let radius = (at.gap().max(0.0) + rounding).sqrt();
    if !radius.is_finite() || at.infeasible > Certificate::FEASIBLE || at.gap() < -rounding {
        return Some(GapScreening { radius: f64::INFINITY, signs: vec![0.0; n] });
    }
    let largest = if free { (0..n).filter(takes_part).map(norm).fold(0.0, f64::max) } else { 0.0 };
    let sign = |k: usize| {
        let room = radius * (norm(k) + largest) + off;
        if !takes_part(&k) {
            0.0
        } else if value(k) + low - room > 0.0 {
            1.0
        } else if value(k) + high + room < 0.0 {
            -1.0
        } else {
            0.0
        }
    };
    Some(GapScreening { radius, signs: (0..n).map(sign).collect() })
}

/// Returns the interval of all biases that are best for the `w` of these decision values: a
/// weighted median of the kinks. `None` if there is only one sign.
fn biases(dual: &Dual, value: impl Fn(usize) -> f64) -> Option<(f64, f64)> {
    let mut kinks: Vec<(f64, f64)> = (0..dual.len())
        .filter(|&k| dual.upper()[k] > 0.0)
        .map(|k| (-dual.sign()[k] * dual.linear_term()[k] - value(k), dual.upper()[k]))
        .collect();
    kinks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = kinks.iter().map(|kink| kink.1).sum();
    // Left of all kinks every positive sample is inside its margin, and no negative one.
    let mut slope: f64 = -(0..dual.len()).filter(|&k| dual.sign()[k] > 0.0).map(|k| dual.upper()[k]).sum::<f64>();
    let mut low = None;
    for &(kink, upper) in &kinks {
        if let Some(low) = low {
            return Some((low, kink));
        }
        slope += upper;
        if slope > ROUNDING * total {
            return Some((kink, kink));
        }
        if slope >= -ROUNDING * total {
            low = Some(kink);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the total slack of decision values with a bias, for tests of the best biases.
    fn hinge(dual: &Dual, value: impl Fn(usize) -> f64, bias: f64) -> f64 {
        (0..dual.len())
            .map(|k| {
                crate::certificate::figures::loss(
                    -dual.linear_term()[k] - dual.sign()[k] * (value(k) + bias),
                    dual.upper()[k],
                    0.0,
                )
            })
            .sum()
    }

    #[test]
    fn the_best_biases_are_a_weighted_median() {
        let values = [0.3, -0.2, 1.4, -2.0, 0.1];
        let sign = vec![1.0, -1.0, 1.0, -1.0, -1.0];
        for upper in [vec![1.0; 5], vec![2.0, 1.0, 1.0, 0.5, 0.25], vec![1.5, 1.0, 0.5, 0.5, 0.5]] {
            let dual = Dual::c_svc((0..5).collect(), sign.clone(), upper).expect("a problem");
            let (low, high) = biases(&dual, |k| values[k]).expect("two signs");
            let at = |bias: f64| hinge(&dual, |k| values[k], bias);
            // On a fine lattice around the interval no bias is better, and all outside are worse.
            for step in -400..=400 {
                let bias = low + f64::from(step) * 0.01;
                assert!(at(bias) >= at(low) - 1e-12 && (at(low) - at(high)).abs() < 1e-12);
                assert!((low - 1e-9..=high + 1e-9).contains(&bias) || at(bias) > at(low) + 1e-12, "{bias} outside {low} {high}");
            }
        }
    }
}
