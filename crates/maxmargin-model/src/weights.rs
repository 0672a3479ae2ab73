//! The weights of linear machines: `w = Σ coef_k x_k`, dense or, of very many features, sparse.

use crate::machine::Machine;
use crate::model::Parts;
use maxmargin_data::Samples;
use maxmargin_kernel::Kernel;
use std::collections::HashMap;

/// So many numbers are kept whatever there is in a file.
const FEW: u128 = 1 << 22;

/// Whether `numbers` may be allocated for data with this many entries: a few bytes of a file that name feature 4,000,000,000, or
/// thousands of machines, must not cost gigabytes.
fn is_justified(numbers: u128, entries: usize) -> bool {
    numbers <= (16 * entries as u128).max(FEW)
}

/// Whether one dense vector of weights is worth its memory.
pub(crate) fn are_dense(support: &Samples) -> bool {
    is_justified(support.features() as u128, support.non_zeros())
}

/// The dense weights of every machine, or nothing for other kernels and where they are too many.
pub(crate) fn cached(parts: &Parts) -> Vec<Vec<f64>> {
    let numbers = parts.support.features() as u128 * parts.machines.len() as u128;
    let terms: usize = parts.machines.iter().map(|machine| machine.coef.len()).sum();
    if parts.kernel != Kernel::Linear || !is_justified(numbers, parts.support.non_zeros() + terms) {
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
