//! Who solves, and how SMO goes about it.

use super::Svm;
use maxmargin_core::Solve;
use maxmargin_smo::Smo;
use maxmargin_solvers::{SmoFinish, Solver};

impl Svm {
    /// Who solves.
    #[must_use]
    pub fn solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// Whether SMO takes equal samples of one class for one variable (it does where this is not
    /// called): the same solution in fewer variables and another number of iterations. The samples
    /// share α in proportion to their C.
    #[must_use]
    pub fn merge_equal_rows(self, merge_equal_rows: bool) -> Self {
        Self { merge_equal_rows, ..self }
    }

    /// Whether SMO goes by active variables on large problems and along conjugate steps where they
    /// save iterations (it does where this is not called): faster, with another number of
    /// iterations than the papers' pairs over all variables.
    #[must_use]
    pub fn shrinking(self, shrinking: bool) -> Self {
        Self { shrinking, ..self }
    }

    /// Who solves, with everything that it is told.
    pub(super) fn solve(&self) -> Box<dyn Solve> {
        self.resolved_solver().build_as(self.seed, self.how())
    }

    /// SMO as it is asked for. Whoever leaves the choice of a solver to the program has one that
    /// does not stay with pairs which get nowhere.
    fn how(&self) -> SmoFinish {
        let smo = if self.shrinking { Smo::default() } else { Smo::PLAIN };
        SmoFinish { smo, hands_over: self.solver == Solver::Auto, merge_equal_rows: self.merge_equal_rows }
    }
}
