//! Starts from solutions of other problems.

use crate::certificate::{Certificate, apart};
use crate::dense::exact_sum;
use crate::dual::{Dual, EqualityConstraint};
use crate::start::{of_sign, shift_to_sum};

/// The solution of `from` as a start for `to`, the same samples with another `C`: what was at its
/// bound goes to the new bound, the free stay free, and what was 0 stays 0.
///
/// # Panics
///
/// When the problems and `alpha` do not have the same number of variables.
pub fn along_c(from: &Dual, alpha: &[f64], to: &Dual) -> Vec<f64> {
    assert!(from.len() == alpha.len() && to.len() == alpha.len(), "one alpha per variable");
    // A box that was empty says nothing about its sample: the start is 0.
    let bounded = |k: usize| alpha[k] > 0.0 && alpha[k] >= from.upper()[k];
    let mut moved: Vec<f64> =
        (0..alpha.len()).map(|k| if bounded(k) { to.upper()[k] } else { alpha[k].min(to.upper()[k]) }).collect();
    balance(to, &mut moved);
    moved
}

/// Brings `Σ s_k α_k`, or the sum of each sign, to what the balance asks for, by the variables
/// between their bounds as far as they can: whoever is at a bound belongs there.
///
/// # Panics
///
/// When `alpha` does not have one entry per variable.
pub fn balance(dual: &Dual, alpha: &mut [f64]) {
    match dual.balance() {
        EqualityConstraint::Sum(wanted) => to_sum(dual.sign(), dual.upper(), alpha, wanted),
        EqualityConstraint::PerSign(plus, minus) => {
            for (sign, wanted) in [(1.0, plus), (-1.0, minus)] {
                of_sign(dual, alpha, sign, |upper, alpha| to_sum(&vec![1.0; upper.len()], upper, alpha, wanted));
            }
        }
        EqualityConstraint::Free | EqualityConstraint::Simplex => {}
    }
}

/// Closes balances that rounding has left open by more than certificates allow, as it does where α
/// is next to nothing beside boxes that it once filled. Returns whether a balance was open.
///
/// # Panics
///
/// When `alpha` does not have one entry per variable.
pub fn close(dual: &Dual, alpha: &mut [f64]) -> bool {
    let open = match dual.balance() {
        EqualityConstraint::Sum(wanted) => {
            let signed = exact_sum(dual.sign().iter().zip(&*alpha).map(|(s, a)| s * a));
            apart(signed, wanted, exact_sum(alpha.iter().copied())) > Certificate::FEASIBLE
        }
        EqualityConstraint::PerSign(plus, minus) => [(1.0, plus), (-1.0, minus)].into_iter().any(|(sign, wanted)| {
            let sum = exact_sum((0..dual.len()).filter(|&k| dual.sign()[k] == sign).map(|k| alpha[k]));
            apart(sum, wanted, sum) > Certificate::FEASIBLE
        }),
        EqualityConstraint::Free | EqualityConstraint::Simplex => false,
    };
    if open {
        balance(dual, alpha);
    }
    open
}

fn to_sum(sign: &[f64], upper: &[f64], alpha: &mut [f64], wanted: f64) {
    let lack = |alpha: &[f64]| wanted - alpha.iter().zip(sign).map(|(a, s)| a * s).sum::<f64>();
    let between = |a: f64, k: usize| a > 0.0 && a < upper[k];
    for _ in 0..4 {
        let left = lack(alpha);
        let free = (0..alpha.len()).filter(|&k| between(alpha[k], k)).count();
        if left == 0.0 || free == 0 {
            break;
        }
        for (k, a) in alpha.iter_mut().enumerate() {
            if between(*a, k) {
                *a = (*a + sign[k] * left / free as f64).clamp(0.0, upper[k]);
            }
        }
    }
    let mass: f64 = alpha.iter().sum();
    if lack(alpha).abs() > 1e-14 * mass.max(1.0) {
        // The box can reach what the problem's own start reached.
        let _ = shift_to_sum(sign, upper, alpha, wanted);
    }
}
