//! The changes of options after which a solver supports a problem.

use crate::study::TrainOptions;
use maxmargin_core::{Alternative, BiasTerm, Loss};
use maxmargin_kernel::Kernel;

impl TrainOptions {
    /// Returns the changes after which the solver supports the problem.
    pub(super) fn alternatives(&self) -> Vec<Alternative> {
        let mut candidates = [
            Alternative::BiasTerm(BiasTerm::Free),
            Alternative::BiasTerm(BiasTerm::None),
            Alternative::BiasTerm(BiasTerm::Feature(1.0)),
            Alternative::Loss(Loss::Hinge),
            Alternative::Loss(Loss::SquaredHinge),
            Alternative::Solver("smo"),
            Alternative::Solver("linear"),
            Alternative::Solver("pairwise"),
        ]
        .to_vec();
        // The values of a precomputed kernel are no features.
        if self.kernel != Kernel::Linear && self.kernel != Kernel::Precomputed {
            let alone = self.accepts(Alternative::LinearKernel);
            candidates.insert(0, if alone { Alternative::LinearKernel } else { Alternative::LinearKernelWithoutBias });
        }
        candidates.retain(|candidate| self.accepts(*candidate));
        candidates
    }

    /// Returns true if the solver supports the problem after this change.
    fn accepts(&self, alternative: Alternative) -> bool {
        let mut changed = self.clone();
        match alternative {
            Alternative::LinearKernel => changed.kernel = Kernel::Linear,
            Alternative::LinearKernelWithoutBias => {
                (changed.kernel, changed.bias_term) = (Kernel::Linear, Some(BiasTerm::None));
            }
            Alternative::BiasTerm(bias_term) => changed.bias_term = Some(bias_term),
            Alternative::Loss(loss) => changed.loss = Some(loss),
            Alternative::Solver(name) => match name.parse() {
                Ok(solver) => changed.solver = solver,
                Err(_) => return false,
            },
            _ => return false,
        }
        changed.supported().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::error::CvError;
    use maxmargin_core::{Formulation, Reason};
    use maxmargin_solvers::Solver;

    /// Returns the reason and the alternatives of the refusal of these options.
    fn refusal(options: &TrainOptions) -> (Reason, Vec<Alternative>) {
        let Err(CvError::Refused(refused)) = options.check() else { panic!("{options:?} are not refused") };
        (refused.reason, refused.alternatives)
    }

    #[test]
    fn every_alternative_is_accepted() {
        let rbf = TrainOptions { kernel: Kernel::rbf(1.0), ..TrainOptions::default() };
        assert!(rbf.check().is_ok());
        let of = |solver: Solver| refusal(&TrainOptions { solver, ..rbf.clone() });
        let smo = Alternative::Solver("smo");
        let newton = vec![Alternative::LinearKernel, smo, Alternative::Solver("pairwise")];
        assert_eq!(of(Solver::Newton), (Reason::NoFeatures, newton));
        // Coordinate descent alone has no free bias.
        assert_eq!(of(Solver::Avsf).1[0], Alternative::LinearKernelWithoutBias);
        let options = TrainOptions { solver: Solver::Cvm, loss: Some(Loss::Hinge), ..rbf.clone() };
        let squared = Alternative::Loss(Loss::SquaredHinge);
        assert_eq!(refusal(&options), (Reason::Loss(Loss::SquaredHinge), vec![squared, smo]));
        let given = TrainOptions { kernel: Kernel::Precomputed, solver: Solver::Linear, ..rbf.clone() };
        assert!(!refusal(&given).1.contains(&Alternative::LinearKernel));
        let nu = TrainOptions { formulation: Formulation::NuSvc { nu: 0.5 }, solver: Solver::Fw, ..rbf };
        assert_eq!(refusal(&nu), (Reason::Formulation("nu-svc"), vec![smo]));
    }
}
