//! The interface of all solver families.

use crate::certificate::certify::certify_gradient;
use crate::certificate::figures::Certificate;
use crate::certificate::gap_screening::{GapScreening, gap_screening};
use crate::certificate::gradient::exact_gradient;
use crate::certificate::rounding::cancels;
use crate::problem::dual::Dual;
use crate::problem::formulation::Formulation;
use crate::problem::loss::{BiasTerm, Loss};
use crate::problem::solution::Solution;
use crate::problem::start::Start;
use crate::stopping::stop::Stop;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::{Rows, Space};

/// The refinement of a solver's result in exact `f64` kernel values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refine {
    /// Refines until the exact gradient meets the goal: the certificate will hold.
    #[default]
    Exact,
    /// No refinement: for callers that audit many solutions at once and continue from exact
    /// gradients.
    Never,
}

/// The arguments of a solver besides the problem.
pub struct Run<'a> {
    /// The stopping rule.
    pub stop: Stop,
    /// The refinement; solvers whose gradients are always exact ignore it.
    pub refine: Refine,
    /// The threads. The result has the same bits for any number of threads.
    pub par: Par,
    /// The position of this machine in its study: solvers may seed random draws with it.
    pub machine: usize,
    /// Receives progress, and ends the run.
    pub control: &'a RunControl<'a>,
}

/// The result of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// A feasible point. `bias` is the constant that the decision function adds, for every kind of
    /// bias.
    pub solution: Solution,
    /// True if the gradient comes from exact kernel values or features: a certificate can use it.
    pub exact: bool,
    /// Counts besides the iterations, by name.
    pub counts: Vec<(&'static str, u64)>,
}

impl Solved {
    /// Certifies the solution, by its own gradient if that is exact, otherwise by a new one, and
    /// returns also the labels that the gap fixes at every optimum.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    pub fn certify(
        &self,
        dual: &Dual,
        space: Space,
        par: Par,
        control: &RunControl,
    ) -> Result<(Certificate, Option<GapScreening>), Cancelled> {
        let Solution { alpha, bias, gradient, .. } = &self.solution;
        let source = space.exact(control)?;
        let exact = self.exact && !cancels(dual, source, alpha);
        let computed = if exact { None } else { Some(exact_gradient(dual, source, alpha, par, control)?) };
        let gradient = computed.as_ref().unwrap_or(gradient);
        Ok((certify_gradient(dual, source, alpha, *bias, gradient), gap_screening(dual, source, alpha, gradient)))
    }

    /// Adds counts by name.
    pub fn add_counts(counts: &mut Vec<(&'static str, u64)>, more: &[(&'static str, u64)]) {
        for &(name, count) in more {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => counts.push((name, count)),
            }
        }
    }
}

/// The reason why a solver refuses a problem, and an alternative.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{solver}: {reason}; {instead}")]
pub struct Refused {
    /// The name of the solver.
    pub solver: &'static str,
    /// The reason.
    pub reason: String,
    /// The alternative.
    pub instead: &'static str,
}

impl Refused {
    /// Returns the kernel rows of a space, for solvers that read rows.
    ///
    /// # Errors
    ///
    /// When the space has features only.
    pub fn unless_rows<'a>(solver: &'static str, space: Space<'a>) -> Result<&'a Rows<'a>, Self> {
        space.rows().ok_or_else(|| Self::features(solver))
    }

    /// Checks the formulation for solvers of C-SVC duals only.
    ///
    /// # Errors
    ///
    /// When the formulation is another.
    pub fn unless_svc(solver: &'static str, formulation: &Formulation, instead: &'static str) -> Result<(), Self> {
        match formulation {
            Formulation::Svc { .. } => Ok(()),
            other => Err(Self { solver, reason: format!("it solves C-SVC, not {}", other.name()), instead }),
        }
    }

    /// Checks the formulation for solvers over kernel rows with hinge loss and a free bias.
    ///
    /// # Errors
    ///
    /// When the loss or the bias is another, or there are features only.
    pub fn unless_hinge(solver: &'static str, formulation: &Formulation, features: bool) -> Result<(), Self> {
        let refused = |reason: &str, instead| Err(Self { solver, reason: reason.to_owned(), instead });
        Self::unless_free(solver, formulation, features)?;
        if formulation.loss() != Loss::Hinge && !matches!(formulation, Formulation::Svc { .. }) {
            return refused("it has the hinge loss", "for the squared loss use `smo`, or `linear` without a kernel");
        }
        if formulation.loss() != Loss::Hinge {
            return refused(
                "it has the hinge loss",
                "for the squared loss use `smo` or `pairwise`, or `linear` without a kernel",
            );
        }
        Ok(())
    }

    /// Checks the formulation for solvers over kernel rows with a free bias.
    ///
    /// # Errors
    ///
    /// When the bias is another, or there are features only.
    pub fn unless_free(solver: &'static str, formulation: &Formulation, features: bool) -> Result<(), Self> {
        if features {
            return Err(Self::features(solver));
        }
        if formulation.bias_term() != BiasTerm::Free {
            let reason = "its bias is free".to_owned();
            return Err(Self { solver, reason, instead: "for another bias use `linear`, or `pairwise` with the squared loss" });
        }
        Ok(())
    }

    /// Returns the refusal of solvers over kernel rows where there are features only.
    pub fn features(solver: &'static str) -> Self {
        Self {
            solver,
            reason: "it reads kernel rows, and here there are features alone".to_owned(),
            instead: "use the solver `linear`",
        }
    }
}

/// A solver family. All layers above the solvers use this trait.
pub trait Solve: Sync {
    /// Returns the short name in options, documents and model files.
    fn name(&self) -> &'static str;

    /// Checks, before there is any data, that the solver takes duals of this formulation over
    /// features (`true`) or kernel rows.
    ///
    /// # Errors
    ///
    /// When it does not; the error names solvers that do.
    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused>;

    /// Minimises `dual` from `start`.
    ///
    /// Every returned point is feasible. If the status is [`Converged`](crate::Status::Converged),
    /// the goal of `run.stop` holds by the solver's own gradient, and by exact values under
    /// [`Refine::Exact`].
    ///
    /// # Errors
    ///
    /// When the solver does not take the problem.
    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused>;
}
