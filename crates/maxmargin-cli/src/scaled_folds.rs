//! Cross-validation with scaling: each fold is scaled by what its own training rows show, so that test rows stay unseen.

use crate::args::{Gamma, ScaleName};
use crate::failure::Failure;
use crate::folds::{Setting, shared_kernel};
use crate::notes::Notes;
use crate::problem;
use crate::progress::Bar;
use maxmargin::core::{Dual, Start, Stop, audit};
use maxmargin::cv::{CvProgress, CvReport, FoldReport, Stage};
use maxmargin::data::scale::Scaler;
use maxmargin::kernel::{KernelGram, Rows};
use maxmargin::smo::{SmoConfig, solve};
use std::time::Instant;

/// Cross-validates with a scaler for each fold.
pub(crate) fn run(setting: &Setting, name: ScaleName, bar: &Bar, notes: &mut Notes) -> Result<CvReport, Failure> {
    let data = &setting.input.data.samples;
    let scalers: Vec<Scaler> = (0..setting.plan.folds())
        .map(|fold| Scaler::fit_rows(data, training_rows(setting, fold).into_iter(), problem::scale_method(name)))
        .collect();
    // The extremes of a feature are often in every training set: the folds then share one kernel after all.
    if scalers.iter().all(|s| *s == scalers[0]) && setting.kernel.gamma != Gamma::Scale {
        let samples = scalers[0].apply(data).map_err(|e| setting.failure(e))?;
        return shared_kernel(setting, &samples, bar, notes);
    }
    notes.say("the training sets of the folds scale differently: every fold has a kernel of its own and starts cold");
    let begun = Instant::now();
    let mut report = CvReport {
        folds: Vec::new(),
        full: None,
        accuracy: 0.0,
        correct: 0,
        iterations: 0,
        total_iterations: 0,
        seed_steps: 0,
        kernel_seconds: 0.0,
        certify_seconds: 0.0,
        total_seconds: 0.0,
        rows_computed: 0,
        kernel_bytes: 0,
        decisions: vec![0.0; data.len()],
    };
    for (fold, scaler) in scalers.iter().enumerate() {
        let done = one_fold(setting, fold, scaler, bar, &mut report)?;
        report.correct += done.correct;
        report.iterations += done.iterations;
        report.folds.push(done);
    }
    report.total_iterations = report.iterations;
    report.accuracy = report.correct as f64 / data.len() as f64;
    report.total_seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

fn training_rows(setting: &Setting, fold: usize) -> Vec<usize> {
    let fold_of = setting.plan.fold_of();
    (0..fold_of.len()).filter(|&i| fold_of[i] as usize != fold).collect()
}

fn one_fold(setting: &Setting, fold: usize, scaler: &Scaler, bar: &Bar, report: &mut CvReport) -> Result<FoldReport, Failure> {
    let par = setting.threads.par();
    let (signs, upper) = (&setting.prepared.labels.signs, &setting.prepared.upper);
    let train = training_rows(setting, fold);
    let samples = scaler.apply(&setting.input.data.samples).map_err(|e| setting.failure(e))?;
    let kernel = match setting.kernel.gamma {
        Gamma::Scale => problem::kernel_of(setting.kernel, &samples.select(&train))?.0,
        _ => setting.prepared.kernel.clone(),
    };
    let preparing = Instant::now();
    let gram = KernelGram::new(&samples, kernel).map_err(|e| setting.failure(e))?;
    report.kernel_seconds += preparing.elapsed().as_secs_f64();
    let labels = train.iter().map(|&i| signs[i]).collect();
    let bounds = train.iter().map(|&i| upper[i]).collect();
    let dual = Dual::c_svc(train, labels, bounds);
    let dual = dual.map_err(|e| setting.failure(format!("fold {fold}: {e}; choose other folds, such as stratified ones")))?;
    let rows = Rows::new(&gram, setting.budget(), par);
    let start = Start::zero(&dual).map_err(|e| setting.failure(e))?;
    let left = setting.run.time_limit.map(|limit| limit.saturating_sub(setting.begun.elapsed()));
    let stop = Stop { max_time: left, ..setting.stop() };
    let folds = setting.plan.folds();
    let mut watch = |solver: &_| bar.cv_tick(&CvProgress { stage: Stage::Fold(fold), done: fold, folds, solver: *solver });
    let solving = Instant::now();
    let solution = solve(&dual, &rows, start, &SmoConfig::default(), &stop, &mut watch).map_err(|e| setting.failure(e))?;
    let solve_seconds = solving.elapsed().as_secs_f64();
    let audited = audit(&gram, &[(&dual, &solution.alpha, solution.bias)], par).remove(0);
    report.certify_seconds += solving.elapsed().as_secs_f64() - solve_seconds;
    report.rows_computed += rows.work().computed;
    report.kernel_bytes = report.kernel_bytes.max(rows.work().peak_bytes);
    let test: Vec<usize> = (0..signs.len()).filter(|&i| setting.plan.fold_of()[i] as usize == fold).collect();
    for &i in &test {
        report.decisions[i] = audited.decisions[i];
    }
    let correct = test.iter().filter(|&&i| (audited.decisions[i] >= 0.0) == (signs[i] > 0.0)).count();
    let at_upper = |(a, u): &(&f64, &f64)| **a > 0.0 && a >= u;
    Ok(FoldReport {
        fold,
        train: dual.len(),
        test: test.len(),
        status: solution.status,
        iterations: solution.work.iterations,
        rows_computed: rows.work().computed,
        seed_steps: 0,
        seed_seconds: 0.0,
        solve_seconds,
        correct,
        objective: -audited.certificate.dual,
        support_vectors: solution.alpha.iter().filter(|a| **a > 0.0).count(),
        bounded: solution.alpha.iter().zip(dual.upper()).filter(at_upper).count(),
        certificate: audited.certificate.into(),
    })
}
