//! The problem of one machine: a dual with the sample of each variable, and the decision function
//! of its solution.

use crate::problem::dual::{Dual, DualError, EqualityConstraint, SideCosts};
use crate::problem::formulation::Formulation;
use crate::problem::loss::{BiasTerm, Loss};
use crate::problem::solution::{Solution, thresholds_of};
use maxmargin_kernel::Matrix;

/// The relative rounding error allowed in a sum.
const ROUNDING: f64 = 1e-12;

/// Samples of one machine, in any order.
#[derive(Clone, Copy, Debug)]
pub struct TrainingSet<'a> {
    /// The row of the Gram matrix (or of the feature matrix) of each sample.
    pub ids: &'a [usize],
    /// The target of each sample: ±1 for two classes, a value for regression; ignored for one
    /// class.
    pub target: &'a [f64],
    /// A factor of C for each sample; for formulations without C, of the bound 1.
    pub weights: &'a [f64],
}

/// A dual problem with the sample that each of its variables belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    formulation: Formulation,
    dual: Dual,
    /// The number of samples. Variable `k` belongs to sample `k mod samples`: regression has two
    /// variables for each, and those of the second half pull down.
    samples: usize,
}

/// A decision function `Σ coef K(x_id, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The support vectors as (row, coefficient), rows ascending.
    pub terms: Vec<(usize, f64)>,
    /// The bias, added to the sum.
    pub bias: f64,
    /// The weights as (feature, weight), features ascending, which decide in place of the support
    /// vectors if the solution has some of its own ([`Solution::weights`]).
    pub weights: Option<Vec<(u32, f64)>>,
}

impl Formulation {
    /// Returns the problem of a training set.
    ///
    /// # Errors
    ///
    /// When C, ε, ν, τ, a weight or a target is not possible, lengths differ, or there is one class
    /// only and the bias is free.
    pub fn problem(self, part: &TrainingSet) -> Result<Problem, DualError> {
        self.check()?;
        let n = part.ids.len();
        for (what, found) in [("target", part.target.len()), ("weight", part.weights.len())] {
            if found != n {
                return Err(DualError::Length { what, found, expected: n });
            }
        }
        let price = self.c().unwrap_or(1.0);
        let prices: Vec<f64> = part.weights.iter().map(|weight| price * weight).collect();
        let ids = part.ids.to_vec();
        let dual = match self {
            Self::Svc { loss, bias_term, .. } => Dual::svc(loss, bias_term, ids, part.target.to_vec(), prices)?,
            Self::Svr { epsilon, loss, bias_term, .. } => {
                Dual::svr(loss, bias_term, ids, part.target, SideCosts::equal(&prices), epsilon)?
            }
            Self::NuSvr { .. } => Dual::svr(Loss::Hinge, BiasTerm::Free, ids, part.target, SideCosts::equal(&prices), 0.0)?,
            Self::Quantile { tau, bias_term, .. } | Self::Expectile { tau, bias_term, .. } => {
                let times = |factor: f64| prices.iter().map(|price| price * factor).collect::<Vec<f64>>();
                let costs = SideCosts { above: &times(tau), below: &times(1.0 - tau) };
                Dual::svr(self.loss(), bias_term, ids, part.target, costs, 0.0)?
            }
            Self::NuSvc { .. } => Dual::new(ids, part.target.to_vec(), vec![0.0; n], prices, 0.0, EqualityConstraint::Free)?,
            Self::OneClass { .. } => Dual::new(ids, vec![1.0; n], vec![0.0; n], prices, 0.0, EqualityConstraint::Free)?,
        };
        let dual = self.balanced(dual)?;
        Ok(Problem { formulation: self, dual, samples: n })
    }
}

impl Problem {
    /// Returns the formulation of the problem.
    pub fn formulation(&self) -> Formulation {
        self.formulation
    }

    /// Returns the dual of all samples.
    pub fn dual(&self) -> &Dual {
        &self.dual
    }

    /// Returns the number of samples. A dual with twice as many variables has two for each.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Returns the position in the training set of the sample of variable `k`.
    pub fn sample_of(&self, k: usize) -> usize {
        k % self.samples
    }

    /// Returns the dual of the samples for which `takes_part(position)` is true: the same problem
    /// with empty boxes for all others. The sums of a ν formulation follow from the remaining
    /// samples.
    ///
    /// # Errors
    ///
    /// When the remaining samples are no problem.
    pub fn of_samples(&self, takes_part: impl Fn(usize) -> bool) -> Result<Dual, DualError> {
        let upper = self.dual.upper().iter().enumerate();
        let upper = upper.map(|(k, &u)| if takes_part(self.sample_of(k)) { u } else { 0.0 }).collect();
        self.formulation.balanced(self.dual.with_upper(upper)?)
    }

    /// Returns the factor between a decision function of the dual and that of the formulation:
    /// `1/ρ` for ν-SVC, whose margins the dual has at ρ, otherwise 1. It is also 1 if ρ is not
    /// positive, since then no margin can be scaled to 1.
    ///
    /// `dual` is [`Problem::dual`] or one of the same shape.
    pub fn scale(&self, dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
        let Formulation::NuSvc { .. } = self.formulation else { return 1.0 };
        match thresholds_of(dual, alpha, gradient) {
            Some((plus, minus)) if plus + minus > 0.0 && (2.0 / (plus + minus)).is_finite() => 2.0 / (plus + minus),
            _ => 1.0,
        }
    }

    /// Returns the decision function of a solution of `dual`, which is [`Problem::dual`] or one of
    /// the same shape.
    ///
    /// # Panics
    ///
    /// When there is not one α per variable.
    pub fn decision(&self, dual: &Dual, solution: &Solution, matrix: Option<&Matrix>) -> Decision {
        assert_eq!(solution.alpha.len(), dual.len(), "one alpha per variable");
        let scale = self.scale(dual, &solution.alpha, &solution.gradient);
        let mut terms: Vec<(usize, f64)> = (0..dual.len())
            .filter(|&k| solution.alpha[k] != 0.0)
            .map(|k| (dual.ids()[k], scale * dual.sign()[k] * solution.alpha[k]))
            .collect();
        terms.sort_by_key(|term| term.0);
        // The variables of one row make one support vector, or none if they cancel.
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        terms.retain(|term| term.1 != 0.0);
        let own = solution.weights.as_ref().zip(matrix);
        let scaled = |(feature, weight): (u32, f64)| (feature, scale * weight);
        let weights = own.map(|(weights, matrix)| matrix.unpack(weights).0.into_iter().map(scaled).collect());
        Decision { terms, bias: scale * solution.bias, weights }
    }

    /// Returns α of [`Problem::dual`] from the coefficients of a decision function, each with its
    /// sample. It inverts [`Problem::decision`].
    ///
    /// The coefficients of a ν-SVR whose tube has the width 0 do not determine α: the result is
    /// feasible, and its KKT violation may differ from that of the solution. Two terms of one
    /// sample, of different signs, are its two variables and determine them.
    pub fn alpha_of(&self, terms: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut alpha = vec![0.0; self.dual.len()];
        for (sample, coef) in terms {
            let k = if self.dual.len() > self.samples && coef < 0.0 { self.samples + sample } else { sample };
            alpha[k] += self.dual.sign()[k] * coef;
        }
        // The common part of a sample's two ν-SVR variables cancels in its coefficient. It equals
        // the missing part of each sign's sum. It is nonzero only at width 0, where every sample
        // below its bound has no error and may hold any part of it.
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
        // ν-SVC publishes coefficients divided by ρ; the sums determine ρ.
        if let (Formulation::NuSvc { .. }, EqualityConstraint::PerSign(plus, minus)) = (self.formulation, self.dual.balance()) {
            let sum: f64 = alpha.iter().sum();
            let scale = if sum > 0.0 { (plus + minus) / sum } else { 1.0 };
            alpha.iter_mut().zip(self.dual.upper()).for_each(|(a, &u)| *a = snapped(*a * scale, u));
        }
        alpha
    }
}

/// Returns the bound if α differs from it only by the rounding of a division and a multiplication.
fn snapped(alpha: f64, upper: f64) -> f64 {
    if (alpha - upper).abs() <= 1e-12 * upper { upper } else { alpha }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::solution::{Status, Work};

    fn solution(alpha: Vec<f64>, gradient: Vec<f64>) -> Solution {
        Solution { gradient, alpha, bias: 0.5, status: Status::Converged, work: Work::default(), weights: None }
    }

    #[test]
    fn folds_are_boxes_and_decisions_name_rows() {
        let part = TrainingSet { ids: &[9, 2, 5], target: &[1.0, -1.0, 1.0], weights: &[1.0; 3] };
        let problem = Formulation::c_svc(1.0).problem(&part).expect("a problem");
        assert_eq!(problem.of_samples(|i| i != 0).expect("both classes").upper(), [0.0, 1.0, 1.0]);
        assert_eq!(problem.of_samples(|i| i != 1), Err(DualError::OneClass));
        let decision = problem.decision(problem.dual(), &solution(vec![0.5, 1.0, 0.0], vec![0.0; 3]), None);
        assert_eq!(decision, Decision { terms: vec![(2, -1.0), (9, 0.5)], bias: 0.5, weights: None });
    }

    #[test]
    fn twins_are_one_support_vector_or_none() {
        let part = TrainingSet { ids: &[3, 4], target: &[1.0, 2.0], weights: &[1.0; 2] };
        let problem = Formulation::epsilon_svr(1.0, 0.1).problem(&part).expect("a problem");
        let decision = problem.decision(problem.dual(), &solution(vec![0.75, 1.0, 0.25, 1.0], vec![0.0; 4]), None);
        assert_eq!(decision.terms, [(3, 0.5)]);
        assert_eq!((problem.sample_of(1), problem.sample_of(3)), (1, 1));
        assert_eq!(problem.alpha_of([(0, 0.5), (1, -0.25)].into_iter()), [0.5, 0.0, 0.0, 0.25]);
        let fold = problem.of_samples(|i| i == 1).expect("a fold");
        assert_eq!(fold.upper(), [0.0, 1.0, 0.0, 1.0]);
        // The sums of ν-SVR are ½ each. The coefficients hold a quarter; of the rest of the boxes,
        // 1¾, each sample has the same share.
        let problem = Formulation::NuSvr { c: 1.0, nu: 0.5 }.problem(&part).expect("a problem");
        let alpha = problem.alpha_of([(0, 0.25), (1, -0.25)].into_iter());
        let common = 0.75 / 6.0;
        assert_eq!(alpha, [0.25 + common, common, common, 0.25 + common]);
        assert_eq!((alpha[0] + alpha[1], alpha[2] + alpha[3]), (0.5, 0.5));
    }
}
