//! The certificate of problems with a fixed sum of all variables, or of each sign. The threshold is
//! then a variable of the primal, separate from the bias.

use crate::certificate::figures::{Certificate, apart, loss, outside};
use crate::certificate::rounding::Rounding;
use crate::problem::dual::{Dual, EqualityConstraint};

/// Certifies a point of a problem with `Σ α_k = 1`, or with `Σ_{s_k=+1} α_k = p` and `Σ_{s_k=−1}
/// α_k = m`, by its exact gradient.
///
/// The primal is `min over w, ρ of ½‖w‖² + Σ loss_k(ρ_g − lin_k − s_k ⟨w, φ_k⟩) − Σ_g wanted_g
/// ρ_g`, with one `ρ_g` for each group of variables that has a sum (Frandi et al. 2013, equation 7,
/// for one group, `lin = 0` and a squared loss; Schölkopf et al. 2000 for ν-SVC).
///
/// Any ρ bounds the optimum, and the certificate takes the best for the `w` of α. Its gap is
/// therefore at most the Frank-Wolfe gap `αᵀg − min g`, which has the slacks `ridge · α_k` instead
/// of the best ones.
pub(crate) fn figures(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    let quadratic: f64 = (0..dual.len()).map(|k| alpha[k] * (gradient[k] - dual.linear_term()[k])).sum();
    let linear: f64 = alpha.iter().zip(dual.linear_term()).map(|(a, p)| a * p).sum();
    let squares: f64 = alpha.iter().enumerate().map(|(k, a)| dual.ridge_of(k) * a * a).sum();
    let finite = bias.is_finite() && alpha.iter().chain(gradient).all(|v| v.is_finite());
    let mut certificate = Certificate {
        primal: 0.5 * (quadratic - squares),
        dual: -(0.5 * quadratic + linear),
        kkt: 0.0,
        infeasible: if finite { 0.0 } else { f64::INFINITY },
        rounding: Rounding::NONE,
    };
    let groups: &[(Option<f64>, f64)] = match dual.balance() {
        EqualityConstraint::PerSign(plus, minus) => &[(Some(1.0), plus), (Some(-1.0), minus)],
        _ => &[(None, 1.0)],
    };
    for &(sign, wanted) in groups {
        let of_group = |k: &usize| sign.is_none_or(|sign| dual.sign()[*k] == sign);
        let members: Vec<usize> = (0..dual.len()).filter(of_group).collect();
        add_group(&mut certificate, dual, alpha, gradient, &members, wanted);
    }
    certificate
}

/// Adds the part of one sum's variables.
fn add_group(certificate: &mut Certificate, dual: &Dual, alpha: &[f64], gradient: &[f64], members: &[usize], wanted: f64) {
    let margins: Vec<Margin> = members
        .iter()
        .map(|&k| Margin { value: gradient[k] - dual.ridge_of(k) * alpha[k], upper: dual.upper()[k], ridge: dual.ridge_of(k) })
        .collect();
    let rho = threshold(&margins, wanted);
    let slack: f64 = margins.iter().map(|m| loss(rho - m.value, m.upper, m.ridge)).sum();
    let (mut lowest, mut highest, mut mass) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
    for &k in members {
        let (a, u) = (alpha[k], dual.upper()[k]);
        certificate.infeasible = certificate.infeasible.max(outside(a, u));
        mass += a;
        if a < u {
            lowest = lowest.min(gradient[k]);
        }
        if a > 0.0 {
            highest = highest.max(gradient[k]);
        }
    }
    certificate.primal += slack - if members.is_empty() { 0.0 } else { wanted * rho };
    certificate.kkt = certificate.kkt.max(highest - lowest);
    certificate.infeasible = certificate.infeasible.max(apart(mass, wanted, mass));
}

/// The margin of a variable, with its bound and its ridge.
#[derive(Clone, Copy)]
struct Margin {
    value: f64,
    upper: f64,
    ridge: f64,
}

/// Returns the ρ at which `Σ clamp((ρ − h_k) / ridge_k, 0, upper_k)` reaches `wanted`: the least
/// primal for margins `h`. The sum is piecewise linear (without ridge it jumps by `upper_k` at
/// `h_k`) and grows with ρ. If it cannot reach `wanted`, the result is the last place at which it
/// grows.
fn threshold(margins: &[Margin], wanted: f64) -> f64 {
    // The places where the sum jumps or its slope changes: (place, jump, change of slope).
    let mut events: Vec<(f64, f64, f64)> = Vec::with_capacity(2 * margins.len());
    for &Margin { value, upper, ridge } in margins.iter().filter(|m| m.upper > 0.0) {
        if ridge == 0.0 {
            events.push((value, upper, 0.0));
        } else {
            events.push((value, 0.0, 1.0 / ridge));
            if upper.is_finite() {
                events.push((value + ridge * upper, 0.0, -1.0 / ridge));
            }
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut slope, mut growing, mut last) = (0.0, 0.0, 0_usize, f64::NAN);
    for &(place, jump, change) in &events {
        if growing > 0 {
            let reached = sum + slope * (place - last);
            if reached >= wanted {
                break;
            }
            sum = reached;
        }
        sum += jump;
        last = place;
        if change > 0.0 {
            growing += 1;
        } else if change < 0.0 {
            growing -= 1;
        }
        // Without a growing part the slope is exactly 0, despite rounding.
        slope = if growing == 0 { 0.0 } else { slope + change };
        if sum >= wanted {
            break;
        }
    }
    if growing > 0 && sum < wanted { last + (wanted - sum) / slope } else { last }
}

#[cfg(test)]
mod tests {
    use super::{Margin, threshold};

    fn at(values: &[f64], upper: f64, ridge: f64, wanted: f64) -> f64 {
        let margins: Vec<Margin> = values.iter().map(|&value| Margin { value, upper, ridge }).collect();
        threshold(&margins, wanted)
    }

    #[test]
    fn thresholds_by_hand() {
        // Without ridge and bounds: the smallest margin.
        assert_eq!(at(&[2.0, 1.0, 3.0], f64::INFINITY, 0.0, 1.0), 1.0);
        // Bounds of ½: the sum jumps to ½ at 1, to 1 at 2.
        assert_eq!(at(&[2.0, 1.0, 3.0], 0.5, 0.0, 1.0), 2.0);
        // Ridge 2: ρ − 1 = 2 would take it past the margin 2; (ρ − 1) + (ρ − 2) = 2 at 2.5.
        assert_eq!(at(&[2.0, 1.0, 3.0], f64::INFINITY, 2.0, 1.0), 2.5);
        // Ridge 1, bounds ¼: at 1.25 the first is full, (ρ − 2) fills ¼ by 2.25, the third by 3.25.
        // The total is only ¾.
        assert_eq!(at(&[2.0, 1.0, 3.0], 0.25, 1.0, 1.0), 3.25);
        // Ridge 1, bounds ½: full at 1.5 and 2.5: the sum is 1 there.
        assert_eq!(at(&[2.0, 1.0, 3.0], 0.5, 1.0, 1.0), 2.5);
        // Another sum: (ρ − 1) = ¾ without bounds. A sum of 0: the smallest margin.
        assert_eq!(at(&[2.0, 1.0, 3.0], f64::INFINITY, 1.0, 0.75), 1.75);
        assert_eq!(at(&[2.0, 1.0, 3.0], f64::INFINITY, 1.0, 0.0), 1.0);
    }

    #[test]
    fn ridges_of_their_own() {
        let margin = |value, ridge| Margin { value, upper: f64::INFINITY, ridge };
        // (ρ − 1)/2 + (ρ − 2)/1 = 1 at 7/3; a sample with an empty box has no effect.
        let none = Margin { value: -9.0, upper: 0.0, ridge: 1.0 };
        let found = threshold(&[margin(2.0, 1.0), none, margin(1.0, 2.0)], 1.0);
        assert!((found - 7.0 / 3.0).abs() < 1e-15, "{found}");
    }
}
