//! The solver families by name.

use crate::smo_finish::SmoFinish;
use maxmargin_core::{BiasTerm, Formulation, Goal, Loss, Solve};
use maxmargin_frankwolfe::{Simplex, StepMethod as Steps};
use maxmargin_irwls::Irwls;
use maxmargin_linear::{Linear, Method};
use serde::{Deserialize, Serialize};

/// A solver family by name. [`Solver::build`] makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// `linear` without a kernel, `smo` for the hinge loss, `pairwise` for the squared.
    #[default]
    Auto,
    /// Sequential minimal optimisation over kernel rows; tolerances below 10⁻⁵ are reached by an
    /// active-set finish.
    Smo,
    /// Weighted least squares on working sets of kernel values.
    Irwls,
    /// Without a kernel: coordinate descent while it pays, then Newton steps.
    Linear,
    /// Without a kernel: coordinate descent with random permutations and shrinking, as in
    /// LIBLINEAR.
    Descent,
    /// Without a kernel: coordinate descent with adaptive variable selection frequencies.
    Avsf,
    /// Without a kernel: Newton steps from the start.
    Newton,
    /// Kernels, squared loss: pairwise steps on the simplex.
    Pairwise,
    /// Kernels, squared loss: core vector machine.
    Cvm,
    /// Kernels, squared loss: Frank-Wolfe steps.
    Fw,
    /// Kernels, squared loss: Frank-Wolfe steps with away steps.
    Mfw,
    /// Kernels, squared loss: SWAP steps.
    Swap,
}

/// The default tolerance, of the KKT violation or of the relative gap.
const USUAL: f64 = 1e-3;

impl Solver {
    /// Every solver that has a name of its own.
    pub const ALL: [Self; 11] = [
        Self::Smo,
        Self::Irwls,
        Self::Linear,
        Self::Descent,
        Self::Avsf,
        Self::Newton,
        Self::Pairwise,
        Self::Cvm,
        Self::Fw,
        Self::Mfw,
        Self::Swap,
    ];

    /// Every name that options accept: `Auto`, then [`Solver::ALL`].
    pub fn choices() -> impl Iterator<Item = Self> {
        [Self::Auto].into_iter().chain(Self::ALL)
    }

    /// Replaces `Auto` by a solver for this kernel, formulation and loss. `keep_support_vectors`:
    /// the model must keep them, which linear solvers do not.
    #[must_use]
    pub fn resolved(self, linear: bool, formulation: Formulation, loss: Option<Loss>, keep_support_vectors: bool) -> Self {
        let without_kernel = || {
            let asked = formulation.with(loss.unwrap_or(formulation.loss()), formulation.bias_term());
            Self::Linear.build(0).takes(&asked, true).is_ok()
        };
        match self {
            Self::Auto if keep_support_vectors => Self::Smo,
            Self::Auto if linear && without_kernel() => Self::Linear,
            Self::Auto if formulation.name() != "c-svc" => Self::Smo,
            Self::Auto if loss == Some(Loss::SquaredHinge) => Self::Pairwise,
            Self::Auto => Self::Smo,
            named => named,
        }
    }

    /// The default loss and bias term of the solver.
    pub fn problem(self) -> (Loss, BiasTerm) {
        if self.is_simplex() { (Loss::SquaredHinge, BiasTerm::Feature(1.0)) } else { (Loss::Hinge, BiasTerm::Free) }
    }

    /// Returns true if the solver works on features, without a kernel.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Linear | Self::Descent | Self::Avsf | Self::Newton)
    }

    fn is_simplex(self) -> bool {
        matches!(self, Self::Pairwise | Self::Cvm | Self::Fw | Self::Mfw | Self::Swap)
    }

    /// The default goal: a KKT violation of 10⁻³, or a relative gap of 10⁻³ for solvers whose
    /// violation falls slowly.
    pub fn goal(self) -> Goal {
        if matches!(self, Self::Cvm | Self::Fw | Self::Mfw | Self::Swap) { Goal::Gap(USUAL) } else { Goal::Kkt(USUAL) }
    }

    /// Builds the solver. `seed` determines random orders, samples and starts.
    pub fn build(self, seed: u64) -> Box<dyn Solve + Send> {
        let linear = |method| Box::new(Linear { method, seed });
        let simplex = |method| Box::new(Simplex::of(method, seed));
        match self {
            Self::Auto | Self::Smo => {
                Box::new(SmoFinish { hands_over: self == Self::Auto, merge_equal_rows: true, ..SmoFinish::default() })
            }
            Self::Irwls => Box::new(Irwls { seed, ..Irwls::default() }),
            Self::Linear => linear(Method::Hybrid),
            Self::Descent => linear(Method::Descent),
            Self::Avsf => linear(Method::Avsf),
            Self::Newton => linear(Method::Newton),
            Self::Pairwise => simplex(Steps::Pairwise),
            Self::Cvm => simplex(Steps::Cvm),
            Self::Fw => simplex(Steps::Fw),
            Self::Mfw => simplex(Steps::Mfw),
            Self::Swap => simplex(Steps::Swap),
        }
    }

    /// Builds the solver, with `smo` in the place of SMO with its default options.
    pub fn build_as(self, seed: u64, smo: SmoFinish) -> Box<dyn Solve + Send> {
        match self {
            Self::Auto | Self::Smo => Box::new(smo),
            other => other.build(seed),
        }
    }

    /// A solver of the same problem that reaches goals for which this one is too slow.
    pub fn faster(self) -> Option<Self> {
        match self {
            Self::Cvm | Self::Fw | Self::Mfw | Self::Swap => Some(Self::Pairwise),
            Self::Descent | Self::Avsf => Some(Self::Linear),
            Self::Smo => Some(Self::Auto),
            Self::Auto | Self::Irwls | Self::Linear | Self::Newton | Self::Pairwise => None,
        }
    }

    /// The name in options, documents and model files.
    pub fn name(self) -> &'static str {
        if self == Self::Auto { "auto" } else { self.build(0).name() }
    }

    /// Returns one line of help for users.
    pub fn help(self) -> &'static str {
        match self {
            Self::Auto => "linear for the linear kernel, smo for other kernels, pairwise for these with the squared loss",
            Self::Smo => "sequential minimal optimisation over kernel values",
            Self::Irwls => "weighted least squares on working sets of kernel values",
            Self::Linear => "linear only: coordinate descent while it pays, then Newton steps",
            Self::Descent => "linear only: coordinate descent with random permutations and shrinking, as in LIBLINEAR",
            Self::Avsf => "linear only: coordinate descent with adaptive variable selection frequencies",
            Self::Newton => "linear only: Newton steps from the start",
            Self::Pairwise => "kernels, squared loss: pairwise steps on the simplex",
            Self::Cvm => "kernels, squared loss: core vector machine",
            Self::Fw => "kernels, squared loss: Frank-Wolfe steps",
            Self::Mfw => "kernels, squared loss: Frank-Wolfe steps with away steps",
            Self::Swap => "kernels, squared loss: SWAP steps",
        }
    }
}

impl std::str::FromStr for Solver {
    type Err = UnknownSolver;

    fn from_str(name: &str) -> Result<Self, UnknownSolver> {
        let known = Self::choices().find(|solver| solver.name() == name);
        known.ok_or_else(|| UnknownSolver(name.to_owned()))
    }
}

/// The error of a name that no solver has. Its text lists all names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no solver is called `{0}`; there are {names}", names = Solver::choices().map(Solver::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownSolver(pub String);

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_core::{Alternative, Reason};

    #[test]
    fn names_lead_to_solvers_that_take_their_own_problem() {
        for solver in Solver::ALL {
            assert_eq!(solver.name().parse(), Ok(solver));
            assert!(UnknownSolver(String::new()).to_string().contains(&format!(" {}", solver.name())), "{solver:?}");
            let built = solver.build(1);
            let (loss, bias_term) = solver.problem();
            let features = built.takes(&Formulation::Svc { c: 1.0, loss, bias_term: BiasTerm::Feature(1.0) }, true).is_ok();
            assert_eq!(features, matches!(solver, Solver::Linear | Solver::Descent | Solver::Avsf | Solver::Newton));
            assert_eq!(built.takes(&Formulation::Svc { c: 1.0, loss, bias_term }, false).is_ok(), !features);
        }
        assert_eq!(
            "best".parse::<Solver>().expect_err("no such solver").to_string(),
            "no solver is called `best`; there are auto, smo, irwls, linear, descent, avsf, newton, pairwise, cvm, fw, mfw, swap"
        );
        assert_eq!("auto".parse(), Ok(Solver::Auto));
    }

    #[test]
    fn refusals_name_what_to_take_instead() {
        let squared = Formulation::Svc { c: 1.0, loss: Loss::SquaredHinge, bias_term: BiasTerm::Free };
        let refused = Solver::Irwls.build(1).takes(&squared, false).expect_err("another loss");
        assert_eq!(refused.to_string(), "irwls: it has the hinge loss; use the hinge loss, or the solver `smo`");
        let refused = Solver::Linear.build(1).takes(&squared, false).expect_err("a kernel");
        assert_eq!(refused.reason, Reason::NoFeatures);
        assert_eq!(refused.alternatives, [Alternative::LinearKernel, Alternative::Solver("smo")]);
    }

    #[test]
    fn the_choice_follows_kernel_loss_and_what_is_kept() {
        let svc = Formulation::c_svc(1.0);
        assert_eq!(Solver::Auto.resolved(true, svc, None, false), Solver::Linear);
        assert_eq!(Solver::Auto.resolved(true, svc, None, true), Solver::Smo);
        assert_eq!(Solver::Auto.resolved(false, svc, Some(Loss::SquaredHinge), false), Solver::Pairwise);
        assert_eq!(Solver::Auto.resolved(false, svc, Some(Loss::Hinge), false), Solver::Smo);
        assert_eq!(Solver::Cvm.resolved(true, svc, None, true), Solver::Cvm);
        assert_eq!(Solver::Auto.resolved(true, Formulation::NuSvc { nu: 0.5 }, None, false), Solver::Smo);
    }
}
