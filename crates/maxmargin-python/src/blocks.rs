//! Predictions, of many rows in parts.

use crate::run::run_sized;
use maxmargin::background::{in_parts, products};
use maxmargin::data::{Dataset, Par};
use maxmargin::model;
use pyo3::prelude::*;
use std::sync::Arc;

/// Predicts rows by `each`: few of them on the calling thread, many in parts on the pool.
pub(crate) fn predict<T: Send + 'static>(
    py: Python<'_>,
    model: &Arc<model::Model>,
    data: &Arc<Dataset>,
    report: Option<&Bound<'_, PyAny>>,
    each: impl Fn(&model::Model, &maxmargin::data::Samples, Par) -> Result<Vec<T>, model::ModelError> + Send + Sync + 'static,
) -> PyResult<Vec<T>> {
    let count = data.samples.len().saturating_mul(products(model));
    let (model, data) = (Arc::clone(model), Arc::clone(data));
    run_sized(py, report, count, move |channel, par| in_parts(&model, &data, channel, |rows| each(&model, rows, par)))
}
