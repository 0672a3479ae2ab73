//! What every solver family implements.

use crate::certain::{GapScreening, certain};
use crate::certificate::{Certificate, certify, certify_gradient};
use crate::dual::Dual;
use crate::formulation::Formulation;
use crate::gradient::exact_gradient_asking;
use crate::loss::{BiasTerm, Loss};
use crate::rounding::cancels;
use crate::solution::Solution;
use crate::start::Start;
use crate::watch::{Stop, Watch};
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::{Exact, Rows, Space};

/// Whether a solver confirms convergence on a gradient recomputed from exact `f64` kernel values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refine {
    /// Until the exact gradient meets the goal: the certificate will hold.
    #[default]
    Exact,
    /// Never: for callers that audit many solutions at once and come back with exact gradients.
    Never,
}

/// What a solver is given besides the problem.
pub struct Run<'a> {
    /// When to stop.
    pub stop: Stop,
    /// See [`Refine`]; solvers whose gradients are always exact take no notice.
    pub refine: Refine,
    /// Threads. The result has the same bits for any.
    pub par: Par,
    /// Place of this machine among those of its study: what is drawn at random may be drawn anew
    /// for each.
    pub machine: usize,
    /// Who is told on the way, and may end the run.
    pub watch: &'a mut dyn Watch,
}

/// What a solver gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// A feasible point; `bias` is what the decision function adds, whatever kind of bias the
    /// problem has.
    pub solution: Solution,
    /// Whether the gradient comes from exact kernel values or features: a certificate can be made
    /// of it.
    pub exact: bool,
    /// What the solver counts besides iterations, by name.
    pub counts: Vec<(&'static str, u64)>,
}

impl Solved {
    /// The judgement, from the solution's own gradient where that is exact, otherwise from one
    /// computed afresh.
    pub fn certify(&self, dual: &Dual, space: Space, par: Par) -> Certificate {
        let Solution { alpha, bias, gradient, .. } = &self.solution;
        let source = Exact::from(space);
        if self.exact && !cancels(dual, source, alpha) {
            certify_gradient(dual, source, alpha, *bias, gradient)
        } else {
            certify(dual, source, &self.solution, par)
        }
    }

    /// [`Solved::certify`], asking now and then whether to go on, and the labels that its gap
    /// proves.
    ///
    /// # Errors
    ///
    /// When it was called off.
    pub fn certify_asking(
        &self,
        dual: &Dual,
        space: Space,
        par: Par,
        asking: &Asking,
    ) -> Result<(Certificate, Option<GapScreening>), Halted> {
        let Solution { alpha, bias, gradient, .. } = &self.solution;
        let source = space.exact(asking)?;
        let exact = self.exact && !cancels(dual, source, alpha);
        let computed = if exact { None } else { Some(exact_gradient_asking(dual, source, alpha, par, asking)?) };
        let gradient = computed.as_ref().unwrap_or(gradient);
        Ok((certify_gradient(dual, source, alpha, *bias, gradient), certain(dual, source, alpha, gradient)))
    }

    /// Counts of both, by name.
    pub fn add_counts(counts: &mut Vec<(&'static str, u64)>, more: &[(&'static str, u64)]) {
        for &(name, count) in more {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => counts.push((name, count)),
            }
        }
    }
}

/// Why a solver does not take a problem, and what to take instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{solver}: {reason}; {instead}")]
pub struct Refused {
    /// The solver's name.
    pub solver: &'static str,
    /// What it cannot.
    pub reason: String,
    /// What could.
    pub instead: &'static str,
}

impl Refused {
    /// The kernel rows of a space, for solvers that read them.
    ///
    /// # Errors
    ///
    /// When there are features alone.
    pub fn unless_rows<'a>(solver: &'static str, space: Space<'a>) -> Result<&'a Rows<'a>, Self> {
        space.rows().ok_or_else(|| Self::features(solver))
    }

    /// Nothing, for solvers that have the duals of C-SVC alone.
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

    /// Nothing, for solvers over kernel rows that have the hinge loss and a free bias.
    ///
    /// # Errors
    ///
    /// When loss or bias are others, or there are features alone.
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

    /// What solvers over kernel rows say of formulations whose bias is not free.
    ///
    /// # Errors
    ///
    /// When the bias is another, or there are features alone.
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

    /// What solvers over kernel rows say of features.
    pub fn features(solver: &'static str) -> Self {
        Self {
            solver,
            reason: "it reads kernel rows, and here there are features alone".to_owned(),
            instead: "use the solver `linear`",
        }
    }
}

/// A solver family behind its common signature. Everything above the solvers knows them as this.
pub trait Solve: Sync {
    /// The short name that options, documents and model files know it by.
    fn name(&self) -> &'static str;

    /// Whether it takes duals of this formulation over features (`true`) or kernel rows, before
    /// there is any data.
    ///
    /// # Errors
    ///
    /// When it does not, with what does.
    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused>;

    /// Minimises `dual` from `start`.
    ///
    /// Every returned point is feasible. When the status is
    /// [`Converged`](crate::Status::Converged), the goal of `run.stop` holds by the solver's own
    /// gradient, and by exact values under [`Refine::Exact`].
    ///
    /// # Errors
    ///
    /// When the problem is none for this solver.
    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused>;
}

/// [`Solve::solve`] with [`Refine::Exact`] and the certificate of what it returns. A solver that
/// saw no further progress has converged where the certificate shows the goal.
///
/// # Errors
///
/// As [`Solve::solve`].
pub fn solve_certified(
    solver: &dyn Solve,
    dual: &Dual,
    space: Space,
    start: Start,
    run: &mut Run,
) -> Result<(Solved, Certificate), Refused> {
    run.refine = Refine::Exact;
    let mut solved = solver.solve(dual, space, start, run)?;
    let certificate = solved.certify(dual, space, run.par);
    solved.solution.status = run.stop.goal.reached(solved.solution.status, &certificate);
    Ok((solved, certificate))
}
