//! The duals of classification and regression by loss and bias.

use crate::problem::dual::{Dual, DualError, EqualityConstraint};
use crate::problem::loss::{BiasTerm, Loss};

impl EqualityConstraint {
    /// Returns the constraint that a bias implies.
    pub fn of(bias_term: BiasTerm) -> Self {
        match bias_term {
            BiasTerm::Free => Self::Sum(0.0),
            BiasTerm::Feature(_) | BiasTerm::None => Self::Free,
        }
    }
}

impl Dual {
    /// Creates the dual of a two-class SVM with this loss and bias: `labels[k]` is ±1 and `c[k]`
    /// the `C` of the sample `ids[k]`.
    ///
    /// # Errors
    ///
    /// As [`Dual::c_svc`]. One class alone is a problem only without a free bias.
    pub fn svc(loss: Loss, bias_term: BiasTerm, ids: Vec<usize>, labels: Vec<f64>, c: Vec<f64>) -> Result<Self, DualError> {
        match (loss, bias_term) {
            (Loss::Hinge, BiasTerm::Free) => Self::c_svc(ids, labels, c),
            (Loss::Hinge, _) => {
                if let Some((variable, &value)) = c.iter().enumerate().find(|(_, c)| !c.is_finite()) {
                    return Err(DualError::Upper { variable, value });
                }
                let linear_term = vec![-1.0; ids.len()];
                Self::new(ids, labels, linear_term, c, 0.0, EqualityConstraint::Free)
            }
            (Loss::SquaredHinge, bias_term) => Self::squared_hinge(ids, labels, &c, bias_term),
        }
    }
}

/// The cost of a unit of error for each sample of a regression, by the side of the target.
#[derive(Clone, Copy, Debug)]
pub struct SideCosts<'a> {
    /// Where the target is above the function.
    pub above: &'a [f64],
    /// Where it is below.
    pub below: &'a [f64],
}

impl<'a> SideCosts<'a> {
    /// Returns the same cost `c[k]` on both sides.
    pub fn equal(c: &'a [f64]) -> Self {
        Self { above: c, below: c }
    }
}

/// The largest target of a squared loss: sums of squares stay finite.
const LARGEST_TARGET: f64 = 1e150;

impl Dual {
    /// Creates the dual of ε-insensitive regression: variable `k` of the first half pulls the
    /// function up at the sample `ids[k]`, `n + k` of the second half down.
    ///
    /// `targets[k]` is the value of sample `k`. A sample whose costs are 0 takes no part.
    ///
    /// # Errors
    ///
    /// As [`Dual::new`]. When a cost is not finite, or all are 0. With the squared loss, when a
    /// cost is negative, or when squares of a target overflow.
    pub fn svr(
        loss: Loss,
        bias_term: BiasTerm,
        mut ids: Vec<usize>,
        targets: &[f64],
        costs: SideCosts,
        epsilon: f64,
    ) -> Result<Self, DualError> {
        let n = ids.len();
        let squared = loss == Loss::SquaredHinge;
        let c = [costs.above, costs.below].concat();
        if let Some((k, &value)) = c.iter().enumerate().find(|(_, c)| !(c.is_finite() && (!squared || **c >= 0.0))) {
            return Err(DualError::Upper { variable: k % n.max(1), value });
        }
        let some = c.iter().copied().fold(0.0, f64::max);
        if squared && let Some(sample) = targets.iter().position(|y| y.abs() > LARGEST_TARGET) {
            return Err(DualError::Target { sample, value: targets[sample] });
        }
        if n > 0 && c.iter().all(|c| *c == 0.0) {
            return Err(DualError::Upper { variable: 0, value: 0.0 });
        }
        ids.extend_from_within(..);
        let sign = [vec![1.0; n], vec![-1.0; n]].concat();
        let linear_term = targets.iter().map(|y| epsilon - y).chain(targets.iter().map(|y| epsilon + y)).collect();
        if squared {
            let upper = c.iter().map(|&c| if c > 0.0 { f64::INFINITY } else { 0.0 }).collect();
            // A variable with cost 0 takes no part, so its ridge may have any value.
            let dual = Self::new(ids, sign, linear_term, upper, 0.0, EqualityConstraint::of(bias_term))?;
            return dual.with_ridges(c.iter().map(|&c| 0.5 / if c > 0.0 { c } else { some }).collect());
        }
        Self::new(ids, sign, linear_term, c, 0.0, EqualityConstraint::of(bias_term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_squares() {
        let make =
            |loss, value: f64| Dual::svr(loss, BiasTerm::Free, vec![0, 1], &[1.0, value], SideCosts::equal(&[1.0; 2]), 0.0);
        assert_eq!(make(Loss::SquaredHinge, -1e200), Err(DualError::Target { sample: 1, value: -1e200 }));
        assert!(make(Loss::SquaredHinge, -1e150).is_ok() && make(Loss::Hinge, -1e200).is_ok());
    }

    #[test]
    fn every_pair_is_a_dual() {
        let make = |loss, bias_term| Dual::svc(loss, bias_term, vec![0, 1], vec![1.0, -1.0], vec![2.0, 4.0]).expect("a problem");
        let hinge = make(Loss::Hinge, BiasTerm::None);
        assert_eq!((hinge.balance(), hinge.upper(), hinge.ridge()), (EqualityConstraint::Free, &[2.0, 4.0][..], 0.0));
        assert_eq!(make(Loss::Hinge, BiasTerm::Free).balance(), EqualityConstraint::Sum(0.0));
        let squared = make(Loss::SquaredHinge, BiasTerm::Feature(1.0));
        assert_eq!((squared.balance(), squared.ridge_of(0), squared.ridge_of(1)), (EqualityConstraint::Free, 0.25, 0.125));
        assert!(squared.upper().iter().all(|u| u.is_infinite()) && !squared.has_one_ridge());
        let one = |bias_term| Dual::svc(Loss::SquaredHinge, bias_term, vec![0, 1], vec![1.0; 2], vec![1.0; 2]);
        assert_eq!(one(BiasTerm::Free), Err(DualError::OneClass));
        assert!(one(BiasTerm::None).is_ok());
        let without = Dual::svc(Loss::SquaredHinge, BiasTerm::None, vec![0, 1], vec![1.0; 2], vec![0.0, 2.0]).expect("a problem");
        assert_eq!((without.upper(), without.has_one_ridge()), (&[0.0, f64::INFINITY][..], true), "no price, no part");
        let wrong = Dual::svc(Loss::SquaredHinge, BiasTerm::None, vec![0], vec![1.0], vec![0.0]);
        assert_eq!(wrong, Err(DualError::Upper { variable: 0, value: 0.0 }));
    }
}
