//! A cross-validation.

use super::rounds;
use super::trainings::Trainings;
use crate::cell::choice::Folds;
use crate::cell::job::Cv;
use crate::data::input;
use crate::failure::Failure;
use crate::measured::Measured;
use crate::train::study::{Posed, options, study};
use maxmargin::Solver;
use maxmargin::core::Formulation;
use maxmargin::cv::{CvReport, FoldPlan, RunControl};
use maxmargin::data::{ClassLabels, Par};
use maxmargin::kernel::Kernel;
use maxmargin::smo::Smo;
use maxmargin::solvers::SmoFinish;
use std::time::Instant;

pub(crate) fn measure(cell: &Cv, par: Par) -> Result<Measured, Failure> {
    let setting = &cell.setting;
    let (kernel, seeding) = (setting.kernel()?, cell.seeding()?);
    let begun = Instant::now();
    let data = input::load(&setting.data, par)?;
    let read_seconds = begun.elapsed().as_secs_f64();

    let n = data.labels.len();
    let plan = match &cell.folds {
        Folds::Contiguous => FoldPlan::contiguous(n, cell.k)?,
        Folds::Stratified => FoldPlan::stratified(&data.labels, cell.k, setting.seed)?,
        Folds::File(path) => {
            let text = std::fs::read_to_string(path).map_err(|source| Failure::Read { path: path.clone(), source })?;
            FoldPlan::from_text(&text, n)?
        }
        Folds::Shuffled => FoldPlan::shuffled(n, cell.k, setting.seed)?,
    };
    let folds = plan.folds();
    let plan = rounds::first(plan, cell.first_folds)?;
    let formulation = Formulation::c_svc(setting.c);
    let solver = cell.solver.resolved(kernel == Kernel::Linear, formulation, None, false);
    let (loss, bias_term) = solver.problem();
    let smo = if cell.shrinking { Smo::default() } else { Smo::PLAIN };
    let how = SmoFinish { smo, hands_over: cell.solver == Solver::Auto, merge_equal_rows: cell.joins };
    let trainings = Trainings::of(cell, solver.build_as(setting.seed, how));
    let classes = ClassLabels::new(&data.labels)?;
    let weights = vec![1.0; classes.count()];
    let formulation = formulation.with(loss, bias_term);
    let classes = Some(&classes);
    let posed = Posed { data: &data, classes, weights: &weights, kernel: &kernel, formulation, solver: &trainings };
    let options = options(&posed, par);
    let study = study(setting, &posed, &options);
    let report = study.cross_validate(&plan, seeding, &RunControl::unlimited())?;
    let total_seconds = begun.elapsed().as_secs_f64() - read_seconds;
    let (rounds, compared) = (Some(rounds::of(&report, seeding, folds)), trainings.compared(setting.c));
    Ok(Measured { read_seconds, total_seconds, rounds, compared, ..summary(&report) })
}

fn summary(report: &CvReport) -> Measured {
    let full = report.full.as_ref();
    let folds = || report.folds.iter().map(|fold| fold.certificate);
    let (seed_seconds, solve_seconds) = report.seed_and_solve_seconds();
    Measured {
        iterations: Some(report.iterations),
        full_iterations: full.map(|full| full.iterations),
        rows_computed: report.rows_computed,
        accuracy: report.accuracy.map(|accuracy| 100.0 * accuracy),
        // One certificate of a fold is the worst of its machines; its objective is that of all.
        objective: -report.folds.iter().map(|fold| fold.objective).sum::<f64>(),
        support_vectors: report.folds.iter().map(|fold| fold.support_vectors).sum(),
        status: format!("{:?}", report.status()),
        kernel_seconds: report.kernel_seconds,
        seed_seconds,
        solve_seconds,
        certify_seconds: report.certify_seconds,
        kernel_bytes: report.kernel_bytes,
        fold_iterations: report.folds.iter().map(|fold| fold.iterations).collect(),
        ..Measured::worst_of(|| folds().chain(full.map(|full| full.certificate)))
    }
}
