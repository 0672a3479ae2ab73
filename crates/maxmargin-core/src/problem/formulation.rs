//! The kinds of support vector machine: from samples and targets to a dual problem.

use crate::problem::dual::{Dual, DualError, EqualityConstraint};
use crate::problem::loss::{BiasTerm, Loss};
use serde::{Deserialize, Serialize};

/// A support vector machine as an optimisation problem. Every variable of its dual belongs to a
/// sample; solvers see the dual only.
///
/// `docs/math/formulations.md` has the primal of each and derives its dual.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Formulation {
    /// Two classes, with the price `c` for missed margins (Cortes and Vapnik 1995): LIBSVM's C-SVC,
    /// LIBLINEAR's `-s 1`, `2`, `3`.
    Svc {
        /// The price, > 0.
        c: f64,
        /// The loss of a margin missed by `ξ`: `c ξ` or `c ξ²`.
        loss: Loss,
        /// The kind of bias.
        bias_term: BiasTerm,
    },
    /// Regression with a price for the part of an error above `epsilon` (Drucker et al. 1997):
    /// LIBSVM's `-s 3`, LIBLINEAR's `-s 11`, `12`, `13`.
    Svr {
        /// The price, > 0.
        c: f64,
        /// The width below which errors cost nothing; 0 or more.
        epsilon: f64,
        /// The loss.
        loss: Loss,
        /// The kind of bias.
        bias_term: BiasTerm,
    },
    /// Two classes, with the share of missed margins instead of their price (Schölkopf et al.
    /// 2000): LIBSVM's `-s 1`.
    NuSvc {
        /// The share: at most this share of the samples misses its margin, at least this share are
        /// support vectors. Above 0, and at most twice the share of the smaller class.
        nu: f64,
    },
    /// Regression whose width is part of the solution (Schölkopf et al. 2000): LIBSVM's `-s 4`.
    NuSvr {
        /// The price of errors, > 0.
        c: f64,
        /// The share: at most this share of the samples lies outside the width, at least this share
        /// are support vectors; in (0, 1].
        nu: f64,
    },
    /// Regression of the quantile `tau` (Takeuchi et al. 2006): a unit of error costs `c tau` where
    /// the target is above the function, and `c (1 − tau)` where it is below.
    Quantile {
        /// The price, > 0.
        c: f64,
        /// The level, in (0, 1).
        tau: f64,
        /// The kind of bias.
        bias_term: BiasTerm,
    },
    /// Regression of the expectile `tau` (Newey and Powell 1987): the squared loss with the same
    /// two prices as [`Formulation::Quantile`].
    Expectile {
        /// The price, > 0.
        c: f64,
        /// The level, in (0, 1).
        tau: f64,
        /// The kind of bias.
        bias_term: BiasTerm,
    },
    /// The support of one class (Schölkopf et al. 2001): LIBSVM's `-s 2`, LIBLINEAR's `-s 21`.
    OneClass {
        /// The share: at most this share of the samples is outside, at least this share are support
        /// vectors; in (0, 1].
        nu: f64,
    },
}

/// The kind of target that a formulation needs for each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A class.
    Classes,
    /// A value.
    Values,
    /// No target.
    Nothing,
}

/// The property of a target's distribution that a regression estimates, with its level τ in (0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// The value that the target does not exceed with probability τ.
    Quantile(f64),
    /// The value about which squared errors, weighted τ above and 1 − τ below, are least.
    Expectile(f64),
}

impl Level {
    /// Returns τ.
    pub fn tau(self) -> f64 {
        match self {
            Self::Quantile(tau) | Self::Expectile(tau) => tau,
        }
    }

    /// Returns the same property at another τ.
    #[must_use]
    pub fn at(self, tau: f64) -> Self {
        match self {
            Self::Quantile(_) => Self::Quantile(tau),
            Self::Expectile(_) => Self::Expectile(tau),
        }
    }
}

/// The relative rounding error of sums that is not a reason to refuse ν.
const ROUNDING: f64 = 1e-12;

impl Formulation {
    /// Returns the C-SVC with hinge loss and an unregularised bias, as in LIBSVM.
    pub fn c_svc(c: f64) -> Self {
        Self::Svc { c, loss: Loss::Hinge, bias_term: BiasTerm::Free }
    }

    /// Returns the ε-SVR with an unregularised bias, as in LIBSVM.
    pub fn epsilon_svr(c: f64, epsilon: f64) -> Self {
        Self::Svr { c, epsilon, loss: Loss::Hinge, bias_term: BiasTerm::Free }
    }

    /// Returns the regression of the quantile `tau` with an unregularised bias.
    pub fn quantile(c: f64, tau: f64) -> Self {
        Self::Quantile { c, tau, bias_term: BiasTerm::Free }
    }

    /// Returns the regression of the expectile `tau` with an unregularised bias.
    pub fn expectile(c: f64, tau: f64) -> Self {
        Self::Expectile { c, tau, bias_term: BiasTerm::Free }
    }

    /// Returns the price of errors, if the formulation has one.
    pub fn c(self) -> Option<f64> {
        match self {
            Self::Svc { c, .. }
            | Self::Svr { c, .. }
            | Self::NuSvr { c, .. }
            | Self::Quantile { c, .. }
            | Self::Expectile { c, .. } => Some(c),
            Self::NuSvc { .. } | Self::OneClass { .. } => None,
        }
    }

    /// Returns the same formulation with another price of errors; without one nothing changes.
    #[must_use]
    pub fn with_c(mut self, value: f64) -> Self {
        if let Self::Svc { c, .. }
        | Self::Svr { c, .. }
        | Self::NuSvr { c, .. }
        | Self::Quantile { c, .. }
        | Self::Expectile { c, .. } = &mut self
        {
            *c = value;
        }
        self
    }

    /// Returns the same formulation with another loss and bias; formulations without that choice do
    /// not change.
    #[must_use]
    pub fn with(mut self, what: Loss, bias: BiasTerm) -> Self {
        match &mut self {
            Self::Svc { loss, bias_term, .. } | Self::Svr { loss, bias_term, .. } => (*loss, *bias_term) = (what, bias),
            Self::Quantile { bias_term, .. } | Self::Expectile { bias_term, .. } => *bias_term = bias,
            Self::NuSvc { .. } | Self::NuSvr { .. } | Self::OneClass { .. } => {}
        }
        self
    }

    /// Returns ν, if the formulation has one.
    pub fn nu(self) -> Option<f64> {
        match self {
            Self::NuSvc { nu } | Self::NuSvr { nu, .. } | Self::OneClass { nu } => Some(nu),
            _ => None,
        }
    }

    /// Returns the property of the target's distribution that a machine estimates, if it has a
    /// level τ.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Quantile { tau, .. } => Some(Level::Quantile(tau)),
            Self::Expectile { tau, .. } => Some(Level::Expectile(tau)),
            _ => None,
        }
    }

    /// Returns the same formulation at another level τ; without one nothing changes.
    #[must_use]
    pub fn with_level(mut self, value: f64) -> Self {
        if let Self::Quantile { tau, .. } | Self::Expectile { tau, .. } = &mut self {
            *tau = value;
        }
        self
    }

    /// Returns the width below which errors cost nothing, if it is given.
    pub fn epsilon(self) -> Option<f64> {
        if let Self::Svr { epsilon, .. } = self { Some(epsilon) } else { None }
    }

    /// Returns the loss.
    pub fn loss(self) -> Loss {
        match self {
            Self::Svc { loss, .. } | Self::Svr { loss, .. } => loss,
            Self::Expectile { .. } => Loss::SquaredHinge,
            _ => Loss::Hinge,
        }
    }

    /// Returns the kind of bias.
    pub fn bias_term(self) -> BiasTerm {
        match self {
            Self::Svc { bias_term, .. }
            | Self::Svr { bias_term, .. }
            | Self::Quantile { bias_term, .. }
            | Self::Expectile { bias_term, .. } => bias_term,
            _ => BiasTerm::Free,
        }
    }

    /// Returns the kind of target that each sample needs.
    pub fn target_kind(self) -> TargetKind {
        match self {
            Self::Svc { .. } | Self::NuSvc { .. } => TargetKind::Classes,
            Self::Svr { .. } | Self::NuSvr { .. } | Self::Quantile { .. } | Self::Expectile { .. } => TargetKind::Values,
            Self::OneClass { .. } => TargetKind::Nothing,
        }
    }

    /// Returns the name in messages and documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Svc { .. } => "c-svc",
            Self::Svr { .. } => "epsilon-svr",
            Self::NuSvc { .. } => "nu-svc",
            Self::NuSvr { .. } => "nu-svr",
            Self::Quantile { .. } => "quantile",
            Self::Expectile { .. } => "expectile",
            Self::OneClass { .. } => "one-class",
        }
    }

    /// Returns true if a primal objective shows no margin: for ν-SVC, the function 0 has the
    /// objective 0, and a point that is not below it is no better. Classes that overlap more than ν
    /// allows have no other solution (Chang and Lin 2001, Training ν-support vector classifiers:
    /// theory and algorithms). The objective of an indefinite kernel is infinite and shows nothing.
    pub fn lacks_margin(self, primal: f64) -> bool {
        matches!(self, Self::NuSvc { .. }) && (0.0..f64::INFINITY).contains(&primal)
    }

    /// Checks the parameters without any data.
    ///
    /// # Errors
    ///
    /// When ε, ν, τ or C is out of its range.
    pub fn check(self) -> Result<(), DualError> {
        if let Some(epsilon) = self.epsilon().filter(|epsilon| !(epsilon.is_finite() && *epsilon >= 0.0)) {
            return Err(DualError::Epsilon(epsilon));
        }
        if let Some(nu) = self.nu().filter(|nu| !(*nu > 0.0 && *nu <= 1.0)) {
            return Err(DualError::Nu { nu, largest: 1.0 });
        }
        if let Some(tau) = self.level().map(Level::tau).filter(|tau| !(*tau > 0.0 && *tau < 1.0)) {
            return Err(DualError::Tau(tau));
        }
        if let Some(value) = self.bias_term().feature().filter(|value| !(value * value).is_finite()) {
            return Err(DualError::BiasFeature(value));
        }
        match self.c() {
            Some(value) if !(value.is_finite() && value > 0.0) => Err(DualError::Upper { variable: 0, value }),
            _ => Ok(()),
        }
    }

    /// Returns `dual` with the sums that this formulation requires: the sums of ν follow from the
    /// samples that take part.
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

    /// Returns true if a sample that takes no part changes the problem of the others even where its
    /// α is 0: ν is a share of all samples.
    pub fn counts_samples(self) -> bool {
        self.nu().is_some()
    }
}

#[cfg(test)]
#[path = "formulation_tests.rs"]
mod tests;
