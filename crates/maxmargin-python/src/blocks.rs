//! Predictions of many rows in blocks, with checks for cancellation between them.

use crate::run::{Channel, Failure, at_once, run};
use maxmargin::data::{Dataset, Par};
use maxmargin::model;
use pyo3::prelude::*;
use std::sync::Arc;

/// The number of products between two checks for cancellation, about a fifth of a second.
const PRODUCTS: usize = 1 << 33;

/// Largest number of products of a prediction on the calling thread: another thread would take as
/// long to start.
const FEW: usize = 1 << 20;

/// Fewest rows between two checks for cancellation: fewer would not occupy all threads.
const ROWS: usize = 1 << 10;

/// Returns the approximate number of products for a row: values of support vectors, and one
/// coefficient of each at least.
fn products(model: &model::Model) -> usize {
    let support = &model.parts().support;
    support.bytes() / size_of::<f64>() + support.len() + 1
}

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

/// Calls `each` on parts of the rows, until the caller does not wait any more.
pub(crate) fn in_parts<T, E: Into<Failure>>(
    model: &model::Model,
    data: &Dataset,
    channel: &Channel,
    each: impl Fn(&maxmargin::data::Samples) -> Result<Vec<T>, E>,
) -> Result<Vec<T>, Failure> {
    let (rows, part) = (data.samples.len(), (PRODUCTS / products(model)).max(ROWS));
    if rows <= part {
        return each(&data.samples).map_err(Into::into);
    }
    let mut all = Vec::new();
    for begin in (0..rows).step_by(part) {
        if channel.is_cancelled() {
            break;
        }
        let part: Vec<usize> = (begin..rows.min(begin + part)).collect();
        all.extend(each(&data.samples.select(&part)).map_err(Into::into)?);
    }
    Ok(all)
}
