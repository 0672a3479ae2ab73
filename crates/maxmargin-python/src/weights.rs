//! Weights of linear machines that a model does not store.

use maxmargin::model;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

/// Returns `w = Σ coef_k x_k` of a machine. The caller checks that the memory suffices.
pub(crate) fn sum_weights(model: &model::Model, machine: usize) -> Vec<f64> {
    let mut weights = vec![0.0; model.features()];
    let machine = &model.machines()[machine];
    for (&vector, coef) in machine.support.iter().zip(&machine.coef) {
        model.parts().support.row(vector as usize).for_each(|column, value| weights[column] += coef * value);
    }
    weights
}

/// Checks that there are not far more weights than values: a single index of 4,000,000,000 would
/// need 32 GB.
pub(crate) fn check_weights(model: &model::Model) -> PyResult<()> {
    let terms: usize = model.machines().iter().map(|machine| machine.coef.len()).sum();
    let entries = model.parts().support.non_zeros() + terms;
    model::check_width(model.features(), model.machines().len(), entries).map_err(|_| {
        PyMemoryError::new_err(format!(
            "there is a weight for each of {} features, and there are {entries} values; number the \
             features without gaps, or use maxmargin.train, whose models store only values that occur",
            model.features()
        ))
    })
}
