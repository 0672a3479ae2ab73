//! The [`Solve`] implementation of iterative re-weighted least squares.

use crate::config::{FinishConfig, IrwlsConfig};
use crate::solve::solve;
use crate::working_set::select::SetSelection;
use maxmargin_core::{Dual, Formulation, Loss, Reason, Refine, Refused, Run, Solve, Solved, Start, Status};
use maxmargin_kernel::Space;

/// Iterative re-weighted least squares on working sets, for duals with one sum, over kernel rows.
#[derive(Clone, Copy, Debug)]
pub struct Irwls {
    /// The rule that selects working sets.
    pub selection: SetSelection,
    /// The number of samples in a working set.
    pub working_set: usize,
    /// The seed of random working sets.
    pub seed: u64,
}

impl Default for Irwls {
    fn default() -> Self {
        let IrwlsConfig { selection, working_set, seed, .. } = IrwlsConfig::default();
        Self { selection, working_set, seed }
    }
}

const NAME: &str = "irwls";

impl Solve for Irwls {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        if matches!(formulation, Formulation::NuSvc { .. } | Formulation::NuSvr { .. }) && !features {
            return Err(Refused::new(NAME, Reason::Formulation(formulation.name())));
        }
        Refused::unless_free(NAME, formulation, features)?;
        if formulation.loss() != Loss::Hinge {
            return Err(Refused::new(NAME, Reason::Loss(Loss::Hinge)));
        }
        Ok(())
    }

    fn uses_neighbours(&self) -> bool {
        false
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(NAME, space)?;
        let config = IrwlsConfig {
            selection: self.selection,
            working_set: self.working_set.min(FinishConfig::fitting(rows.room())),
            seed: self.seed,
            refine: run.refine,
            par: run.par,
            ..IrwlsConfig::default()
        };
        let outcome = solve(dual, rows, start, &config, &run.stop, run.control).map_err(|error| Refused::failed(NAME, &error))?;
        let exact = run.refine == Refine::Exact && outcome.solution.status == Status::Converged;
        let counts = vec![("working_sets", outcome.chunks), ("exact_working_sets", outcome.exact_chunks)];
        Ok(Solved { solution: outcome.solution, exact, counts })
    }
}
