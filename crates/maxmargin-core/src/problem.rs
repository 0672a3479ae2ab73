//! The problem of one machine: a dual that knows which sample each variable belongs to, and what
//! becomes of its solution.

use crate::dual::{Dual, DualError, EqualityConstraint};
use crate::formulation::Formulation;
use crate::solution::{Solution, thresholds_of};

/// What counts as rounding in a sum, relatively.
const ROUNDING: f64 = 1e-12;

/// Samples of one machine, in any order.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSet<'a> {
    /// Row of the Gram matrix (or of the feature matrix) of each sample.
    pub ids: &'a [usize],
    /// What the machine shall say of each: ±1 for two classes, a value for regression; not looked
    /// at for one class.
    pub target: &'a [f64],
    /// A factor of C for each; where there is no C, of the bound 1.
    pub weights: &'a [f64],
}

/// A dual problem that knows which sample each of its variables belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    formulation: Formulation,
    dual: Dual,
    /// Variable `k` belongs to sample `k mod samples`: regression has two for each, the second half
    /// pulls down.
    samples: usize,
}

/// A decision function `Σ coef K(x_id, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// (row, coefficient) of the support vectors, rows ascending.
    pub terms: Vec<(usize, f64)>,
    /// Added to the sum.
    pub bias: f64,
}

impl Problem {
    pub(crate) fn new(formulation: Formulation, dual: Dual, samples: usize) -> Self {
        Self { formulation, dual, samples }
    }

    /// Which support vector machine it is of.
    pub fn formulation(&self) -> Formulation {
        self.formulation
    }

    /// The dual of all samples.
    pub fn dual(&self) -> &Dual {
        &self.dual
    }

    /// Place in the part of the sample that variable `k` belongs to.
    pub fn sample_of(&self, k: usize) -> usize {
        k % self.samples
    }

    /// The dual of the samples of which `takes_part(place)` says so: the same problem with empty
    /// boxes for all others, and with the sums that ν asks of those that are left.
    ///
    /// # Errors
    ///
    /// When what is left is no problem.
    pub fn of_samples(&self, takes_part: impl Fn(usize) -> bool) -> Result<Dual, DualError> {
        let upper = self.dual.upper().iter().enumerate();
        let upper = upper.map(|(k, &u)| if takes_part(self.sample_of(k)) { u } else { 0.0 }).collect();
        self.formulation.balanced(self.dual.with_upper(upper)?)
    }

    /// What a decision function is multiplied by to be the formulation's: `1/ρ` of ν-SVC, whose
    /// margins the dual has at ρ, otherwise 1. 1 as well where ρ is not positive, so that there is
    /// no margin to bring to 1.
    ///
    /// `dual` is [`Problem::dual`] or one that shares its shape.
    pub fn scale(&self, dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
        let Formulation::NuSvc { .. } = self.formulation else { return 1.0 };
        match thresholds_of(dual, alpha, gradient) {
            Some((plus, minus)) if plus + minus > 0.0 && (2.0 / (plus + minus)).is_finite() => 2.0 / (plus + minus),
            _ => 1.0,
        }
    }

    /// The decision function of a solution of `dual`, which is [`Problem::dual`] or one that shares
    /// its shape.
    ///
    /// # Panics
    ///
    /// When there is not one α per variable.
    pub fn decision(&self, dual: &Dual, solution: &Solution) -> Decision {
        assert_eq!(solution.alpha.len(), dual.len(), "one alpha per variable");
        let scale = self.scale(dual, &solution.alpha, &solution.gradient);
        let mut terms: Vec<(usize, f64)> = (0..dual.len())
            .filter(|&k| solution.alpha[k] != 0.0)
            .map(|k| (dual.ids()[k], scale * dual.sign()[k] * solution.alpha[k]))
            .collect();
        terms.sort_by_key(|term| term.0);
        // Several variables of one row are one support vector, or none.
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        terms.retain(|term| term.1 != 0.0);
        Decision { terms, bias: scale * solution.bias }
    }

    /// α of [`Problem::dual`] from the coefficients of a decision function, each with its sample:
    /// the inverse of [`Problem::decision`].
    pub fn alpha_of(&self, terms: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut alpha = vec![0.0; self.dual.len()];
        for (sample, coef) in terms {
            let k = if self.dual.len() > self.samples && coef < 0.0 { self.samples + sample } else { sample };
            alpha[k] += self.dual.sign()[k] * coef;
        }
        // What the two variables of a sample of ν-SVR have in common is not in its coefficient: it
        // is what the sum of each sign lacks. There is some only where the width is 0, where every
        // sample below its bound has no error and may have any part of it.
        if let (Formulation::NuSvr { .. }, EqualityConstraint::PerSign(wanted, _)) = (self.formulation, self.dual.balance()) {
            let (first, second) = alpha.split_at_mut(self.samples);
            let lack = wanted - first.iter().sum::<f64>();
            let room = |a: f64, b: f64, upper: f64| (upper - a.max(b)).max(0.0);
            let pairs = || first.iter().zip(&*second).zip(self.dual.upper());
            let all: f64 = pairs().map(|((a, b), upper)| room(*a, *b, *upper)).sum();
            if lack > ROUNDING * wanted && all > 0.0 {
                let share = (lack / all).min(1.0);
                for ((a, b), upper) in first.iter_mut().zip(second).zip(self.dual.upper()) {
                    let common = share * room(*a, *b, *upper);
                    (*a, *b) = (*a + common, *b + common);
                }
            }
        }
        // ν-SVC gives its coefficients away divided by ρ: the sums tell what that was.
        if let (Formulation::NuSvc { .. }, EqualityConstraint::PerSign(plus, minus)) = (self.formulation, self.dual.balance()) {
            let sum: f64 = alpha.iter().sum();
            let scale = if sum > 0.0 { (plus + minus) / sum } else { 1.0 };
            alpha.iter_mut().zip(self.dual.upper()).for_each(|(a, &u)| *a = snapped(*a * scale, u));
        }
        alpha
    }
}

/// Takes from the two variables of each sample of regression what they have in common: it cancels
/// in the decision function and only costs. With a sum for each sign, which it is part of, nothing
/// changes.
///
/// # Panics
///
/// When there is not one α and one gradient per variable.
pub fn settle_twins(dual: &Dual, solution: &mut Solution) {
    let n = dual.len();
    assert!(solution.alpha.len() == n && solution.gradient.len() == n, "one entry per variable");
    let twins = n.is_multiple_of(2) && dual.ids()[..n / 2] == dual.ids()[n / 2..];
    if !twins || matches!(dual.balance(), EqualityConstraint::PerSign(..)) {
        return;
    }
    for k in 0..n / 2 {
        let common = solution.alpha[k].min(solution.alpha[n / 2 + k]);
        if common > 0.0 {
            for k in [k, n / 2 + k] {
                solution.alpha[k] -= common;
                solution.gradient[k] -= dual.ridge_of(k) * common;
            }
        }
    }
}

/// What a division and a multiplication moved away from a bound.
fn snapped(alpha: f64, upper: f64) -> f64 {
    if (alpha - upper).abs() <= 1e-12 * upper { upper } else { alpha }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{BiasTerm, Loss};
    use crate::solution::{Status, Work};

    fn solution(alpha: Vec<f64>, gradient: Vec<f64>) -> Solution {
        Solution { gradient, alpha, bias: 0.5, status: Status::Converged, work: Work::default() }
    }

    #[test]
    fn folds_are_boxes_and_decisions_name_rows() {
        let part = TrainingSet { ids: &[9, 2, 5], target: &[1.0, -1.0, 1.0], weights: &[1.0; 3] };
        let problem = Formulation::c_svc(1.0).problem(&part).expect("a problem");
        assert_eq!(problem.of_samples(|i| i != 0).expect("both classes").upper(), [0.0, 1.0, 1.0]);
        assert_eq!(problem.of_samples(|i| i != 1), Err(DualError::OneClass));
        let decision = problem.decision(problem.dual(), &solution(vec![0.5, 1.0, 0.0], vec![0.0; 3]));
        assert_eq!(decision, Decision { terms: vec![(2, -1.0), (9, 0.5)], bias: 0.5 });
    }

    #[test]
    fn what_twins_have_in_common_goes() {
        let dual = Dual::svr(Loss::SquaredHinge, BiasTerm::Free, vec![0, 1], &[1.0, 2.0], &[0.5; 2], 0.0).expect("a problem");
        let mut found = solution(vec![0.75, 0.0, 0.25, 0.5], vec![2.0; 4]);
        settle_twins(&dual, &mut found);
        assert_eq!(found.alpha, [0.5, 0.0, 0.0, 0.5]);
        // The ridge is 1.
        assert_eq!(found.gradient, [1.75, 2.0, 1.75, 2.0]);
    }

    #[test]
    fn twins_are_one_support_vector_or_none() {
        let part = TrainingSet { ids: &[3, 4], target: &[1.0, 2.0], weights: &[1.0; 2] };
        let problem = Formulation::epsilon_svr(1.0, 0.1).problem(&part).expect("a problem");
        let decision = problem.decision(problem.dual(), &solution(vec![0.75, 1.0, 0.25, 1.0], vec![0.0; 4]));
        assert_eq!(decision.terms, [(3, 0.5)]);
        assert_eq!((problem.sample_of(1), problem.sample_of(3)), (1, 1));
        assert_eq!(problem.alpha_of([(0, 0.5), (1, -0.25)].into_iter()), [0.5, 0.0, 0.0, 0.25]);
        let fold = problem.of_samples(|i| i == 1).expect("a fold");
        assert_eq!(fold.upper(), [0.0, 1.0, 0.0, 1.0]);
        // The sums of ν-SVR are ½ each: a quarter is in the coefficients, and of the rest of the
        // boxes, 1¾, each sample has the same share.
        let problem = Formulation::NuSvr { c: 1.0, nu: 0.5 }.problem(&part).expect("a problem");
        let alpha = problem.alpha_of([(0, 0.25), (1, -0.25)].into_iter());
        let common = 0.75 / 6.0;
        assert_eq!(alpha, [0.25 + common, common, common, 0.25 + common]);
        assert_eq!((alpha[0] + alpha[1], alpha[2] + alpha[3]), (0.5, 0.5));
    }
}
