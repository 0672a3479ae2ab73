//! The weights of linear machines: `w = Σ coef_k x_k`, dense or, of very many features, sparse.

use crate::error::ModelError;
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::Samples;
use maxmargin_kernel::Kernel;
use std::collections::HashMap;

/// So many numbers are kept whatever there is in a file.
const FEW: u128 = 1 << 22;

/// So many weights are written in LIBLINEAR's text for any data: half a gigabyte of doubles.
const FEW_IN_TEXT: u128 = 1 << 26;

/// Whether `columns` vectors with a weight for each of `features` features are not many more
/// numbers than the `entries` that they come from: LIBLINEAR's models have all of them.
///
/// # Errors
///
/// [`ModelError::TooWide`] where they are.
pub fn check_width(features: usize, columns: usize, entries: usize) -> Result<(), ModelError> {
    if features as u128 * columns as u128 <= (16 * entries as u128).max(FEW_IN_TEXT) {
        return Ok(());
    }
    Err(ModelError::TooWide { features, columns, entries })
}

/// Whether a vector of weights that is made for one prediction is dense: features are not many more
/// than entries.
pub(crate) fn are_dense(support: &Samples) -> bool {
    support.features() as u128 <= 16 * support.non_zeros() as u128
}

/// The dense weights of every machine, or nothing for other kernels and where they are too many: a
/// few bytes of a file that name feature 4,000,000,000, or thousands of machines, must not cost
/// gigabytes.
pub(crate) fn cached(parts: &Parts) -> Vec<Vec<f64>> {
    let numbers = parts.support.features() as u128 * parts.machines.len() as u128;
    let terms: usize = parts.machines.iter().map(|machine| machine.coef.len()).sum();
    let entries = (parts.support.non_zeros() + terms) as u128;
    if parts.kernel != Kernel::Linear || numbers > (16 * entries).max(FEW) {
        return Vec::new();
    }
    parts.machines.iter().map(|machine| dense(&parts.support, machine)).collect()
}

/// `w`, summed in row order so that the same machine always has the same bits.
pub(crate) fn dense(support: &Samples, machine: &Machine) -> Vec<f64> {
    let mut w = vec![0.0; support.features()];
    for (&k, c) in machine.support.iter().zip(&machine.coef) {
        support.row(k as usize).for_each(|j, v| w[j] += c * v);
    }
    w
}

/// The same where only few of very many features occur.
pub(crate) fn sparse(support: &Samples, machine: &Machine) -> HashMap<usize, f64> {
    let mut w = HashMap::new();
    for (&k, c) in machine.support.iter().zip(&machine.coef) {
        support.row(k as usize).for_each(|j, v| *w.entry(j).or_insert(0.0) += c * v);
    }
    w
}
