//! Certificates and reports as dictionaries, which the Python half converts into objects.

use crate::data::invalid;
use maxmargin::core::{Certificate, Goal, Status};
use maxmargin::cv::{CertificateReport, ConformalReport, CvReport, FoldReport};
use maxmargin::metrics::FoldStatistics;
use maxmargin::model::{Machine, Model};
use maxmargin::{Cell, LinearRecord};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Returns a certificate, with `holds` if it meets the goal.
pub(crate) fn certificate<'py>(py: Python<'py>, of: &CertificateReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("primal", of.primal)?;
    fields.set_item("dual", of.dual)?;
    fields.set_item("relative_gap", of.relative_gap)?;
    fields.set_item("kkt", of.kkt)?;
    fields.set_item("infeasible", of.infeasible)?;
    fields.set_item("holds", of.holds)?;
    Ok(fields)
}

/// Returns the machines of a model with their trainings, as far as it has a record of them. All
/// classes at once (Crammer and Singer) are one training.
pub(crate) fn machines<'py>(py: Python<'py>, model: &Model) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let record = model.record();
    let linear = if record.is_none() { LinearRecord::of(model).map_err(invalid)? } else { None };
    // Biases of features as they come, which `intercept_` is.
    let plain = model.uncentred().map_err(invalid)?;
    let machine = |(p, machine): (usize, &Machine)| {
        let fields = PyDict::new(py);
        let training = record.map(|record| &record.machines[p]);
        let rows: Vec<i64> = match training {
            Some(training) => training.rows.iter().map(|&row| row as i64).collect(),
            None => machine.support.iter().map(|&row| row.into()).collect(),
        };
        let coef = training.and_then(|training| training.folded.clone()).unwrap_or_else(|| machine.coef.clone());
        fields.set_item("rows", rows.into_pyarray(py))?;
        fields.set_item("coef", coef.into_pyarray(py))?;
        fields.set_item("bias", machine.bias)?;
        if let (Some(training), Some(record)) = (training, record) {
            set_training(py, &fields, training.status, training.iterations, &training.certificate, record.goal())?;
            fields.set_item("lacks_margin", training.lacks_margin(record.formulation))?;
        } else if let Some(record) = &linear {
            let training = record.machines.get(p).or(record.machines.first());
            let training = training.ok_or_else(|| PyValueError::new_err("the model has no machine"))?;
            set_training(py, &fields, training.status, training.work.steps, &training.certificate, record.goal)?;
        }
        Ok(fields)
    };
    plain.machines().iter().enumerate().map(machine).collect()
}

fn set_training(
    py: Python<'_>,
    fields: &Bound<'_, PyDict>,
    ended: Status,
    iterations: u64,
    of: &Certificate,
    goal: Goal,
) -> PyResult<()> {
    fields.set_item("status", status(ended))?;
    fields.set_item("iterations", iterations)?;
    fields.set_item("certificate", certificate(py, &CertificateReport::new(of, goal.met_as_kept(ended, of)))?)
}

/// Returns the name of a status.
fn status(of: Status) -> &'static str {
    match of {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration_limit",
        Status::TimeLimit => "time_limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "stalled",
        Status::Slow => "slow",
    }
}

fn fold<'py>(py: Python<'py>, of: &FoldReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("certificate", certificate(py, &of.certificate)?)?;
    fields.set_item("round", of.round)?;
    fields.set_item("status", status(of.status))?;
    fields.set_item("iterations", of.iterations)?;
    fields.set_item("support_vectors", of.support_vectors)?;
    fields.set_item("missing_classes", of.missing_classes.clone())?;
    Ok(fields)
}

/// Returns a cross-validation. `decisions` has the decision values of every sample by machines that
/// were not trained on it, rows × machines, with the matrices of all rounds one after the other. It
/// is empty if decision values were dropped.
pub(crate) fn validation(py: Python<'_>, of: CvReport) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("C", of.c)?;
    let folds = of.folds.iter().map(|of| fold(py, of)).collect::<PyResult<Vec<_>>>()?;
    fields.set_item("rounds", of.rounds)?;
    fields.set_item("folds", folds)?;
    fields.set_item("iterations", of.total_iterations)?;
    fields.set_item("seconds", of.total_seconds)?;
    fields.set_item("leverage", of.leverage.into_pyarray(py))?;
    let shape = [of.decisions.len() / of.machines.max(1), of.machines];
    fields.set_item("decisions", of.decisions.into_pyarray(py).reshape(shape)?)?;
    fields.set_item("predicted", of.predicted.into_pyarray(py))?;
    Ok(fields)
}

/// Returns one combination of a grid: its C, the gamma of its kernel if that has one, and its
/// cross-validation.
pub(crate) fn cell(py: Python<'_>, of: Cell<CvReport>) -> PyResult<Bound<'_, PyDict>> {
    let gamma = of.svm.kernel_given().gamma();
    let fields = validation(py, of.result)?;
    fields.set_item("gamma", gamma)?;
    Ok(fields)
}

/// Returns the mean of the scores of folds, their standard deviation, and the interval about the
/// mean. Folds are (score, training rows, test rows); `least` and `greatest` bound possible scores.
#[pyfunction]
pub(crate) fn spread(folds: Vec<(f64, usize, usize)>, least: f64, greatest: f64) -> (f64, f64, f64, f64) {
    let FoldStatistics { mean, deviation, low, high, .. } = FoldStatistics::of(folds.into_iter(), [least, greatest]);
    (mean, deviation, low, high)
}

/// Returns the report of the conformal predictions of a training.
pub(crate) fn conformal<'py>(py: Python<'py>, report: &ConformalReport) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let of = report.coverage.as_ref();
    fields.set_item("missing", report.missing)?;
    fields.set_item("folds", report.run.folds)?;
    fields.set_item("method", of.map(|of| of.method))?;
    fields.set_item("level", of.map(|of| of.level))?;
    fields.set_item("coverage", of.map(|of| of.coverage))?;
    fields.set_item("width", of.and_then(|of| of.width))?;
    fields.set_item("size", of.and_then(|of| of.size))?;
    let groups = of.map_or(&[][..], |of| &of.groups);
    fields.set_item("groups", groups.iter().map(|of| (&of.group, of.coverage)).collect::<BTreeMap<_, _>>())?;
    let small = groups.iter().filter(|of| !of.has_enough_rows).map(|of| &of.group);
    fields.set_item("small_groups", small.collect::<Vec<_>>())?;
    Ok(fields)
}
