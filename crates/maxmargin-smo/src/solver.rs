//! SMO behind the signature of all solvers.

use crate::active::Shrinking;
use crate::patience::PairBudget;
use crate::solve::{SmoConfig, solve};
use maxmargin_core::{Dual, Formulation, Refine, Refused, Run, Solve, Solved, Start, Status};
use maxmargin_kernel::Space;

/// Sequential minimal optimisation: duals with a sum, of all variables or of each sign, over kernel
/// rows.
#[derive(Clone, Copy, Debug)]
pub struct Smo {
    /// When to go by active variables.
    pub shrinking: Shrinking,
    /// Whether steps go on along the last ones where that saves enough: [`SmoConfig::conjugate`].
    pub conjugate: bool,
    /// [`SmoConfig::patience`].
    pub patience: Option<PairBudget>,
}

impl Smo {
    /// Pairs alone over all variables: what the papers call SMO, and whose iterations they count.
    pub const PLAIN: Self = Self { shrinking: Shrinking::NEVER, conjugate: false, patience: None };
}

impl Default for Smo {
    fn default() -> Self {
        let SmoConfig { shrinking, conjugate, patience, .. } = SmoConfig::default();
        Self { shrinking, conjugate, patience }
    }
}

const NAME: &str = "smo";

impl Solve for Smo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        Refused::unless_free(NAME, formulation, features)
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(NAME, space)?;
        let Self { shrinking, conjugate, patience } = *self;
        let config = SmoConfig { refine: run.refine, par: run.par, shrinking, conjugate, patience };
        let solution = solve(dual, rows, start, &config, &run.stop, run.watch).map_err(|error| Refused {
            solver: NAME,
            reason: error.to_string(),
            instead: "`linear` and `pairwise` take problems without a balance",
        })?;
        let exact = run.refine == Refine::Exact && solution.status == Status::Converged;
        Ok(Solved { solution, exact, counts: Vec::new() })
    }
}
