//! The storage of samples for kernels, and dot products and kernel values in blocks.

mod bits;
mod blocks;
mod bytes;
mod categories;
mod dense;
pub(crate) mod distances;
pub(crate) mod integers;
mod packing;
mod pairwise;
mod panel;
mod parts;
pub(crate) mod precomputed;
mod products;
pub(crate) mod slice_kernel;
pub(crate) mod sparse;
pub(crate) mod summary;

use crate::{Kernel, KernelError};
use dense::Dense;
use integers::Integers;
use maxmargin_data::{Par, RunControl, Samples};
use pairwise::PairwiseKernel;
use precomputed::Precomputed;
use sparse::Sparse;
use std::ops::Range;
use summary::summarize;

/// Largest size of dense panels for sparse data, in bytes.
pub(crate) const DENSE_BYTES: usize = 1 << 30;

/// The samples in the form from which dot products are computed.
#[derive(Debug)]
pub(crate) enum Store {
    Integers(Integers),
    Dense(Dense),
    Sparse(Sparse),
    Precomputed(Precomputed),
    Pairwise(PairwiseKernel),
}

impl Store {
    /// Stores `samples` in the fastest form, or with `plain` in lists.
    pub(crate) fn new(
        samples: &Samples,
        kernel: &Kernel,
        plain: bool,
        par: Par,
        control: &RunControl,
    ) -> Result<Self, KernelError> {
        if *kernel == Kernel::Precomputed {
            return Ok(Self::Precomputed(Precomputed::new(samples, control)?));
        }
        if let Kernel::User(function) = kernel {
            return Ok(Self::Pairwise(PairwiseKernel::new(samples, function, control)?));
        }
        if plain {
            return Ok(Self::Sparse(Sparse::new(samples, control)?));
        }
        let summary = summarize(samples, control)?;
        let bytes = if summary.single { 4 } else { 12 };
        // The choice must not depend on the machine: solvers behave differently with codes.
        if Integers::accepts(samples, &summary, kernel) {
            if summary.prefers_dense(samples, DENSE_BYTES, 1, Integers::rate(&summary)) {
                return Ok(Self::Integers(Integers::new(samples, &summary, control)?));
            }
        } else if summary.prefers_dense(samples, DENSE_BYTES, bytes, 80.0) {
            return Ok(Self::Dense(Dense::new(samples, &summary, width(kernel), par, control)?));
        }
        Ok(Self::Sparse(Sparse::new(samples, control)?))
    }

    /// Squared norms, for integers in units; empty where there are no features.
    pub(crate) fn norms(&self) -> &[f64] {
        match self {
            Store::Integers(integers) => integers.norms(),
            Store::Dense(dense) => dense.norms(),
            Store::Sparse(sparse) => sparse.norms(),
            Store::Precomputed(_) | Store::Pairwise(_) => &[],
        }
    }

    /// Returns whether dot products and norms in `f64` are exact.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Store::Integers(_) => true,
            Store::Dense(dense) => dense.is_exact(),
            Store::Sparse(_) | Store::Precomputed(_) | Store::Pairwise(_) => false,
        }
    }

    /// Returns whether the values were rounded to multiples of a unit.
    pub(crate) fn are_multiples(&self) -> bool {
        matches!(self, Store::Integers(integers) if !integers.are_whole())
    }

    /// Calls `each(r, part, distances)` with the squared distances between `rows[r]` and the
    /// samples of `part`, for parts of `columns`.
    pub(crate) fn distances(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[f64])) {
        match self {
            Store::Dense(dense) => dense.distances(rows, columns, each),
            Store::Sparse(sparse) => sparse.distances(rows, columns, each),
            Store::Integers(_) | Store::Precomputed(_) | Store::Pairwise(_) => {
                unreachable!("the store is exact or has no distances")
            }
        }
    }

    /// The function that gives `kernel` from the dot products and norms of this store.
    pub(crate) fn kernel(&self, kernel: &Kernel) -> Kernel {
        match self {
            Store::Integers(integers) => integers.in_units(kernel),
            _ => kernel.clone(),
        }
    }
}

/// The gamma of a kernel of distances.
pub(crate) fn width(kernel: &Kernel) -> Option<f64> {
    kernel.gamma().filter(|_| kernel.is_distance())
}
