//! Labels that are probably wrong.

use crate::data::{Data, invalid};
use maxmargin::cv;
use maxmargin::model::Multiclass;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Rows, their margins, and for each the equal rows with another label.
type Ranked<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Vec<Vec<usize>>);

/// Returns the rows of `data` by ascending margin of their label. `decisions` are the decision
/// values of machines that were not trained on the row, rounds × rows × machines, NaN where there
/// are none.
#[pyfunction]
pub(crate) fn suspects<'py>(
    py: Python<'py>,
    data: &Data,
    decisions: PyReadonlyArray1<'py, f64>,
    one_vs_rest: bool,
) -> PyResult<Ranked<'py>> {
    let multiclass = if one_vs_rest { Multiclass::OneVsRest } else { Multiclass::OneVsOne };
    let decisions = decisions.as_slice()?;
    if data.data.labels.is_empty() || !decisions.len().is_multiple_of(data.data.labels.len()) {
        return Err(PyValueError::new_err("decision values of other rows"));
    }
    let found = cv::suspects(&data.data, multiclass, decisions).map_err(invalid)?;
    let rows: Vec<i64> = found.iter().map(|suspect| suspect.row as i64).collect();
    let margins: Vec<f64> = found.iter().map(|suspect| suspect.margin).collect();
    let contradicting = found.into_iter().map(|suspect| suspect.contradicting).collect();
    Ok((rows.into_pyarray(py), margins.into_pyarray(py), contradicting))
}
