//! A training of several classes by SMO: one machine for each pair.

use crate::cell::{Cell, Failure};
use crate::measured::{Measured, accuracy, worst};
use crate::{input, machine};
use maxmargin::core::Stop;
use maxmargin::cv::Quiet;
use maxmargin::data::{ClassLabels, Dataset, Par};
use maxmargin::{CSvcSolver, Multiclass};
use std::time::{Duration, Instant};

/// Trains all machines of `data`, which was read in `read_seconds`.
pub(crate) fn measure(
    cell: &Cell,
    data: &Dataset,
    labels: &ClassLabels,
    read_seconds: f64,
    par: Par,
) -> Result<Measured, Failure> {
    let weights = vec![1.0; labels.count()];
    let stop = Stop { max_time: cell.time_limit_seconds.map(Duration::from_secs_f64), ..Stop::at(cell.tol) };
    let problem = Multiclass { data, samples: &data.samples, labels, c: cell.c, weights: &weights, stop, par };
    let begun = Instant::now();
    let memory = cell.memory.unwrap_or_else(machine::budget);
    let trained = problem.train_c_svc(&cell.kernel()?, memory, CSvcSolver::Smo, &Quiet)?;
    let solve_seconds = begun.elapsed().as_secs_f64();
    let test = cell.test.as_ref().map(|test| input::load(test, par)).transpose()?;
    let accuracy = test.map(|test| accuracy(&trained.model, &test, par)).transpose()?;
    let pairs = trained.model.record().map_or(&[][..], |record| &record.pairs);
    Ok(Measured {
        iterations: Some(trained.iterations),
        rows_computed: trained.kernel.computed,
        accuracy,
        objective: pairs.iter().map(|pair| pair.certificate.dual).sum(),
        kkt: worst(pairs.iter().map(|pair| pair.certificate.kkt)),
        relative_gap: worst(pairs.iter().map(|pair| pair.certificate.relative_gap())),
        support_vectors: trained.model.support_vectors(),
        status: format!("{:?}", trained.status),
        read_seconds,
        kernel_seconds: trained.kernel.time.as_secs_f64(),
        solve_seconds,
        total_seconds: begun.elapsed().as_secs_f64(),
        kernel_bytes: trained.kernel.peak_bytes,
        ..Measured::default()
    })
}
