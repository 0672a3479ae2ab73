//! Predictions of few rows at once, and of many rows in parts.

use crate::run::{at_once, run};
use maxmargin::background::{in_parts, products};
use maxmargin::data::{Dataset, Par};
use maxmargin::model;
use pyo3::prelude::*;
use std::sync::Arc;

/// Largest number of products of a prediction on the calling thread: another thread would take as
/// long to start.
const FEW: usize = 1 << 20;

/// Predicts rows by `each`: a few at once on the calling thread, many in parts on the pool.
pub(crate) fn predict<T: Send + 'static>(
    py: Python<'_>,
    model: &Arc<model::Model>,
    data: &Arc<Dataset>,
    report: Option<&Bound<'_, PyAny>>,
    each: impl Fn(&model::Model, &maxmargin::data::Samples, Par) -> Result<Vec<T>, model::ModelError> + Send + Sync + 'static,
) -> PyResult<Vec<T>> {
    if data.samples.len().saturating_mul(products(model)) <= FEW {
        return at_once(py, || Ok(each(model, &data.samples, Par::Seq)?));
    }
    let (model, data) = (Arc::clone(model), Arc::clone(data));
    run(py, report, move |channel| in_parts(&model, &data, channel, |rows| each(&model, rows, Par::Pool)))
}
