//! Exact values of a matrix of samples: computed for each request, or kept.

use super::KernelGram;
use crate::gram::{ComputeExact, ExactValues};
use crate::store::Store;
use crate::store::distances::with_distances64;
use crate::{Gram, Neighbours};
use maxmargin_simd::pages::Pages;
use std::ops::Range;

impl KernelGram {
    /// Makes exact sums those of many small machines ([`Gram::has_small_sums`]).
    #[must_use]
    pub fn with_small_sums(self) -> Self {
        Self { small_sums: true, ..self }
    }

    /// Keeps the rows of exact values that sums need from now on: eight bytes for each pair of a
    /// support vector and a sample. It is worth its memory where several solutions are certified,
    /// or decide samples, one after the other. Values have the same bits. A precomputed matrix
    /// keeps its values already. The memory is from `pages`.
    pub fn keep_exact(&self, pages: &Pages) {
        if !matches!(&*self.store, Store::Precomputed(_)) {
            self.exact.get_or_init(|| ExactValues::new(self.len(), pages));
        }
    }

    /// The most bytes that [`KernelGram::keep_exact`] takes for so many samples.
    pub fn exact_bytes(len: usize) -> u64 {
        ExactValues::most_bytes(len)
    }

    /// Bytes of what [`KernelGram::keep_products`], [`Gram::find_neighbours`] and [`Gram::lattice`]
    /// keep, and the most that [`KernelGram::keep_exact`] may take.
    pub fn kept_bytes(&self) -> u64 {
        let products = if let Store::Sparse(sparse) = &*self.store { sparse.kept_bytes() } else { 0 };
        let exact = self.exact.get().map_or(0, |values| ExactValues::most_bytes(values.len()));
        let lattice = self.lattice.get().and_then(Option::as_ref).map_or(0, |lattice| lattice.bytes() as u64);
        products + exact + self.neighbours().map_or(0, Neighbours::bytes) + lattice
    }
}

impl ComputeExact for KernelGram {
    /// Writes `K[rows, columns]` in `f64`, computed from the samples.
    fn compute_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        if self.differences {
            let each = with_distances64(&self.function, &columns, out);
            return self.store.distances(rows, &columns, each);
        }
        match &*self.store {
            Store::Integers(integers) => integers.fill_exact(&self.function, rows, &columns, out),
            Store::Dense(dense) => dense.fill_exact(&self.function, rows, &columns, out),
            Store::Sparse(sparse) => sparse.fill_exact(&self.function, rows, &columns, out),
            Store::Precomputed(matrix) => matrix.fill_exact(rows, &columns, out),
            Store::Pairwise(pairs) => pairs.fill_exact(rows, &columns, out),
        }
    }

    fn operations(&self) -> u64 {
        self.value_operations()
    }
}
