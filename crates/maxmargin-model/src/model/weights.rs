//! The weights of linear machines, `w = Σ coef_k x_k`: dense, or sparse for very many features.

use crate::error::ModelError;
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::Samples;
use maxmargin_kernel::Kernel;
use std::collections::HashMap;

/// The number of weights that a model caches for any data.
const FEW: u128 = 1 << 22;

/// The number of weights that LIBLINEAR's text may have for any data: half a gigabyte of doubles.
const FEW_IN_TEXT: u128 = 1 << 26;

/// Checks that LIBLINEAR's text, with `columns` weights for each of `features` features, does not
/// have far more numbers than the `entries` values behind them.
///
/// # Errors
///
/// [`ModelError::TooWide`] if it does.
pub fn check_width(features: usize, columns: usize, entries: usize) -> Result<(), ModelError> {
    if features as u128 * columns as u128 <= (16 * entries as u128).max(FEW_IN_TEXT) {
        return Ok(());
    }
    Err(ModelError::TooWide { features, columns, entries })
}

/// Returns true if weights that are computed for one prediction should be dense: the features are
/// not far more than the stored values.
pub(crate) fn are_dense(support: &Samples) -> bool {
    support.features() as u128 <= 16 * support.non_zeros() as u128
}

/// Returns the dense weights of every machine. Empty for other kernels, and if the weights are too
/// many: a short file that names feature 4,000,000,000, or has thousands of machines, must not cost
/// gigabytes.
pub(crate) fn cached(parts: &Parts) -> Vec<Vec<f64>> {
    let numbers = parts.support.features() as u128 * parts.machines.len() as u128;
    let terms: usize = parts.machines.iter().map(|machine| machine.coef.len()).sum();
    let entries = (parts.support.non_zeros() + terms) as u128;
    if parts.kernel != Kernel::Linear || numbers > (16 * entries).max(FEW) {
        return Vec::new();
    }
    parts.machines.iter().map(|machine| machine.weights(&parts.support)).collect()
}

/// Returns `w` as a map, for few values among very many features.
pub(crate) fn sparse(support: &Samples, machine: &Machine) -> HashMap<usize, f64> {
    let mut w = HashMap::new();
    for (&k, c) in machine.support.iter().zip(&machine.coef) {
        support.row(k as usize).for_each(|j, v| *w.entry(j).or_insert(0.0) += c * v);
    }
    w
}
