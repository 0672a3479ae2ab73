//! Which support vector machine: from samples and their targets to a dual problem, and from its
//! solution back to samples.

use crate::dual::{Dual, DualError, EqualityConstraint};
use crate::loss::{BiasTerm, Loss};
use crate::problem::{Problem, TrainingSet};
use serde::{Deserialize, Serialize};

/// A support vector machine as an optimisation problem. Every variable of its dual belongs to a
/// sample; solvers see the dual alone.
///
/// The primal of each, and how its dual follows, stand in `docs/math/formulations.md`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Formulation {
    /// Two classes, margins missed at the price `c` (Cortes and Vapnik 1995): LIBSVM's C-SVC,
    /// LIBLINEAR's `-s 1`, `2`, `3`.
    Svc {
        /// The price, > 0.
        c: f64,
        /// Of a margin missed by `ξ`: `c ξ` or `c ξ²`.
        loss: Loss,
        /// What the bias is.
        bias_term: BiasTerm,
    },
    /// Regression whose errors cost what they exceed `epsilon` by (Drucker et al. 1997): LIBSVM's
    /// `-s 3`, LIBLINEAR's `-s 11`, `12`, `13`.
    Svr {
        /// The price, > 0.
        c: f64,
        /// Errors below this cost nothing; 0 or more.
        epsilon: f64,
        /// The loss.
        loss: Loss,
        /// What the bias is.
        bias_term: BiasTerm,
    },
    /// Two classes, the share of missed margins instead of their price (Schölkopf et al. 2000):
    /// LIBSVM's `-s 1`.
    NuSvc {
        /// At most this share of the samples misses its margin, at least this share are support
        /// vectors; above 0, and no more than twice the share of the smaller class.
        nu: f64,
    },
    /// Regression with a width that is found (Schölkopf et al. 2000): LIBSVM's `-s 4`.
    NuSvr {
        /// The price of errors, > 0.
        c: f64,
        /// At most this share of the samples lies outside the width, at least this share are
        /// support vectors; in (0, 1].
        nu: f64,
    },
    /// Where the samples of one class are (Schölkopf et al. 2001): LIBSVM's `-s 2`, LIBLINEAR's `-s
    /// 21`.
    OneClass {
        /// At most this share of the samples is outside, at least this share are support vectors;
        /// in (0, 1].
        nu: f64,
    },
}

/// What a formulation wants to know of each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Which class it is of.
    Classes,
    /// A value.
    Values,
    /// Nothing.
    Nothing,
}

/// A rounding of sums that does not make a ν impossible.
const ROUNDING: f64 = 1e-12;

impl Formulation {
    /// The C-SVC with hinge loss and a bias that is not regularised, as LIBSVM has it.
    pub fn c_svc(c: f64) -> Self {
        Self::Svc { c, loss: Loss::Hinge, bias_term: BiasTerm::Free }
    }

    /// The ε-SVR with a bias that is not regularised, as LIBSVM has it.
    pub fn epsilon_svr(c: f64, epsilon: f64) -> Self {
        Self::Svr { c, epsilon, loss: Loss::Hinge, bias_term: BiasTerm::Free }
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

    /// The same with another loss and another bias; where there is no choice nothing changes.
    #[must_use]
    pub fn with(mut self, what: Loss, bias: BiasTerm) -> Self {
        if let Self::Svc { loss, bias_term, .. } | Self::Svr { loss, bias_term, .. } = &mut self {
            (*loss, *bias_term) = (what, bias);
        }
        self
    }

    /// ν, where it has one.
    pub fn nu(self) -> Option<f64> {
        match self {
            Self::NuSvc { nu } | Self::NuSvr { nu, .. } | Self::OneClass { nu } => Some(nu),
            Self::Svc { .. } | Self::Svr { .. } => None,
        }
    }

    /// The width within which errors cost nothing, where it is given.
    pub fn epsilon(self) -> Option<f64> {
        if let Self::Svr { epsilon, .. } = self { Some(epsilon) } else { None }
    }

    /// The loss.
    pub fn loss(self) -> Loss {
        match self {
            Self::Svc { loss, .. } | Self::Svr { loss, .. } => loss,
            _ => Loss::Hinge,
        }
    }

    /// What the bias is.
    pub fn bias_term(self) -> BiasTerm {
        match self {
            Self::Svc { bias_term, .. } | Self::Svr { bias_term, .. } => bias_term,
            _ => BiasTerm::Free,
        }
    }

    /// What it wants to know of each sample.
    pub fn target_kind(self) -> TargetKind {
        match self {
            Self::Svc { .. } | Self::NuSvc { .. } => TargetKind::Classes,
            Self::Svr { .. } | Self::NuSvr { .. } => TargetKind::Values,
            Self::OneClass { .. } => TargetKind::Nothing,
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

    /// Whether its parameters are possible, before there is any data.
    ///
    /// # Errors
    ///
    /// When ε, ν or C is not.
    pub fn check(self) -> Result<(), DualError> {
        if let Some(epsilon) = self.epsilon().filter(|epsilon| !(epsilon.is_finite() && *epsilon >= 0.0)) {
            return Err(DualError::Epsilon(epsilon));
        }
        if let Some(nu) = self.nu().filter(|nu| !(*nu > 0.0 && *nu <= 1.0)) {
            return Err(DualError::Nu { nu, largest: 1.0 });
        }
        match self.c() {
            Some(value) if !(value.is_finite() && value > 0.0) => Err(DualError::Upper { variable: 0, value }),
            _ => Ok(()),
        }
    }

    /// The problem of a part.
    ///
    /// # Errors
    ///
    /// When C, ε, ν, a weight or a target is not possible, lengths differ, or there is one class
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
            Self::Svr { epsilon, loss, bias_term, .. } => Dual::svr(loss, bias_term, ids, part.target, &prices, epsilon)?,
            Self::NuSvr { .. } => Dual::svr(Loss::Hinge, BiasTerm::Free, ids, part.target, &prices, 0.0)?,
            Self::NuSvc { .. } => Dual::new(ids, part.target.to_vec(), vec![0.0; n], prices, 0.0, EqualityConstraint::Free)?,
            Self::OneClass { .. } => Dual::new(ids, vec![1.0; n], vec![0.0; n], prices, 0.0, EqualityConstraint::Free)?,
        };
        let dual = self.balanced(dual)?;
        Ok(Problem::new(self, dual, n))
    }

    /// `dual` with the sums that this formulation asks of its boxes: those of ν follow from who
    /// takes part.
    pub(crate) fn balanced(self, dual: Dual) -> Result<Dual, DualError> {
        let Some(nu) = self.nu() else { return Ok(dual) };
        let room =
            |sign: f64| -> f64 { dual.sign().iter().zip(dual.upper()).filter(|(s, _)| **s == sign).map(|(_, u)| *u).sum() };
        let (plus, minus) = (room(1.0), room(-1.0));
        let balance = match self {
            Self::NuSvc { .. } => {
                let (wanted, least) = (0.5 * nu * (plus + minus), plus.min(minus));
                if least == 0.0 {
                    return Err(DualError::OneClass);
                }
                if wanted > least * (1.0 + ROUNDING) {
                    return Err(DualError::Nu { nu, largest: 2.0 * least / (plus + minus) });
                }
                EqualityConstraint::PerSign(wanted.min(least), wanted.min(least))
            }
            Self::NuSvr { .. } => EqualityConstraint::PerSign(0.5 * nu * plus, 0.5 * nu * plus),
            _ => EqualityConstraint::Sum(nu * plus),
        };
        if plus == 0.0 {
            return Err(DualError::Empty);
        }
        Ok(dual.with_balance(balance))
    }

    /// Whether a sample that takes no part changes the problem of the others even where its α is 0:
    /// what ν asks for is a share of all.
    pub fn counts_samples(self) -> bool {
        self.nu().is_some()
    }
}

#[cfg(test)]
#[path = "formulation_tests.rs"]
mod tests;
