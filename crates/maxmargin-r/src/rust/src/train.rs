//! Trainings, cross-validations and searches.

use crate::data::Data;
use crate::job::Job;
use crate::model::Model;
use crate::options;
use crate::report::{CertifiedRun, certificates};
use crate::value::Value;
use maxmargin::background::Failure;
use maxmargin::cv::{CertificateReport, CvReport, FoldPlan, TrainingData};
use maxmargin::data::Dataset;
use maxmargin::model::Record;
use maxmargin::{Fitted, Ranges};
use savvy::{IntegerSexp, ListSexp, RealSexp, savvy};
use std::sync::Arc;

/// Starts a training. With `keep`, the model keeps its training data.
///
/// @noRd
#[savvy]
pub fn native_train(options: ListSexp, data: &Data, keep: bool) -> savvy::Result<Job> {
    let data = Arc::clone(&data.data);
    let svm = options::svm(&options, &data.labels)?;
    Job::start(move |channel| {
        let Fitted { model, calibration, .. } = svm.fit_with(&*data, &channel.control())?;
        let model = Model::in_libsvm_order(model)?;
        let model = if keep { TrainingData::new(Dataset::clone(&data)).put_into(model)? } else { model };
        let lacks_margin = model.record().is_some_and(Record::lacks_margin);
        let missing = calibration.and_then(|report| report.missing).unwrap_or_default();
        Ok(Value::List(vec![
            ("model", Value::Model(Model::new(model))),
            ("missing", Value::Texts(vec![missing.to_owned()])),
            ("lacks_margin", Value::Logicals(vec![lacks_margin])),
        ]))
    })
}

/// Returns the folds of a vector with the fold of each row, from 0. Rows below 0 are never tested.
fn plan(folds: &IntegerSexp) -> savvy::Result<FoldPlan> {
    let count = folds.iter().max().map_or(0, |&last| usize::try_from(last + 1).unwrap_or(0));
    let mut tests = vec![(Vec::new(), Vec::<usize>::new()); count];
    for (row, &fold) in folds.iter().enumerate() {
        if let Ok(fold) = usize::try_from(fold) {
            tests[fold].0.push(row);
        }
    }
    Ok(FoldPlan::from_tests(folds.len(), tests)?)
}

/// Starts a cross-validation.
///
/// @noRd
#[savvy]
pub fn native_validate(options: ListSexp, data: &Data, folds: IntegerSexp) -> savvy::Result<Job> {
    let (svm, plan, data) = (options::svm(&options, &data.data.labels)?, plan(&folds)?, Arc::clone(&data.data));
    Job::start(move |channel| Ok(validation(svm.cross_validate_with(&*data, &plan, &channel.control())?)))
}

/// Returns the predictions of a cross-validation and the certificates of its folds.
fn validation(report: CvReport) -> Value {
    let folds = report.folds.iter().map(|fold| CertifiedRun {
        certificate: fold.certificate,
        status: fold.status,
        iterations: fold.iterations,
    });
    let folds: Vec<CertifiedRun> = folds.collect();
    Value::List(vec![("predicted", Value::Reals(report.predicted)), ("folds", certificates(&folds))])
}

/// Starts a cross-validation of every combination of a cost and a gamma over the same folds and the
/// same kernel rows.
///
/// @noRd
#[savvy]
pub fn native_grid(options: ListSexp, data: &Data, folds: IntegerSexp, costs: RealSexp, gammas: RealSexp) -> savvy::Result<Job> {
    let (svm, plan, data) = (options::svm(&options, &data.data.labels)?, plan(&folds)?, Arc::clone(&data.data));
    let ranges = Ranges::new().c(costs.as_slice()).gamma(gammas.as_slice());
    Job::start(move |channel| {
        let of = |_: &maxmargin::Svm, report: CvReport| CvReport { decisions: Vec::new(), ..report };
        let found = svm.grid_with(&data, &plan, &ranges, &channel.control(), of)?;
        if let Some(failed) = found.failed.first() {
            return Err(failed.result.to_string().into());
        }
        let cells = found.cells.into_iter().map(|cell| cell_value(&cell.svm, cell.result));
        Ok(Value::Items(cells.collect::<Result<_, Failure>>()?))
    })
}

/// Returns one combination: its cost and gamma, its predictions, and its worst certificate.
fn cell_value(svm: &maxmargin::Svm, report: CvReport) -> Result<Value, Failure> {
    let certificate: CertificateReport = report.certificate().ok_or("a combination has no folds")?;
    let worst = [CertifiedRun { certificate, status: report.status(), iterations: report.total_iterations }];
    Ok(Value::List(vec![
        ("cost", Value::real(svm.formulation().c().unwrap_or(f64::NAN))),
        ("gamma", Value::real(svm.kernel_given().gamma().unwrap_or(f64::NAN))),
        ("predicted", Value::Reals(report.predicted)),
        ("certificate", certificates(&worst)),
    ]))
}
