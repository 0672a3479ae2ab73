//! Warm starts from solutions of other problems.

use crate::certificate::figures::{Certificate, apart};
use crate::linalg::dense::exact_sum;
use crate::problem::dual::{Dual, EqualityConstraint};
use crate::problem::start::{of_sign, shift_to_sum};
use crate::problem::twins::twins;

/// Returns the solution of `from` as a start for `to`, the same samples with another `C`. Variables
/// at their bound move to the new bound, free ones stay free, and zeros stay 0.
///
/// # Panics
///
/// When the problems and `alpha` do not have the same number of variables.
pub fn along_c(from: &Dual, alpha: &[f64], to: &Dual) -> Vec<f64> {
    assert!(from.len() == alpha.len() && to.len() == alpha.len(), "one alpha per variable");
    // A variable with an empty box is at both bounds, so its start is 0.
    let bounded = |k: usize| alpha[k] > 0.0 && alpha[k] >= from.upper()[k];
    let mut moved: Vec<f64> =
        (0..alpha.len()).map(|k| if bounded(k) { to.upper()[k] } else { alpha[k].min(to.upper()[k]) }).collect();
    balance(to, &mut moved);
    moved
}

/// Returns the solution of `from` as a start for `to`, the regression of another quantile of the
/// same samples. `values[i]` is the decision value of sample `i` of the kernel matrix, up to a
/// constant.
///
/// Variables at a bound move to the new bound. The sum that this leaves is made up by samples
/// nearest to the old quantile, which change sides: they lie between it and the new one. A common
/// shift of all free samples, as in [`along_c`], would push all of them to a bound. Problems
/// without two bounds for each sample (expectiles) start as there.
///
/// # Panics
///
/// When the problems and `alpha` do not have the same number of variables, or a sample has no
/// value.
pub fn along_level(from: &Dual, alpha: &[f64], values: &[f64], to: &Dual) -> Vec<f64> {
    let (Some(n), EqualityConstraint::Sum(wanted)) = (twins(to), to.balance()) else { return along_c(from, alpha, to) };
    if to.upper().iter().any(|upper| upper.is_infinite()) {
        return along_c(from, alpha, to);
    }
    assert!(from.len() == alpha.len() && to.len() == alpha.len(), "one alpha per variable");
    let at_bound = |k: usize| alpha[k] > 0.0 && alpha[k] >= from.upper()[k];
    let moved = |k: usize| if at_bound(k) { to.upper()[k] } else { alpha[k].min(to.upper()[k]) };
    // The variables of a sample above and below the function are one coefficient.
    let mut coef: Vec<f64> = (0..n).map(|k| moved(k) - moved(n + k)).collect();
    let mut lack = wanted - coef.iter().sum::<f64>();
    let error = |k: usize| -to.linear_term()[k] - values[to.ids()[k]];
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| error(i).total_cmp(&error(j)).then(i.cmp(&j)));
    if lack > 0.0 {
        order.reverse();
    }
    for k in order {
        // A sample moves to its bound in the direction of the lack.
        let room = if lack < 0.0 { -to.upper()[n + k] - coef[k] } else { to.upper()[k] - coef[k] };
        let step = if room.abs() < lack.abs() { room } else { lack };
        coef[k] += step;
        lack -= step;
        if lack == 0.0 {
            break;
        }
    }
    let mut start: Vec<f64> = coef.iter().map(|c| c.max(0.0)).chain(coef.iter().map(|c| (-c).max(0.0))).collect();
    start.iter_mut().zip(to.upper()).for_each(|(a, upper)| *a = a.min(*upper));
    balance(to, &mut start);
    start
}

/// Returns whether a solution of `from` is a solution of `to`, for the same reasons: the problems
/// differ in their bounds alone, and every variable is below both bounds or at both. Where no
/// variable reaches `C`, that holds for every larger `C`.
///
/// # Panics
///
/// When `from` and `alpha` do not have the same number of variables.
pub fn is_same_solution(from: &Dual, alpha: &[f64], to: &Dual) -> bool {
    assert_eq!(from.len(), alpha.len(), "one alpha per variable");
    let mut bounds = alpha.iter().zip(from.upper()).zip(to.upper());
    from.differs_in_bounds_only(to) && bounds.all(|((a, before), now)| a <= now && (a < before) == (a < now))
}

/// Moves `Σ s_k α_k`, or the sum of each sign, to its required value by the free variables as far
/// as possible: variables at a bound belong there.
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

/// Restores equality constraints that rounding violates by more than certificates allow, as for α
/// that are tiny next to boxes that they once filled. Returns true if a constraint was violated.
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
    let left = lack(alpha);
    // Of variables that are all tiny, a rest of rounding may be the whole sum.
    if left.abs() > 1e-14 * mass.max(1.0) || apart(wanted - left, wanted, mass) > Certificate::FEASIBLE {
        // A feasible point exists, because the problem's own start was one.
        let _ = shift_to_sum(sign, upper, alpha, wanted);
    }
}
