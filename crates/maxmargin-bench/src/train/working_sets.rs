//! Trainings by working sets.

use super::contender::{MeasuredSolver, Training};
use super::interior_point::InteriorPoint;
use super::undamped::Undamped;
use crate::cell::choice::{Inner, Selection as Named};
use crate::cell::job::Train;
use crate::failure::Failure;
use crate::measured::{Measured, WorkingSets};
use maxmargin::core::{Dual, Formulation, Refine, Refused, Run, Solve, Solved, Start, Status};
use maxmargin::irwls::{ChunkSolver, Irwls, IrwlsConfig, LeastSquares, SetSelection, solve};
use maxmargin::kernel::Space;
use maxmargin::solvers::SmoChunks;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// IRWLS with the cell's solver of working sets, which is timed.
pub(crate) struct WorkingSetSolver {
    usual: Irwls,
    inner: Inner,
    printed: Undamped,
    /// Time inside the solver of working sets, over all machines.
    optimiser: Mutex<Duration>,
    /// Working sets that gained nothing, over all machines.
    idle: AtomicU64,
}

impl WorkingSetSolver {
    pub(crate) fn of(cell: &Train) -> Self {
        let selection = match cell.chunks.selection {
            Named::Random => SetSelection::Random,
            Named::PureRandom => SetSelection::PureRandom,
            Named::Largest => SetSelection::Largest,
            Named::Smallest => SetSelection::Smallest,
            Named::Half => SetSelection::Half,
            Named::Steepest => SetSelection::Steepest,
        };
        let usual = Irwls { selection, working_set: cell.chunks.working_set, seed: cell.setting.seed };
        Self {
            usual,
            inner: cell.chunks.inner,
            printed: Undamped::default(),
            optimiser: Mutex::default(),
            idle: AtomicU64::default(),
        }
    }

    fn chunks(&self) -> &dyn ChunkSolver {
        match self.inner {
            Inner::LeastSquares => &LeastSquares,
            Inner::InteriorPoint => &InteriorPoint,
            Inner::Smo => &SmoChunks,
            Inner::AsPrinted => &self.printed,
        }
    }
}

/// Names of counts.
const CHUNKS: &str = "working_sets";
const EXACT: &str = "exact_working_sets";

impl Solve for WorkingSetSolver {
    fn name(&self) -> &'static str {
        self.usual.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.usual.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.usual.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(self.name(), space)?;
        let Irwls { selection, working_set, seed } = self.usual;
        let config = IrwlsConfig { selection, working_set, chunks: self.chunks(), refine: run.refine, seed, par: run.par };
        let found = solve(dual, rows, start, &config, &run.stop, run.control);
        let outcome = found.map_err(|error| Refused::failed(self.name(), &error))?;
        *self.optimiser.lock().unwrap_or_else(PoisonError::into_inner) += outcome.optimiser;
        self.idle.fetch_add(outcome.idle_chunks, Ordering::Relaxed);
        let exact = run.refine == Refine::Exact && outcome.solution.status == Status::Converged;
        let counts = vec![(CHUNKS, outcome.chunks), (EXACT, outcome.exact_chunks)];
        Ok(Solved { solution: outcome.solution, exact, counts })
    }
}

impl MeasuredSolver for WorkingSetSolver {
    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        let counts = &training.fitted.counts;
        let count = |name: &str| counts.iter().find(|(known, _)| *known == name).map(|(_, count)| *count);
        let optimiser = *self.optimiser.lock().unwrap_or_else(PoisonError::into_inner);
        measured.chunks = Some(WorkingSets {
            chunks: count(CHUNKS),
            exact_chunks: count(EXACT),
            idle_chunks: Some(self.idle.load(Ordering::Relaxed)),
            optimiser_seconds: Some(optimiser.as_secs_f64()),
            given_up: (self.inner == Inner::AsPrinted).then(|| self.printed.given_up()),
            ..WorkingSets::of(training.fitted)
        });
        Ok(())
    }
}
