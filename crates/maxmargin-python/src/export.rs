//! Models for other runtimes: ONNX, C and JSON.

use crate::data::{Data, invalid};
use crate::model::Model;
use maxmargin::conformal::Level;
use maxmargin::cv::{left_out_of, prediction_program};
use maxmargin::data::Par;
use maxmargin::export::{Labels, Precision, Program, c_source, check_single, graph, json};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::CString;

/// The labels of an estimator's classes, instead of their numbers in the model.
#[derive(FromPyObject)]
pub(crate) enum GivenLabels {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl From<GivenLabels> for Labels {
    fn from(labels: GivenLabels) -> Self {
        match labels {
            GivenLabels::Integers(labels) => Self::Integers(labels),
            GivenLabels::Numbers(labels) => Self::Numbers(labels),
            GivenLabels::Words(labels) => Self::Words(labels),
        }
    }
}

/// Frames from this module to the caller of a method of an estimator.
const TO_CALLER: i32 = 2;

/// Returns the predictions of a model as a program, after a warning if it has not all of them.
fn program_of(py: Python<'_>, model: &Model, labels: Option<GivenLabels>, alpha: Option<f64>) -> PyResult<Program> {
    let level = alpha.map(Level::new).transpose().map_err(invalid)?;
    let program = prediction_program(&model.trained, labels.map(Labels::from), level).map_err(invalid)?;
    if alpha.is_some() && program.intervals.is_none() {
        return Err(PyValueError::new_err("alpha: the model has no intervals to export; train a regression with conformal=0.1"));
    }
    if let Some(what) = left_out_of(&program, &model.trained).map_err(invalid)? {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(what)?, TO_CALLER)?;
    }
    Ok(program)
}

fn precision(single: bool) -> Precision {
    if single { Precision::Single } else { Precision::Double }
}

/// Returns a model as an ONNX file. `labels` replaces the numbers of the classes; `single` computes
/// in single precision, by operators of ai.onnx.ml; `alpha` is the level of intervals; `checked` is
/// the note on the rows of a check.
#[pyfunction]
#[pyo3(signature = (model, labels=None, single=false, alpha=None, checked="on no rows"))]
pub(crate) fn export_onnx<'py>(
    py: Python<'py>,
    model: &Model,
    labels: Option<GivenLabels>,
    single: bool,
    alpha: Option<f64>,
    checked: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let program = program_of(py, model, labels, alpha)?;
    let precision = precision(single);
    let metadata = [
        ("maxmargin.precision", precision.name().to_owned()),
        ("maxmargin.kernel", model.trained.kernel().name().to_owned()),
        ("maxmargin.checked", checked.to_owned()),
    ];
    Ok(PyBytes::new(py, &graph(&program, precision).to_bytes(&metadata)))
}

/// Returns how many of these samples could have another label in single precision, and the largest
/// bound on the error of their decision values.
#[pyfunction]
pub(crate) fn export_bound(model: &Model, data: &Data) -> PyResult<(usize, f64)> {
    let program = prediction_program(&model.trained, None, None).map_err(invalid)?;
    let found = check_single(&model.trained, &program, &data.data.samples, Par::Pool).map_err(invalid)?;
    Ok((found.open, found.bound))
}

/// Returns a model as one C99 file, whose names begin with `prefix`.
#[pyfunction]
#[pyo3(signature = (model, labels=None, single=false, alpha=None, prefix="svm"))]
pub(crate) fn export_c(
    py: Python<'_>,
    model: &Model,
    labels: Option<GivenLabels>,
    single: bool,
    alpha: Option<f64>,
    prefix: &str,
) -> PyResult<String> {
    let program = program_of(py, model, labels, alpha)?;
    Ok(c_source(&program, precision(single), prefix).map_err(invalid)?.text)
}

/// Returns a model as JSON.
#[pyfunction]
#[pyo3(signature = (model, labels=None, alpha=None))]
pub(crate) fn export_json(py: Python<'_>, model: &Model, labels: Option<GivenLabels>, alpha: Option<f64>) -> PyResult<String> {
    json(&program_of(py, model, labels, alpha)?).map_err(invalid)
}
