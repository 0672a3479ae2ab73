//! The interface of all solver families.

use crate::certificate::audit::{Audit, AuditPoint, audit};
use crate::certificate::certify::certify_gradient;
use crate::certificate::figures::Certificate;
use crate::certificate::gap_screening::{GapScreening, gap_screening};
use crate::certificate::gradient::exact_gradient;
use crate::certificate::rounding::cancels;
use crate::certificate::twofold::twofold_for;
use crate::problem::dual::Dual;
use crate::problem::formulation::Formulation;
use crate::problem::solution::Solution;
use crate::problem::start::Start;
use crate::solver::refusal::Refused;
use crate::stopping::stop::Stop;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::Space;

/// The refinement of a solver's result in exact `f64` kernel values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refine {
    /// Refines until the exact gradient meets the goal: the certificate will hold.
    #[default]
    Exact,
    /// No refinement: for callers that audit many solutions at once and continue from exact
    /// gradients.
    Never,
    /// No refinement, and no gradient: the caller needs α alone, and computes its exact gradient.
    /// [`Solution::gradient`] may be that of an earlier point.
    PointOnly,
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
    /// returns also the labels that the gap fixes at every optimum (not of weights of its own).
    /// Weights that are no nearer to the optimum than the sum over the support vectors are dropped.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    pub fn certify(
        &mut self,
        dual: &Dual,
        space: Space,
        par: Par,
        control: &RunControl,
    ) -> Result<(Certificate, Option<GapScreening>), Cancelled> {
        let source = space.exact(control)?;
        if let Solution { alpha, bias, weights: Some(weights), .. } = &self.solution {
            let point = AuditPoint { dual, alpha, bias: *bias, weights: Some(weights), known: None };
            let Audit { certificate, gradient, of_weights, .. } = audit(source, &[point], par, control)?.remove(0);
            if of_weights {
                return Ok((certificate, None));
            }
            (self.solution.gradient, self.solution.weights) = (gradient, None);
        }
        let Solution { alpha, bias, gradient, .. } = &self.solution;
        let exact = self.exact && !cancels(dual, source, alpha);
        let computed = if exact { None } else { Some(exact_gradient(dual, source, alpha, par, control)?) };
        let gradient = computed.as_ref().unwrap_or(gradient);
        let certificate = certify_gradient(dual, source, alpha, *bias, gradient);
        let Some(twofold) = twofold_for(&certificate, source) else {
            return Ok((certificate, gap_screening(dual, source, alpha, gradient)));
        };
        let gradient = exact_gradient(dual, twofold, alpha, par, control)?;
        Ok((certify_gradient(dual, twofold, alpha, *bias, &gradient), gap_screening(dual, twofold, alpha, &gradient)))
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

    /// Returns whether the solver works on the neighbours of samples, where a matrix has found them
    /// ([`Space::find_neighbours`]). There is no default: a solver that wraps another one would
    /// forget to ask it.
    fn uses_neighbours(&self) -> bool;

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
