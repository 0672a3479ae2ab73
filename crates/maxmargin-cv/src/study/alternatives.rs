//! The changes of options after which a solver supports a problem.

use crate::study::TrainOptions;
use maxmargin_core::{BiasTerm, Loss};
use maxmargin_kernel::Kernel;
use maxmargin_solvers::Solver;

/// A change of options that the solver refuses, after which it does not. Each interface has its own
/// words for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alternative {
    /// The linear kernel.
    LinearKernel,
    /// The linear kernel, and no bias.
    LinearKernelWithoutBias,
    /// This bias term.
    Bias(BiasTerm),
    /// This loss.
    Loss(Loss),
    /// This solver.
    Solver(Solver),
}

impl TrainOptions {
    /// Returns the changes after which [`TrainOptions::check`] accepts these options; none if it
    /// does already.
    pub fn alternatives(&self) -> Vec<Alternative> {
        if self.check().is_ok() {
            return Vec::new();
        }
        let mut candidates = [
            Alternative::Bias(BiasTerm::Free),
            Alternative::Bias(BiasTerm::None),
            Alternative::Bias(BiasTerm::Feature(1.0)),
            Alternative::Loss(Loss::Hinge),
            Alternative::Loss(Loss::SquaredHinge),
            Alternative::Solver(Solver::Smo),
            Alternative::Solver(Solver::Linear),
            Alternative::Solver(Solver::Pairwise),
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
            Alternative::Bias(bias_term) => changed.bias_term = Some(bias_term),
            Alternative::Loss(loss) => changed.loss = Some(loss),
            Alternative::Solver(solver) => changed.solver = solver,
        }
        changed.check().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_core::Formulation;

    #[test]
    fn every_alternative_is_accepted_and_none_is_offered_without_need() {
        let rbf = TrainOptions { kernel: Kernel::rbf(1.0), ..TrainOptions::default() };
        assert_eq!(rbf.alternatives(), []);
        let of = |solver: Solver| TrainOptions { solver, ..rbf.clone() }.alternatives();
        assert_eq!(
            of(Solver::Newton),
            [Alternative::LinearKernel, Alternative::Solver(Solver::Smo), Alternative::Solver(Solver::Pairwise)]
        );
        // Coordinate descent alone knows no free bias.
        assert_eq!(of(Solver::Avsf)[0], Alternative::LinearKernelWithoutBias);
        let options = TrainOptions { solver: Solver::Cvm, loss: Some(Loss::Hinge), ..rbf.clone() };
        assert_eq!(options.alternatives(), [Alternative::Loss(Loss::SquaredHinge), Alternative::Solver(Solver::Smo)]);
        let given = TrainOptions { kernel: Kernel::Precomputed, solver: Solver::Linear, ..rbf.clone() };
        assert!(!given.alternatives().contains(&Alternative::LinearKernel));
        let nu = TrainOptions { formulation: Formulation::NuSvc { nu: 0.5 }, solver: Solver::Fw, ..rbf };
        assert_eq!(nu.alternatives(), [Alternative::Solver(Solver::Smo)]);
    }
}
