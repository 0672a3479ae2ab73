//! Refusals of solvers: the reason, and the changes after which there is none.

use crate::problem::formulation::Formulation;
use crate::problem::loss::{BiasTerm, Loss};
use maxmargin_kernel::{Rows, Space};
use std::fmt;

/// A solver's refusal of a problem. The text names solvers and options as the library does; an
/// interface with other names uses [`Refused::worded`].
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The name of the solver.
    pub solver: &'static str,
    /// The reason.
    pub reason: Reason,
    /// Changes of the options after which there is no such refusal.
    pub alternatives: Vec<Alternative>,
}

/// The reason of a refusal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The solver reads kernel rows, and there are features alone.
    NoRows,
    /// The solver reads features, and there are kernel rows alone.
    NoFeatures,
    /// The formulation has a dual of another form.
    Formulation(&'static str),
    /// The solver has this loss alone.
    Loss(Loss),
    /// The solver has this bias term alone.
    BiasTerm(BiasTerm),
    /// The solver has every bias term but the free one.
    FreeBias,
    /// The solver has one C for all samples.
    Weights,
    /// The solver's function returned this error.
    Failed(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRows => f.write_str("it reads kernel rows, and here there are features alone"),
            Self::NoFeatures => f.write_str("it works on features and reads no kernel"),
            Self::Formulation(name) => write!(f, "it does not solve {name}"),
            Self::Loss(Loss::Hinge) => f.write_str("it has the hinge loss"),
            Self::Loss(Loss::SquaredHinge) => f.write_str("it has the squared hinge loss"),
            Self::BiasTerm(BiasTerm::Free) => f.write_str("its bias is free"),
            Self::BiasTerm(BiasTerm::None) => f.write_str("it has no bias"),
            Self::BiasTerm(BiasTerm::Feature(value)) => write!(f, "its bias is a feature of value {value}"),
            Self::FreeBias => f.write_str("it has no free bias"),
            Self::Weights => f.write_str("it has one C for all samples, and here classes or samples are weighted"),
            Self::Failed(error) => f.write_str(error),
        }
    }
}

/// A change of the options of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Alternative {
    /// The linear kernel.
    LinearKernel,
    /// The linear kernel, and no bias.
    LinearKernelWithoutBias,
    /// This bias term.
    BiasTerm(BiasTerm),
    /// This loss.
    Loss(Loss),
    /// One C for all samples.
    EqualWeights,
    /// This goal for the KKT violation.
    Kkt(f64),
    /// The solver of this name.
    Solver(&'static str),
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinearKernel => f.write_str("the linear kernel"),
            Self::LinearKernelWithoutBias => f.write_str("the linear kernel without a bias"),
            Self::BiasTerm(BiasTerm::Free) => f.write_str("a free bias"),
            Self::BiasTerm(BiasTerm::None) => f.write_str("no bias"),
            Self::BiasTerm(BiasTerm::Feature(value)) => write!(f, "a feature of value {value} as the bias"),
            Self::Loss(Loss::Hinge) => f.write_str("the hinge loss"),
            Self::Loss(Loss::SquaredHinge) => f.write_str("the squared hinge loss"),
            Self::EqualWeights => f.write_str("equal weights"),
            Self::Kkt(violation) => write!(f, "a tolerance of {violation:e}"),
            Self::Solver(name) => write!(f, "the solver `{name}`"),
        }
    }
}

impl Refused {
    /// Returns a refusal with the alternatives that usually help. Whether they do in a training,
    /// its options tell.
    pub fn new(solver: &'static str, reason: Reason) -> Self {
        let alternatives = match &reason {
            Reason::NoRows => vec![Alternative::Solver("linear")],
            Reason::NoFeatures => vec![Alternative::LinearKernel, Alternative::Solver("smo")],
            Reason::Formulation(_) | Reason::Failed(_) => vec![Alternative::Solver("smo")],
            Reason::Loss(loss) => vec![Alternative::Loss(*loss), Alternative::Solver("smo")],
            Reason::BiasTerm(bias_term) => vec![Alternative::BiasTerm(*bias_term), Alternative::Solver("linear")],
            Reason::FreeBias => vec![
                Alternative::BiasTerm(BiasTerm::None),
                Alternative::BiasTerm(BiasTerm::Feature(1.0)),
                Alternative::Solver("linear"),
            ],
            Reason::Weights => vec![Alternative::EqualWeights, Alternative::Solver("smo")],
        };
        Self { solver, reason, alternatives }
    }

    /// Returns the refusal of a solver whose function returned an error.
    pub fn failed(solver: &'static str, error: &impl fmt::Display) -> Self {
        Self::new(solver, Reason::Failed(error.to_string()))
    }

    /// Returns the refusal with another alternative.
    #[must_use]
    pub fn instead(self, alternative: Alternative) -> Self {
        Self { alternatives: vec![alternative], ..self }
    }

    /// Returns the reason and the alternatives, each of them in the words of an interface.
    pub fn worded(&self, words: impl Fn(&Alternative) -> String) -> String {
        let alternatives: Vec<String> = self.alternatives.iter().map(words).collect();
        match &alternatives[..] {
            [] => self.reason.to_string(),
            [only] => format!("{}; use {only}", self.reason),
            [others @ .., last] => format!("{}; use {}, or {last}", self.reason, others.join(", ")),
        }
    }

    /// Returns the kernel rows of a space, for solvers that read rows.
    ///
    /// # Errors
    ///
    /// When the space has features only.
    pub fn unless_rows<'a>(solver: &'static str, space: Space<'a>) -> Result<&'a Rows<'a>, Self> {
        space.rows().ok_or_else(|| Self::new(solver, Reason::NoRows))
    }

    /// Checks the formulation for solvers over kernel rows with a free bias.
    ///
    /// # Errors
    ///
    /// When the bias is another, or there are features only.
    pub fn unless_free(solver: &'static str, formulation: &Formulation, features: bool) -> Result<(), Self> {
        if features {
            return Err(Self::new(solver, Reason::NoRows));
        }
        if formulation.bias_term() != BiasTerm::Free {
            return Err(Self::new(solver, Reason::BiasTerm(BiasTerm::Free)));
        }
        Ok(())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.solver, self.worded(Alternative::to_string))
    }
}

impl std::error::Error for Refused {}
