//! What a duality gap proves about labels: which samples every optimum puts on the same side.

use crate::certificate::{Certificate, certify_gradient, shift};
use crate::dual::{Dual, EqualityConstraint};
use maxmargin_kernel::Exact;
use serde::Serialize;

/// What sums of this many terms lose, relative to the larger objective: a gap below it is no gap.
const ROUNDING: f64 = 1e-12;

/// How far an optimal decision function may be from the one at hand, by the gap alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapScreening {
    /// `‖w − w*‖` is at most this.
    pub radius: f64,
    /// The sign that the decision value of each variable's sample has for every optimum, ±1; 0
    /// where the gap does not prove it, and for samples that do not take part.
    pub signs: Vec<f64>,
}

impl GapScreening {
    /// Labels that are proved.
    pub fn labels(&self) -> usize {
        self.signs.iter().filter(|sign| **sign != 0.0).count()
    }
}

/// The labels that the gap of a point proves. None where the problem has no labels, where it has a
/// free bias and another loss than the hinge loss, and where the kernel matrix is not known to be
/// positive semidefinite.
///
/// With `P` and `D` primal and dual at `w(α)`, `½‖w − w*‖²` is at most `P − P*` and at most `D* −
/// D`: so `‖w − w*‖ ≤ r = √(P − D)`. Without a bias apart, `f*(x_i)` is within `r κ_i` of `f(x_i)`,
/// `κ_i² = K_ii`. A free bias minimises a piecewise linear function whose kinks `y_i − w·φ_i` move
/// by at most `r κ`, and so do its minimisers `[b₋, b₊]`: `f*(x_i)` lies in `[w·φ_i + b₋ − r (κ_i +
/// κ), w·φ_i + b₊ + r (κ_i + κ)]`. The gap is that of the best bias.
///
/// # Panics
///
/// When `alpha` and `gradient` (exact, `Qα + lin`) do not have one entry per variable, or the
/// problem names samples that `source` does not have.
pub fn certain<'e>(dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64], gradient: &[f64]) -> Option<GapScreening> {
    let n = dual.len();
    // Two classes ask for margins of 1; the signs of regression are directions, and no labels.
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
    // The primal holds what the shift of a kernel matrix adds to the gap; the norm of the shifted
    // one needs as much again.
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

/// All biases that are best for the `w` of these decision values without bias: a weighted median of
/// the kinks. Nothing where there is only one sign.
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

    /// The slack that a decision value leaves, for tests of the bound on biases.
    fn hinge(dual: &Dual, value: impl Fn(usize) -> f64, bias: f64) -> f64 {
        (0..dual.len())
            .map(|k| crate::certificate::loss(-dual.linear_term()[k] - dual.sign()[k] * (value(k) + bias), dual.upper()[k], 0.0))
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
            // A fine lattice around them: nothing is better, and everything outside is worse.
            for step in -400..=400 {
                let bias = low + f64::from(step) * 0.01;
                assert!(at(bias) >= at(low) - 1e-12 && (at(low) - at(high)).abs() < 1e-12);
                assert!((low - 1e-9..=high + 1e-9).contains(&bias) || at(bias) > at(low) + 1e-12, "{bias} outside {low} {high}");
            }
        }
    }
}
