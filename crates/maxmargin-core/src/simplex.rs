//! The certificate of problems on the simplex, where the threshold is a variable of the primal and not the bias.

use crate::certificate::{Certificate, loss};
use crate::dual::Dual;

/// Judges a point of a problem with `Σ α_k = 1` by its exact gradient.
///
/// The primal is `min over w, ρ of ½‖w‖² + Σ loss_k(ρ − lin_k − s_k ⟨w, φ_k⟩) − ρ` (Frandi et al. 2013, equation 7, for `lin = 0`
/// and a squared loss). Any ρ bounds the optimum; the certificate takes the best for the `w` of α, so that its gap is at most the
/// Frank-Wolfe gap `αᵀg − min g`, which is the one with the slacks `ridge · α_k` instead of the best ones.
pub(crate) fn certify(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    let ridge = dual.ridge();
    let quadratic: f64 = (0..dual.len()).map(|k| alpha[k] * (gradient[k] - dual.lin()[k])).sum();
    let linear: f64 = alpha.iter().zip(dual.lin()).map(|(a, p)| a * p).sum();
    let squares: f64 = alpha.iter().map(|a| a * a).sum();
    let margins: Vec<f64> = gradient.iter().zip(alpha).map(|(g, a)| g - ridge * a).collect();
    let rho = threshold(&margins, dual.upper(), ridge);
    let slack: f64 = margins.iter().zip(dual.upper()).map(|(h, &u)| loss(rho - h, u, ridge)).sum();

    let (mut lowest, mut highest, mut mass) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    let finite = bias.is_finite() && alpha.iter().chain(gradient).all(|v| v.is_finite());
    let mut infeasible: f64 = if finite { 0.0 } else { f64::INFINITY };
    for (k, (&a, &u)) in alpha.iter().zip(dual.upper()).enumerate() {
        infeasible = infeasible.max(-a).max(a - u);
        mass += a;
        if a < u {
            lowest = lowest.min(gradient[k]);
        }
        if a > 0.0 {
            highest = highest.max(gradient[k]);
        }
    }
    Certificate {
        primal: 0.5 * (quadratic - ridge * squares) + slack - rho,
        dual: -(0.5 * quadratic + linear),
        kkt: (highest - lowest).max(0.0),
        infeasible: infeasible.max((mass - 1.0).abs()),
    }
}

/// The ρ at which `Σ clamp((ρ − h_k) / ridge, 0, upper_k)` reaches 1: the least primal for margins `h`. The sum is piecewise linear
/// (without ridge: it jumps by `upper_k` at `h_k`) and grows with ρ. Where it cannot reach 1, the last place at which it grows.
fn threshold(margins: &[f64], upper: &[f64], ridge: f64) -> f64 {
    // Places where the slope changes, or where the sum jumps.
    let mut events: Vec<(f64, f64)> = Vec::with_capacity(2 * margins.len());
    for (&h, &u) in margins.iter().zip(upper).filter(|(_, u)| **u > 0.0) {
        if ridge == 0.0 {
            events.push((h, u));
        } else {
            events.push((h, 1.0));
            if u.is_finite() {
                events.push((h + ridge * u, -1.0));
            }
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut growing, mut last) = (0.0, 0.0, f64::NAN);
    for &(place, change) in &events {
        if ridge == 0.0 {
            sum += change;
        } else {
            if growing > 0.0 {
                let reached = sum + growing * (place - last) / ridge;
                if reached >= 1.0 {
                    break;
                }
                sum = reached;
            }
            growing += change;
        }
        last = place;
        if sum >= 1.0 {
            break;
        }
    }
    if growing > 0.0 { last + (1.0 - sum) * ridge / growing } else { last }
}

#[cfg(test)]
mod tests {
    use super::threshold;

    #[test]
    fn thresholds_by_hand() {
        let infinite = [f64::INFINITY; 3];
        // Without ridge and bounds: the smallest margin.
        assert_eq!(threshold(&[2.0, 1.0, 3.0], &infinite, 0.0), 1.0);
        // Bounds of ½: the sum jumps to ½ at 1, to 1 at 2.
        assert_eq!(threshold(&[2.0, 1.0, 3.0], &[0.5; 3], 0.0), 2.0);
        // Ridge 2: ρ − 1 = 2 would take it past the margin 2; (ρ − 1) + (ρ − 2) = 2 at 2.5.
        assert_eq!(threshold(&[2.0, 1.0, 3.0], &infinite, 2.0), 2.5);
        // Ridge 1, bounds ¼: at 1.25 the first is full, (ρ − 2) fills ¼ by 2.25, the third by 3.25: ¾ is all there is.
        assert_eq!(threshold(&[2.0, 1.0, 3.0], &[0.25; 3], 1.0), 3.25);
        // Ridge 1, bounds ½: full at 1.5 and 2.5: the sum is 1 there.
        assert_eq!(threshold(&[2.0, 1.0, 3.0], &[0.5; 3], 1.0), 2.5);
    }
}
