//! The choice of the solver, and the problem that it solves.

use super::Svm;
use maxmargin_core::{Formulation, Goal};
use maxmargin_cv::CvError;
use maxmargin_kernel::Kernel;
use maxmargin_solvers::Solver;

impl Svm {
    /// Sets the solver.
    #[must_use]
    pub fn solver(self, solver: Solver) -> Self {
        self.with(|options| options.solver = solver)
    }

    /// Sets whether SMO merges equal samples of one class into one variable, which is the default.
    /// The solution is the same, with fewer variables and another number of iterations. The samples
    /// share α in proportion to their C.
    #[must_use]
    pub fn merge_equal_rows(self, merge_equal_rows: bool) -> Self {
        self.with(|options| options.merge_equal_rows = merge_equal_rows)
    }

    /// Sets whether a cross-validation keeps decision values in its report (default: true). Those
    /// of several machines take 8 bytes for each machine and sample.
    #[must_use]
    pub fn keep_decisions(self, keep: bool) -> Self {
        self.with(|options| options.keep_decisions = keep)
    }

    /// Sets whether SMO uses shrinking on large problems, and conjugate steps if they save
    /// iterations, which is the default. This is faster, with another number of iterations than the
    /// papers' pairs over all variables.
    #[must_use]
    pub fn shrinking(self, shrinking: bool) -> Self {
        self.with(|options| options.shrinking = shrinking)
    }

    /// Returns the solver, with [`Solver::Auto`] replaced by its choice.
    pub fn resolved_solver(&self) -> Solver {
        self.options.resolved_solver()
    }

    /// Returns the goal of solutions, with the solver's default if none is set.
    pub fn resolved_goal(&self) -> Goal {
        self.options.resolved_goal()
    }

    /// Returns the formulation that is solved, with loss and bias term.
    pub fn formulation(&self) -> Formulation {
        self.options.resolved_formulation()
    }

    /// Checks, without data, that the solver supports the problem.
    ///
    /// # Errors
    ///
    /// When it does not. A [`CvError::Refused`] has the changes that help.
    pub fn check(&self) -> Result<(), CvError> {
        self.check_parameters()?;
        self.options.check()
    }

    /// Returns the kernel, with the width of [`Svm::gamma`] if that is a number.
    pub fn kernel_given(&self) -> Kernel {
        self.options.resolved_kernel()
    }
}
