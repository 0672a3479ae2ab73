//! Which support vector machine: from samples and their targets to a dual problem, and from its solution back to samples.

use crate::dual::{Dual, DualError};
use crate::loss::{Loss, Offset};
use crate::solution::Solution;
use serde::{Deserialize, Serialize};

/// A support vector machine as an optimisation problem. Every variable of its dual belongs to a sample; solvers see the dual alone.
///
/// [`Formulation::Svc`] is built. The others have their names and are refused by [`Formulation::problem`] until they are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Formulation {
    /// Two classes, margins missed at the price `c` (Cortes and Vapnik 1995): LIBSVM's C-SVC, LIBLINEAR's `-s 1`, `2`, `3`.
    Svc {
        /// The price, > 0.
        c: f64,
        /// Of a margin missed by `ξ`: `c ξ` or `c ξ²`.
        loss: Loss,
        /// What the bias is.
        offset: Offset,
    },
    /// ε-insensitive regression.
    Svr {
        /// The price of an error beyond `epsilon`.
        c: f64,
        /// Errors below this cost nothing.
        epsilon: f64,
        /// The loss.
        loss: Loss,
        /// What the bias is.
        offset: Offset,
    },
    /// Two classes, a bound on the share of margins missed.
    NuSvc {
        /// The bound, in (0, 1].
        nu: f64,
    },
    /// Regression, a bound on the share of errors beyond a width that is found.
    NuSvr {
        /// The price of errors.
        c: f64,
        /// The bound, in (0, 1].
        nu: f64,
    },
    /// The support of one class.
    OneClass {
        /// A bound on the share of samples outside, in (0, 1].
        nu: f64,
    },
}

/// Samples of one machine, in any order.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Row of the Gram matrix (or of the feature matrix) of each sample.
    pub ids: &'a [usize],
    /// What the machine shall say of each: ±1 for two classes.
    pub target: &'a [f64],
    /// A factor of C for each.
    pub weights: &'a [f64],
}

/// A dual problem that knows which sample each of its variables belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    dual: Dual,
    /// Place in the part of the sample of each variable; `None`: variable `k` belongs to sample `k`.
    members: Option<Vec<u32>>,
}

/// A decision function `Σ coef K(x_id, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// (row, coefficient) of the support vectors, rows ascending.
    pub terms: Vec<(usize, f64)>,
    /// Added to the sum.
    pub bias: f64,
}

impl Formulation {
    /// The C-SVC with hinge loss and a bias that is not regularised, as LIBSVM has it.
    pub fn c_svc(c: f64) -> Self {
        Self::Svc { c, loss: Loss::Hinge, offset: Offset::Free }
    }

    /// The price of errors, where it has one.
    pub fn c(self) -> Option<f64> {
        match self {
            Self::Svc { c, .. } | Self::Svr { c, .. } | Self::NuSvr { c, .. } => Some(c),
            Self::NuSvc { .. } | Self::OneClass { .. } => None,
        }
    }

    /// The same with another price of errors; without one nothing changes.
    #[must_use]
    pub fn with_c(mut self, value: f64) -> Self {
        if let Self::Svc { c, .. } | Self::Svr { c, .. } | Self::NuSvr { c, .. } = &mut self {
            *c = value;
        }
        self
    }

    /// The loss.
    pub fn loss(self) -> Loss {
        match self {
            Self::Svc { loss, .. } | Self::Svr { loss, .. } => loss,
            _ => Loss::Hinge,
        }
    }

    /// What the bias is.
    pub fn offset(self) -> Offset {
        match self {
            Self::Svc { offset, .. } | Self::Svr { offset, .. } => offset,
            _ => Offset::Free,
        }
    }

    /// Its name in messages and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svc { .. } => "c-svc",
            Self::Svr { .. } => "epsilon-svr",
            Self::NuSvc { .. } => "nu-svc",
            Self::NuSvr { .. } => "nu-svr",
            Self::OneClass { .. } => "one-class",
        }
    }

    /// The problem of a part.
    ///
    /// # Errors
    ///
    /// [`DualError::Unbuilt`] for a formulation that has no more than a name; otherwise when C, a weight or a target is not possible, lengths differ,
    /// or there is one class only and the bias is free.
    pub fn problem(self, part: &Part) -> Result<Problem, DualError> {
        let Self::Svc { c, loss, offset } = self else { return Err(DualError::Unbuilt(self.name())) };
        let prices = part.weights.iter().map(|weight| c * weight).collect();
        let dual = Dual::svc(loss, offset, part.ids.to_vec(), part.target.to_vec(), prices)?;
        Ok(Problem { dual, members: None })
    }
}

impl Problem {
    /// The dual of all samples.
    pub fn dual(&self) -> &Dual {
        &self.dual
    }

    /// Place in the part of the sample that variable `k` belongs to.
    pub fn sample_of(&self, k: usize) -> usize {
        self.members.as_ref().map_or(k, |members| members[k] as usize)
    }

    /// The dual of the samples of which `takes_part(place)` says so: the same problem with empty boxes for all others.
    ///
    /// # Errors
    ///
    /// When what is left is no problem.
    pub fn of_samples(&self, takes_part: impl Fn(usize) -> bool) -> Result<Dual, DualError> {
        let upper = self.dual.upper().iter().enumerate();
        self.dual.with_upper(upper.map(|(k, &u)| if takes_part(self.sample_of(k)) { u } else { 0.0 }).collect())
    }

    /// The decision function of a solution of [`Problem::dual`] or of one that shares its shape.
    ///
    /// # Panics
    ///
    /// When there is not one α per variable.
    pub fn decision(&self, solution: &Solution) -> Decision {
        assert_eq!(solution.alpha.len(), self.dual.len(), "one alpha per variable");
        let mut terms: Vec<(usize, f64)> = (0..self.dual.len())
            .filter(|&k| solution.alpha[k] != 0.0)
            .map(|k| (self.dual.ids()[k], self.dual.sign()[k] * solution.alpha[k]))
            .collect();
        terms.sort_by_key(|term| term.0);
        // Several variables of one row are one support vector.
        terms.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        Decision { terms, bias: solution.bias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solution::{Status, Work};

    fn solution(alpha: Vec<f64>) -> Solution {
        Solution { gradient: vec![0.0; alpha.len()], alpha, bias: 0.5, status: Status::Converged, work: Work::default() }
    }

    #[test]
    fn weights_are_factors_of_c() {
        let part = Part { ids: &[4, 7], target: &[1.0, -1.0], weights: &[1.0, 3.0] };
        let problem = Formulation::c_svc(2.0).problem(&part).expect("a problem");
        assert_eq!(problem.dual().upper(), [2.0, 6.0]);
        let squared = Formulation::Svc { c: 2.0, loss: Loss::SquaredHinge, offset: Offset::Feature(1.0) };
        let problem = squared.with_c(1.0).problem(&part).expect("a problem");
        assert_eq!((problem.dual().ridge_of(0), problem.dual().ridge_of(1)), (0.5, 0.5 / 3.0));
        assert!(problem.of_samples(|i| i == 0).is_ok(), "without a free bias one class is a problem");
    }

    #[test]
    fn folds_are_boxes_and_decisions_name_rows() {
        let part = Part { ids: &[9, 2, 5], target: &[1.0, -1.0, 1.0], weights: &[1.0; 3] };
        let problem = Formulation::c_svc(1.0).problem(&part).expect("a problem");
        assert_eq!(problem.of_samples(|i| i != 0).expect("both classes").upper(), [0.0, 1.0, 1.0]);
        assert_eq!(problem.of_samples(|i| i != 1), Err(DualError::OneClass));
        let decision = problem.decision(&solution(vec![0.5, 1.0, 0.0]));
        assert_eq!(decision, Decision { terms: vec![(2, -1.0), (9, 0.5)], bias: 0.5 });
    }

    #[test]
    fn twins_are_one_support_vector() {
        let dual = Dual::new(vec![3, 3], vec![1.0, -1.0], vec![0.1; 2], vec![1.0; 2], 0.0, crate::Balance::Sum(0.0));
        let problem = Problem { dual: dual.expect("a problem"), members: Some(vec![0, 0]) };
        assert_eq!(problem.decision(&solution(vec![0.75, 0.25])).terms, [(3, 0.5)]);
        assert_eq!(problem.sample_of(1), 0);
    }

    #[test]
    fn what_has_only_a_name_is_refused() {
        let part = Part { ids: &[0, 1], target: &[1.0, -1.0], weights: &[1.0; 2] };
        for (formulation, name) in [(Formulation::NuSvc { nu: 0.5 }, "nu-svc"), (Formulation::OneClass { nu: 0.5 }, "one-class")]
        {
            assert_eq!(formulation.problem(&part), Err(DualError::Unbuilt(name)));
        }
    }
}
