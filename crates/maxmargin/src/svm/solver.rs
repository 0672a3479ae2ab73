//! The choice of the solver, and the problem that it solves.

use super::Svm;
use maxmargin_core::{Formulation, Goal, Solve, TargetKind};
use maxmargin_cv::{ClassWeights, CvError};
use maxmargin_kernel::{Gamma, Kernel};
use maxmargin_smo::Smo;
use maxmargin_solvers::{SmoFinish, Solver};

impl Svm {
    /// Sets the solver.
    #[must_use]
    pub fn solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// Sets whether SMO merges equal samples of one class into one variable, which is the default.
    /// The solution is the same, with fewer variables and another number of iterations. The samples
    /// share α in proportion to their C.
    #[must_use]
    pub fn merge_equal_rows(self, merge_equal_rows: bool) -> Self {
        Self { merge_equal_rows, ..self }
    }

    /// Sets whether SMO uses shrinking on large problems, and conjugate steps if they save
    /// iterations, which is the default. This is faster, with another number of iterations than the
    /// papers' pairs over all variables.
    #[must_use]
    pub fn shrinking(self, shrinking: bool) -> Self {
        Self { shrinking, ..self }
    }

    /// Returns the solver with its options.
    pub(super) fn solve(&self) -> Box<dyn Solve> {
        self.resolved_solver().build_as(self.seed, self.smo_options())
    }

    /// Returns the options of SMO. With [`Solver::Auto`], another solver takes over when SMO's
    /// pairs make no progress.
    fn smo_options(&self) -> SmoFinish {
        let smo = if self.shrinking { Smo::default() } else { Smo::PLAIN };
        SmoFinish { smo, hands_over: self.solver == Solver::Auto, merge_equal_rows: self.merge_equal_rows }
    }

    /// Returns the solver, with [`Solver::Auto`] replaced by its choice.
    pub fn resolved_solver(&self) -> Solver {
        self.solver.resolved(self.kernel == Kernel::Linear, self.formulation, self.loss, self.keep_support_vectors)
    }

    /// Returns the goal of solutions, with the solver's default if none is set.
    pub fn resolved_goal(&self) -> Goal {
        self.goal.unwrap_or_else(|| self.resolved_solver().goal())
    }

    /// Returns the formulation that is solved, with loss and bias term.
    pub fn formulation(&self) -> Formulation {
        let (loss, bias_term) = self.resolved_solver().problem();
        self.formulation.with(self.loss.unwrap_or(loss), self.bias_term.unwrap_or(bias_term))
    }

    /// Checks, without data, that the solver supports the problem.
    ///
    /// # Errors
    ///
    /// When it does not; the error names alternatives.
    pub fn check(&self) -> Result<(), CvError> {
        let solver = self.resolved_solver();
        let built = solver.build(self.seed);
        let formulation = self.formulation();
        formulation.check()?;
        let other = self.loss.is_some_and(|loss| loss != formulation.loss());
        if other || self.bias_term.is_some_and(|bias_term| bias_term != formulation.bias_term()) {
            return Err(CvError::Fixed(formulation.name()));
        }
        if formulation.target_kind() != TargetKind::Classes
            && (self.class_weights != ClassWeights::Given || !self.weights.is_empty())
        {
            return Err(CvError::Classes(formulation.name()));
        }
        if self.kernel == Kernel::Linear && built.takes(&formulation, true).is_ok() {
            return Ok(());
        }
        Ok(built.takes(&formulation, self.kernel == Kernel::Linear && !self.keep_support_vectors && solver.is_linear())?)
    }

    /// Returns the kernel, with the width of [`Svm::gamma`] if that is a number.
    pub fn kernel_given(&self) -> Kernel {
        match self.gamma {
            Some(Gamma::Value(gamma)) => self.kernel.clone().with_gamma(gamma),
            _ => self.kernel.clone(),
        }
    }
}
