//! A single training by SMO, with a finish if one is asked for.

use crate::cell::{Cell, Failure, Solver};
use crate::measured::{Finished, Measured, WorkingSets};
use crate::{classes, input, machine, simplex};
use maxmargin::core::{Dual, Silent, Start, Status, Stop};
use maxmargin::data::{BinaryLabels, ClassLabels, Par};
use maxmargin::irwls::{Finish, finish};
use maxmargin::kernel::{KernelGram, Rows};
use maxmargin::smo::solve_certified;
use std::time::{Duration, Instant};

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    if cell.solver == Solver::Smo { smo(cell, par) } else { simplex::measure(cell, par) }
}

fn smo(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let kernel = cell.kernel()?;
    let begun = Instant::now();
    let data = input::load(&cell.data, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let labels = ClassLabels::new(&data.labels)?;
    let Some(BinaryLabels { signs, .. }) = labels.binary() else {
        return classes::measure(cell, &data, &labels, read_seconds, par);
    };
    let n = signs.len();
    let gram = KernelGram::new(&data.samples, kernel)?;
    let rows = Rows::new(&gram, cell.memory.unwrap_or_else(machine::budget), par);
    let dual = Dual::c_svc((0..n).collect(), signs, vec![cell.c; n])?;
    let stop = Stop { max_time: cell.time_limit_seconds.map(Duration::from_secs_f64), ..Stop::at(cell.tol) };
    let kernel_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let solving = Instant::now();
    let first = Stop { tol: cell.finish_from.unwrap_or(cell.tol), ..stop };
    let (mut solution, mut certificate) = solve_certified(&dual, &rows, Start::zero(&dual)?, par, &first, &mut Silent)?;
    let iterations = solution.work.iterations;
    let mut finished = None;
    if cell.finish_from.is_some() {
        let finishing = Instant::now();
        let exact_gradient = solution.status == Status::Converged;
        let config = Finish { exact_gradient, par, ..Finish::default() };
        let (outcome, judged) = finish(&dual, &gram, &solution, &config, &stop, &mut Silent)?;
        (solution, certificate) = (outcome.solution, judged);
        let finish_iterations = solution.work.iterations;
        finished = Some(Finished { finish_seconds: finishing.elapsed().as_secs_f64(), finish_iterations });
    }
    let solve_seconds = solving.elapsed().as_secs_f64();
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    Ok(Measured {
        // Those of SMO; a finish counts its own.
        iterations: Some(iterations),
        read_seconds,
        kernel_seconds,
        solve_seconds,
        total_seconds,
        finish: finished,
        chunks: Some(WorkingSets {
            chunks: None,
            exact_chunks: None,
            optimiser_seconds: None,
            kernel_values: rows.work().computed * n as u64,
            free_vectors: solution.alpha.iter().filter(|a| **a > 0.0 && **a < cell.c).count(),
        }),
        ..Measured::of(&solution, &certificate, &rows)
    })
}
