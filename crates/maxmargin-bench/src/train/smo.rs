//! Trainings by SMO, with the active-set finish where it is requested.

use super::contender::{MeasuredSolver, Training};
use crate::failure::Failure;
use crate::measured::{Finished, Measured, WorkingSets};
use maxmargin::core::{Dual, Formulation, Goal, Refused, Run, Solution, Solve, Solved, Start, Status, Stop};
use maxmargin::irwls::{FinishConfig, finish};
use maxmargin::kernel::Space;
use maxmargin::smo::Smo;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

impl MeasuredSolver for Smo {
    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        measured.chunks = Some(WorkingSets::of(training.fitted));
        Ok(())
    }
}

/// SMO to a first KKT violation, then the finish to that of the cell.
pub(crate) struct SmoAndFinish {
    from: f64,
    /// Sums over all machines.
    finished: Mutex<Finished>,
}

impl SmoAndFinish {
    pub(crate) fn from(from: f64) -> Self {
        Self { from, finished: Mutex::new(Finished::default()) }
    }
}

impl Solve for SmoAndFinish {
    fn name(&self) -> &'static str {
        Smo::default().name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        Smo::default().takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        Smo::default().uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let rows = Refused::unless_rows(self.name(), space)?;
        let stop = run.stop;
        run.stop = Stop { goal: Goal::Kkt(self.from), ..stop };
        let rough = Smo::default().solve(dual, space, start, run)?.solution;
        run.stop = stop;
        let finishing = Instant::now();
        let config = FinishConfig { exact_gradient: rough.status == Status::Converged, par: run.par, ..FinishConfig::default() };
        let outcome = finish(dual, rows.gram(), &rough, &config, &stop, run.control)
            .map_err(|error| Refused::failed(self.name(), &error))?;
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        finished.finish_seconds += finishing.elapsed().as_secs_f64();
        finished.finish_iterations += outcome.solution.work.iterations;
        let exact = matches!(outcome.solution.status, Status::Converged | Status::Stalled);
        // Iterations are those of SMO. The finish has counts of its own.
        Ok(Solved { solution: Solution { work: rough.work, ..outcome.solution }, exact, counts: Vec::new() })
    }
}

impl MeasuredSolver for SmoAndFinish {
    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure> {
        measured.chunks = Some(WorkingSets::of(training.fitted));
        measured.finish = Some(*self.finished.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}
