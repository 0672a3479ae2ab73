//! A cross-validation.

use crate::cell::{Cell, Failure, Folds};
use crate::measured::{Measured, worst};
use crate::{input, machine};
use maxmargin::Svm;
use maxmargin::core::Stop;
use maxmargin::cv::{CvReport, FoldPlan};
use maxmargin::data::Par;
use std::time::{Duration, Instant};

pub(crate) fn measure(cell: &Cell, par: Par) -> Result<Measured, Failure> {
    let (kernel, seeding) = (cell.kernel()?, cell.seeding()?);
    let begun = Instant::now();
    let data = input::load(&cell.data, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let n = data.labels.len();
    let plan = match &cell.folds {
        Folds::Contiguous => FoldPlan::contiguous(n, cell.k)?,
        Folds::Stratified => FoldPlan::stratified(&data.labels, cell.k, cell.seed)?,
        Folds::File(path) => {
            let text = std::fs::read_to_string(path).map_err(|source| Failure::Read { path: path.clone(), source })?;
            FoldPlan::from_text(&text, n)?
        }
        Folds::Shuffled => FoldPlan::shuffled(n, cell.k, cell.seed)?,
    };
    let stop = Stop { max_time: cell.time_limit_seconds.map(Duration::from_secs_f64), ..Stop::at(cell.tol) };
    let svm = Svm::new(kernel).c(cell.c).stop(stop).memory(cell.memory.unwrap_or_else(machine::budget)).threads(par);
    let report = svm.cross_validate(&data, &plan, seeding)?;
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    Ok(Measured { read_seconds, total_seconds, ..summary(&report) })
}

fn summary(report: &CvReport) -> Measured {
    let full = report.full.as_ref();
    let certificates = || report.folds.iter().map(|fold| &fold.certificate).chain(full.map(|full| &full.certificate));
    Measured {
        iterations: Some(report.iterations),
        full_iterations: full.map(|full| full.iterations),
        rows_computed: report.rows_computed,
        accuracy: Some(100.0 * report.accuracy),
        objective: report.folds.iter().map(|fold| fold.certificate.dual).sum(),
        kkt: worst(certificates().map(|certificate| certificate.kkt)),
        relative_gap: worst(certificates().map(|certificate| certificate.relative_gap)),
        support_vectors: report.folds.iter().map(|fold| fold.support_vectors).sum(),
        status: format!("{:?}", report.status()),
        kernel_seconds: report.kernel_seconds,
        seed_seconds: report.folds.iter().map(|fold| fold.seed_seconds).sum(),
        solve_seconds: report.folds.iter().map(|fold| fold.solve_seconds).sum::<f64>()
            + full.map_or(0.0, |full| full.solve_seconds),
        certify_seconds: report.certify_seconds,
        kernel_bytes: report.kernel_bytes,
        fold_iterations: report.folds.iter().map(|fold| fold.iterations).collect(),
        ..Measured::default()
    }
}
