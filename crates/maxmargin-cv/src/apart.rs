//! Folds that are studies of their own: where samples are scaled by what a training set shows, and the training sets show different things.

use crate::error::CvError;
use crate::metric::{are_sides, scores};
use crate::plan::FoldPlan;
use crate::report::{CvReport, FoldReport, MachineReport};
use crate::study::Study;
use crate::train::Fitted;
use crate::watch::{CvProgress, CvWatch, Stage};
use maxmargin_core::{DualError, Needs, Progress, Solved};
use maxmargin_data::{ClassLabels, LabelError};
use maxmargin_model::ModelError;
use std::ops::ControlFlow;
use std::time::Instant;

/// Cross-validates by a training of every fold from zero, on all threads.
pub(crate) fn cross_validate(study: &Study, plan: &FoldPlan, begun: Instant, watch: &dyn CvWatch) -> Result<CvReport, CvError> {
    let mut report = CvReport::empty(plan, study.machines());
    for fold in 0..plan.folds() {
        let (train, test) = (plan.train(fold), plan.test(fold));
        let data = study.data.select(&train);
        let classes = study.classes.map(|_| ClassLabels::new(&data.labels)).transpose();
        let classes = classes.map_err(|error| match error {
            LabelError::OneClass { .. } => CvError::Fold { fold, source: DualError::OneClass },
            other => CvError::Labels(other),
        })?;
        let weights: Option<Vec<f64>> = study.sample_weights.map(|weights| train.iter().map(|&i| weights[i]).collect());
        let sample_weights = weights.as_deref();
        let part = Study { data: &data, classes: classes.as_ref(), sample_weights, stop: study.stop.left(begun, 0), ..*study };
        let told = |progress: &CvProgress| -> ControlFlow<()> {
            watch.tick(&CvProgress { stage: Stage::Fold(fold), done: fold, total: plan.folds(), solver: progress.solver })
        };
        let trained = part.train(&told).map_err(|error| of_data(error, &train))?;
        let _ = watch.tick(&CvProgress {
            stage: Stage::Certify { judged: 0, samples: test.len() },
            done: fold,
            total: plan.folds(),
            solver: Progress::default(),
        });
        add(&mut report, study, (plan, fold), &trained)?;
    }
    report.total_seconds = begun.elapsed().as_secs_f64();
    Ok(report.summed(study.formulation.needs(), &study.data.labels))
}

/// The row that an error names, as one of the data.
fn of_data(error: CvError, rows: &[usize]) -> CvError {
    match error {
        CvError::Scale(error) | CvError::Model(ModelError::Scale(error)) => CvError::Scale(error.in_order(rows)),
        other => other,
    }
}

/// Adds a trained fold.
fn add(report: &mut CvReport, study: &Study, (plan, fold): (&FoldPlan, usize), trained: &Fitted) -> Result<(), CvError> {
    let model = &trained.model;
    let (width, needs) = (study.machines(), study.formulation.needs());
    let (test, before) = (plan.test(fold), plan.round(fold) * plan.len());
    let countable = needs == Needs::Classes || (needs == Needs::Nothing && are_sides(&study.data.labels));
    let solved = trained.machines.iter().all(MachineReport::is_solution);
    let mut correct = 0;
    if solved {
        let decisions =
            model.decision_values(&study.data.samples.select(test), study.par).map_err(|error| of_data(error.into(), test))?;
        for (&i, row) in test.iter().zip(decisions.chunks_exact(width)) {
            let at = before + i;
            report.decisions[at * width..(at + 1) * width].copy_from_slice(row);
            report.predicted[at] = model.label(row);
            correct += usize::from(report.predicted[at] == study.data.labels[i]);
        }
    }
    let of = |values: &[f64]| -> Vec<f64> { test.iter().map(|&i| values[i]).collect() };
    let ranked = (width == 1).then(|| of(&report.decisions[before..]));
    let scores = scores(needs, &of(&study.data.labels), &of(&report.predicted[before..]), ranked.as_deref());
    report.kernel_seconds += trained.kernel.time.as_secs_f64();
    report.rows_computed += trained.kernel.computed;
    report.kernel_bytes = report.kernel_bytes.max(trained.kernel.peak_bytes);
    Solved::add_counts(&mut report.counts, &trained.counts);
    let sizes = (plan.trained(fold), test.len());
    report.folds.push(FoldReport {
        solved,
        correct: (solved && countable).then_some(correct),
        scores,
        support_vectors: model.support_vectors(),
        ..FoldReport::of((fold, plan.round(fold)), sizes, trained.machines.iter(), trained.machines.clone())
    });
    Ok(())
}
