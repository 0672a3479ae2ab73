//! Folds that are studies of their own: samples are scaled by statistics of the training set, and
//! these differ between folds.

use crate::fold_machines::FoldMachineCollector;
use crate::folds::fold_classes::FoldClasses;
use crate::plan::FoldPlan;
use crate::report::{CvReport, FoldReport, MachineReport, Scoring};
use crate::run::error::CvError;
use crate::study::Study;
use crate::train::Fitted;
use maxmargin_core::{Progress, RunControl, Solved, Stage};
use maxmargin_data::ClassLabels;
use maxmargin_metrics::{Purpose, greatest_label, is_countable};
use maxmargin_model::ModelError;
use std::time::Instant;

/// Trains a model of all data of a study.
pub(crate) type Trainer<'t> = &'t dyn Fn(&Study, &RunControl) -> Result<Fitted, CvError>;

/// Cross-validates by training every fold from zero, on all threads.
/// Keeps the models of folds if `keep` is given.
pub(crate) fn cross_validate(
    study: &Study,
    plan: &FoldPlan,
    begun: Instant,
    control: &RunControl,
    keep: Option<&FoldMachineCollector>,
    trainer: Trainer,
) -> Result<CvReport, CvError> {
    let study = &study.with_one_width()?;
    let mut report = CvReport::empty(plan, study.machines());
    report.decisions = vec![f64::NAN; report.predicted.len() * study.machines()];
    let all = study.fold_classes(plan).checked()?;
    for fold in 0..plan.folds() {
        let fold = UnsharedFold { study, plan, fold, classes: &all };
        let trained = fold.train(begun, control, trainer)?;
        fold.add(&mut report, trained.as_ref())?;
        keep.iter().zip(&trained).for_each(|(keep, trained)| keep.add_model(&trained.model));
    }
    report.total_seconds = begun.elapsed().as_secs_f64();
    Ok(report.summed(study.formulation.into(), study.levels, &study.data.labels))
}

/// Converts the row that an error names to a row of the data.
fn of_data(error: CvError, rows: &[usize]) -> CvError {
    match error {
        CvError::Scale(error) | CvError::Model(ModelError::Scale(error)) => CvError::Scale(error.in_order(rows)),
        other => other,
    }
}

/// One fold.
struct UnsharedFold<'a> {
    study: &'a Study<'a>,
    plan: &'a FoldPlan,
    fold: usize,
    classes: &'a FoldClasses,
}

impl UnsharedFold<'_> {
    /// Trains the model of the fold's training set, for the classes that are present there. Returns
    /// `None` if only one class is present.
    fn train(&self, begun: Instant, control: &RunControl, trainer: Trainer) -> Result<Option<Fitted>, CvError> {
        let Self { study, plan, fold, classes } = *self;
        let some = classes.some(fold);
        if some.is_some_and(|present| present.len() < 2) {
            return Ok(None);
        }
        let mut train = plan.train(fold);
        let mut given = study.weights.to_vec();
        if let (Some(present), Some(of)) = (some, study.classes.map(ClassLabels::of)) {
            // Samples of classes that count as missing have no weight: leave them out.
            train.retain(|&i| present.contains(&(of[i] as usize)));
            given = present.iter().map(|&class| given[class]).collect();
        }
        let data = study.data.select(&train);
        let own = study.classes.map(|_| ClassLabels::new(&data.labels)).transpose()?;
        let sample_weights: Option<Vec<f64>> = study.sample_weights.map(|weights| train.iter().map(|&i| weights[i]).collect());
        let of_fold = Study {
            data: &data,
            classes: own.as_ref(),
            weights: &given,
            sample_weights: sample_weights.as_deref(),
            stop: study.stop.left(begun, 0),
            ..*study
        };
        let tag = move |stage, progress: &Progress| Progress { stage, done: fold, total: plan.folds(), ..*progress };
        let of_training = control.child(move |progress| tag(Stage::Fold(fold), progress));
        let trained = trainer(&of_fold, &of_training).map_err(|error| of_data(error, &train))?;
        // A fold that is trained is evaluated, even if the run has ended.
        let stage = Stage::Certify { certified: 0, samples: plan.test(fold).len() };
        let _ = control.progress(&tag(stage, &Progress::default()));
        Ok(Some(trained))
    }

    /// Converts decision values of a fold's model to those of the machines of all classes; NaN for
    /// machines that the fold does not have.
    fn expand(&self, row: &[f64]) -> Vec<f64> {
        let rule = self.study.rule();
        let sides = rule.multiclass.sides(rule.classes.len());
        let Some(present) = self.classes.some(self.fold) else { return row.to_vec() };
        let mut own = row.iter();
        let of = |sides: (Option<usize>, usize)| match (self.classes.lacks(self.fold, sides), present) {
            (true, _) => f64::NAN,
            // A fold with two classes has one machine, which serves both sides.
            (false, [first, _]) if sides.0.is_none() => {
                if sides.1 == *first {
                    -row[0]
                } else {
                    row[0]
                }
            }
            _ => own.next().copied().unwrap_or(f64::NAN),
        };
        sides.into_iter().map(of).collect()
    }

    /// Adds the fold's predictions and its report.
    fn add(&self, report: &mut CvReport, trained: Option<&Fitted>) -> Result<(), CvError> {
        let Self { study, plan, fold, classes } = *self;
        let (width, purpose, rule) = (study.machines(), Purpose::from(study.formulation), study.rule());
        let (test, before) = (plan.test(fold), plan.round(fold) * plan.len());
        let labels = &study.data.labels;
        let countable = is_countable(purpose.target_kind, labels);
        let machines = trained.map_or_else(Vec::new, |trained| trained.machines.clone());
        let solved = machines.iter().all(MachineReport::is_solution);
        let mut correct = 0;
        if solved {
            let found = trained.map_or(Ok(Vec::new()), |trained| {
                trained
                    .model
                    .decision_values(&study.data.samples.select(test), study.options.par)
                    .map_err(|error| of_data(error.into(), test))
            })?;
            let own = found.len() / test.len();
            for (at, &i) in test.iter().enumerate() {
                let row = self.expand(&found[at * own..(at + 1) * own]);
                let place = before + i;
                report.predicted[place] = classes.label(fold, &rule, &row);
                report.decisions[place * width..(place + 1) * width].copy_from_slice(&row);
                correct += usize::from(report.predicted[place] == labels[i]);
            }
        }
        let of = |values: &[f64]| -> Vec<f64> { test.iter().map(|&i| values[i]).collect() };
        let decisions: Vec<f64> =
            test.iter().flat_map(|&i| report.decisions[(before + i) * width..][..width].iter().copied()).collect();
        let scoring = Scoring { purpose, machines: width, levels: study.levels, greatest_label: greatest_label(labels) };
        let scores = scoring.scores(&of(labels), &of(&report.predicted[before..]), &decisions);
        if let Some(trained) = trained {
            report.kernel_seconds += trained.kernel.time.as_secs_f64();
            report.rows_computed += trained.kernel.computed;
            report.kernel_bytes = report.kernel_bytes.max(trained.kernel.peak_bytes);
            Solved::add_counts(&mut report.counts, &trained.counts);
        }
        report.folds.push(FoldReport {
            solved,
            correct: (solved && countable).then_some(correct),
            scores,
            support_vectors: trained.map_or(0, |trained| trained.model.support_vectors()),
            missing_classes: classes.missing(fold),
            ..FoldReport::of(plan, fold, machines.iter(), machines.clone())
        });
        Ok(())
    }
}
