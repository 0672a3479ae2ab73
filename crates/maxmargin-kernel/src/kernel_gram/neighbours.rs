//! A matrix of samples as the search for neighbours, and the lattice for sums, see it.

use super::KernelGram;
use super::search::{CodeValues, Search};
use crate::neighbours::{BitRows, Coordinates};
use crate::store::Store;
use crate::store::slice_kernel::SliceKernel;
use crate::{GaussianLattice, Kernel};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::sync::Arc;

/// The largest number of features, of integers with those that fill a word, for sums in a lattice.
const VERY_FEW: usize = 4;

/// A relative error of squared distances that is larger than all rounding.
const ROUNDING: f64 = 1e-4;

impl KernelGram {
    /// Searches for neighbours, unless that was done before.
    pub(super) fn search(&self, bytes: u64, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        self.neighbours.get_or_try_init(|| Search { gram: self, par, control }.find(bytes)).map(drop)
    }

    /// The squared distance, in the units of [`KernelGram::coordinates`], beyond which all values
    /// are below `value`; none for kernels that do not fall with the distance alone.
    pub(crate) fn reach(&self, value: f64) -> Option<f64> {
        let gamma = self.store.kernel(&self.kernel).gamma().filter(|gamma| *gamma > 0.0)?;
        matches!(self.function, SliceKernel::Rbf(_)).then(|| -value.ln() / gamma * (1.0 + ROUNDING))
    }

    /// The samples as bits, if they are zeros and ones.
    pub(crate) fn bit_rows(&self) -> Option<BitRows> {
        if let Store::Integers(integers) = &*self.store { integers.bit_rows() } else { None }
    }

    /// The samples, if they have at most `most` features.
    pub(crate) fn coordinates(&self, most: usize) -> Option<Coordinates> {
        match &*self.store {
            Store::Integers(integers) => integers.coordinates(most),
            Store::Dense(dense) => dense.coordinates(most),
            Store::Sparse(_) | Store::Precomputed(_) | Store::Pairwise(_) => None,
        }
    }

    /// The lattice of the samples, if they have few features.
    pub(super) fn new_lattice(&self) -> Option<GaussianLattice> {
        let Kernel::Rbf { gamma } = self.store.kernel(&self.kernel) else { return None };
        let Coordinates { values, width } = self.coordinates(VERY_FEW)?;
        GaussianLattice::new(&values, width, gamma)
    }

    /// The exact values of one-byte codes, where they are squared distances.
    pub(crate) fn code_values(&self) -> Option<CodeValues> {
        let Store::Integers(integers) = &*self.store else { return None };
        Some(CodeValues::new(integers.code_values(&self.function)?))
    }

    /// The matrix of samples in another order.
    pub(crate) fn ordered(&self, order: &[usize]) -> Self {
        self.of_samples(order).unwrap_or_else(|| self.clone())
    }

    /// The matrix of some samples, where copies of them suffice for it.
    pub(super) fn of_samples(&self, ids: &[usize]) -> Option<Self> {
        let store = match &*self.store {
            Store::Integers(integers) => Store::Integers(integers.select(ids)),
            Store::Dense(dense) => Store::Dense(dense.select(ids)),
            Store::Sparse(sparse) => Store::Sparse(sparse.select(ids)),
            Store::Precomputed(_) | Store::Pairwise(_) => return None,
        };
        let diagonal = ids.iter().map(|&i| self.diagonal[i]).collect();
        Some(self.with_store(Arc::new(store), diagonal))
    }
}
