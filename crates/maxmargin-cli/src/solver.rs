//! Which solver the options lead to.

use crate::args::{KernelName, LossName, SolverArgs, SolverName};
use crate::failure::Failure;
use crate::linear::Linear;
use maxmargin::core::Offset;
use maxmargin::data::Par;
use maxmargin::frankwolfe;
use maxmargin::linear::Method;
use maxmargin::{CSvcSolver, L2Config};
use serde::Serialize;

/// Relative gap at which solvers stop that come near to an optimum slowly.
const GAP: f64 = 1e-3;

/// A solver and what it needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Solver {
    /// The C-SVC over kernel values.
    Kernel(CSvcSolver),
    /// A linear SVM without kernel values.
    Linear(Linear),
    /// The L2-SVM on the simplex.
    L2(L2),
}

/// What the options ask of a solver on the simplex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L2 {
    method: frankwolfe::Method,
    /// Where it stops; without it at the KKT violation of `--eps`.
    pub(crate) gap: Option<f64>,
}

/// The simplex part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct L2Document {
    pub(crate) solver: &'static str,
    pub(crate) gap: Option<f64>,
}

impl Solver {
    /// What documents call a solver of kernel values.
    pub(crate) fn name(&self) -> Option<&'static str> {
        match self {
            Self::Kernel(CSvcSolver::Smo) => Some("smo"),
            Self::Kernel(CSvcSolver::Irwls { .. }) => Some("irwls"),
            Self::Linear(_) | Self::L2(_) => None,
        }
    }

    /// The solver that the options name; `kept` tells that the model must keep its support vectors to be updated.
    ///
    /// # Errors
    ///
    /// When they contradict each other.
    pub(crate) fn of(args: &SolverArgs, kernel: KernelName, kept: bool, seed: u64) -> Result<Self, Failure> {
        use frankwolfe::Method as Step;
        let usage = |what: &str| Err(Failure::Usage(what.to_owned()));
        let is_linear = kernel == KernelName::Linear;
        let squared = args.loss == LossName::Squared;
        match args.solver {
            SolverName::Auto if is_linear && !kept => Ok(Self::Linear(Linear::of(Method::Hybrid, args)?)),
            SolverName::Auto if squared && !kept => L2::of(Step::Pairwise, args.gap, args).map(Self::L2),
            SolverName::Auto | SolverName::Smo | SolverName::Irwls => {
                if squared {
                    return usage("--loss squared: SMO and IRWLS have the hinge loss; use --solver pairwise, or --kernel linear");
                }
                if args.bias != Offset::Free {
                    return usage("--bias: kernel solvers have a free bias; use --kernel linear");
                }
                if args.gap.is_some() {
                    return usage("--gap: not for SMO and IRWLS; use a smaller --eps, or another solver");
                }
                let irwls = args.solver == SolverName::Irwls;
                Ok(Self::Kernel(if irwls { CSvcSolver::Irwls { seed } } else { CSvcSolver::Smo }))
            }
            name => {
                if kept {
                    return usage("--updatable: models of this solver cannot be updated; use --solver smo");
                }
                let steps = match name {
                    SolverName::Pairwise => Some((Step::Pairwise, args.gap)),
                    SolverName::Cvm => Some((Step::Cvm, args.gap.or(Some(GAP)))),
                    SolverName::Fw => Some((Step::Fw, args.gap.or(Some(GAP)))),
                    SolverName::Mfw => Some((Step::Mfw, args.gap.or(Some(GAP)))),
                    SolverName::Swap => Some((Step::Swap, args.gap.or(Some(GAP)))),
                    _ => None,
                };
                if let Some((steps, gap)) = steps {
                    return L2::of(steps, gap, args).map(Self::L2);
                }
                if !is_linear {
                    return usage("--solver linear, descent, avsf and newton are for --kernel linear");
                }
                let method = match name {
                    SolverName::Descent => Method::Descent,
                    SolverName::Avsf => Method::Avsf,
                    SolverName::Newton => Method::Newton,
                    _ => Method::Hybrid,
                };
                Ok(Self::Linear(Linear::of(method, args)?))
            }
        }
    }
}

impl L2 {
    fn of(method: frankwolfe::Method, gap: Option<f64>, args: &SolverArgs) -> Result<Self, Failure> {
        if ![Offset::Free, L2Config::PROBLEM.1].contains(&args.bias) {
            return Err(Failure::Usage("--bias: solvers on the simplex have the bias as a feature of value 1".to_owned()));
        }
        Ok(Self { method, gap })
    }

    /// What the library is told.
    pub(crate) fn config(&self, seed: u64, par: Par) -> L2Config {
        L2Config { method: self.method, gap: self.gap, sampling: None, seed, par }
    }

    pub(crate) fn document(&self) -> L2Document {
        let solver = match self.method {
            frankwolfe::Method::Cvm => "cvm",
            frankwolfe::Method::Fw => "fw",
            frankwolfe::Method::Mfw => "mfw",
            frankwolfe::Method::Swap => "swap",
            frankwolfe::Method::Pairwise => "pairwise",
        };
        L2Document { solver, gap: self.gap }
    }
}
