//! The [`Solve`] implementation of SMO.

use crate::config::{Shrinking, SmoConfig};
use crate::neighbours::neighbours_for;
use crate::pair_budget::PairBudget;
use crate::solve::solve;
use maxmargin_core::{Alternative, Dual, Formulation, Refine, Refused, Run, Solve, Solved, Start, Status};
use maxmargin_kernel::Space;

/// Sequential minimal optimisation over kernel rows, for duals with one sum over all variables or
/// one sum per sign.
#[derive(Clone, Copy, Debug)]
pub struct Smo {
    /// The problem sizes from which the solver works on active variables only.
    pub shrinking: Shrinking,
    /// Conjugate steps: see [`SmoConfig::conjugate`].
    pub conjugate: bool,
    /// The pair budget: see [`SmoConfig::pair_budget`].
    pub pair_budget: Option<PairBudget>,
    /// Passes over neighbours: see [`SmoConfig::neighbours`].
    pub neighbours: bool,
}

impl Smo {
    /// Plain pair steps over all variables: the SMO of the papers, with their iteration counts.
    pub const PLAIN: Self = Self { shrinking: Shrinking::NEVER, conjugate: false, pair_budget: None, neighbours: false };
}

impl Default for Smo {
    fn default() -> Self {
        let SmoConfig { shrinking, conjugate, pair_budget, neighbours, .. } = SmoConfig::default();
        Self { shrinking, conjugate, pair_budget, neighbours }
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

    fn uses_neighbours(&self) -> bool {
        self.neighbours
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(NAME, space)?;
        let Self { shrinking, conjugate, pair_budget, neighbours } = *self;
        let config = SmoConfig { refine: run.refine, par: run.par, shrinking, conjugate, pair_budget, neighbours };
        let solution = solve(dual, rows, start, &config, &run.stop, run.control)
            .map_err(|error| Refused::failed(NAME, &error).instead(Alternative::Solver("linear")))?;
        let exact = run.refine == Refine::Exact && solution.status == Status::Converged;
        // Values of the rows that the run visited, where these are neighbours alone.
        let found = neighbours_for(dual, rows.gram(), &config);
        let counts = found.map(|found| ("neighbours", found.count() as u64)).into_iter().collect();
        Ok(Solved { solution, exact, counts })
    }
}
