//! A single training by working sets.

use crate::cell::{Cell, Failure, Inner, Selection as Named};
use crate::interior::InteriorPoint;
use crate::measured::{Measured, WorkingSets};
use crate::{input, machine};
use maxmargin::SmoChunks;
use maxmargin::core::{Dual, Silent, Start, Stop};
use maxmargin::data::{BinaryLabels, Par};
use maxmargin::irwls::{ChunkSolver, IrwlsConfig, LeastSquares, Selection, solve_certified};
use maxmargin::kernel::{KernelGram, Rows};
use std::time::{Duration, Instant};

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let kernel = cell.kernel()?;
    let begun = Instant::now();
    let data = input::load(&cell.data, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let signs = BinaryLabels::new(&data.labels)?.signs;
    let n = signs.len();
    let gram = KernelGram::new(&data.samples, kernel)?;
    let rows = Rows::new(&gram, cell.memory.unwrap_or_else(machine::budget), par);
    let dual = Dual::c_svc((0..n).collect(), signs, vec![cell.c; n])?;
    let stop = Stop { max_time: cell.time_limit_seconds.map(Duration::from_secs_f64), ..Stop::at(cell.tol) };
    let kernel_seconds = begun.elapsed().as_secs_f64() - read_seconds;

    let solving = Instant::now();
    let config = IrwlsConfig {
        selection: selection(cell.selection),
        working_set: cell.working_set,
        chunks: chunks(cell.inner),
        seed: cell.seed,
        par,
        ..IrwlsConfig::default()
    };
    let (outcome, certificate) = solve_certified(&dual, &rows, Start::zero(&dual)?, &config, &stop, &mut Silent)?;
    let solve_seconds = solving.elapsed().as_secs_f64();
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    let solution = &outcome.solution;
    Ok(Measured {
        read_seconds,
        kernel_seconds,
        solve_seconds,
        total_seconds,
        chunks: Some(WorkingSets {
            chunks: Some(outcome.chunks),
            exact_chunks: Some(outcome.exact_chunks),
            optimiser_seconds: Some(outcome.optimiser.as_secs_f64()),
            kernel_values: rows.work().computed * n as u64,
            free_vectors: solution.alpha.iter().filter(|a| **a > 0.0 && **a < cell.c).count(),
        }),
        ..Measured::of(solution, &certificate, &rows)
    })
}

fn selection(named: Named) -> Selection {
    match named {
        Named::Random => Selection::Random,
        Named::Largest => Selection::Largest,
        Named::Smallest => Selection::Smallest,
        Named::Half => Selection::Half,
        Named::Steepest => Selection::Steepest,
    }
}

fn chunks(inner: Inner) -> &'static dyn ChunkSolver {
    match inner {
        Inner::LeastSquares => &LeastSquares,
        Inner::InteriorPoint => &InteriorPoint,
        Inner::Smo => &SmoChunks,
    }
}
