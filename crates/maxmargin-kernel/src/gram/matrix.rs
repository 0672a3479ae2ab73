//! The interface of Gram matrices for solvers and certificates.

use super::definite::smallest_shift;
use super::distinct::Distinct;
use super::kept::KeptValues;
use crate::{GaussianLattice, Neighbours};
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::row::CodeTable;
use std::ops::Range;
use std::sync::Arc;

/// The largest block that a matrix computes efficiently. Larger requests are cut into such blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows, at least 1.
    pub rows: usize,
    /// Columns, at least 1.
    pub columns: usize,
    /// Rows that take hardly longer than one, at least 1.
    pub together: usize,
}

/// Fewest entries of a piece of a block of rows.
const PIECE: usize = 1 << 14;

/// The largest number of rows that are few.
const FEW: usize = 64;

impl Tile {
    /// The columns of the pieces in which threads compute so many rows. A few rows are cut into
    /// more pieces than tiles, so that there is one for each thread.
    pub(crate) fn columns_of_piece(&self, rows: usize) -> usize {
        let is_cut = self.columns < usize::MAX && rows <= FEW;
        if is_cut { self.columns.min(PIECE / rows.max(1)).max(1) } else { self.columns.max(1) }
    }
}

/// A symmetric matrix `K_ij = k(x_i, x_j)` that is computed on demand, in blocks.
///
/// Implement this trait for a matrix of your own, or use [`FnGram`](crate::FnGram). Every solver,
/// the certificates and the cross-validation use a matrix through this trait alone. Required are
/// the size, the diagonal and two methods that compute blocks.
///
/// An entry must have the same bits in every block that contains it, and `K_ij` the bits of `K_ji`.
pub trait Gram: Sync {
    /// Number of samples `n`.
    fn len(&self) -> usize;

    /// Returns whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `n` exact diagonal entries `K_ii`.
    fn diagonal(&self) -> &[f64];

    /// The constant that [`Gram::fill`] subtracts from kernel values, usually 0.
    ///
    /// It is that number where nearly all kernel values are close to one number: `f32` then keeps
    /// more digits of their differences. With an equality constraint on the sum of coefficients, a
    /// constant in K changes none of the quantities that solvers compare.
    fn base(&self) -> f64 {
        0.0
    }

    /// Writes `K[rows, columns] −` [`Gram::base`] in `f32`, row-major (`rows.len() ×
    /// columns.len()`), into `out`. Runs on the calling thread.
    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]);

    /// Writes `K[rows, columns]` in `f64`, row-major, evaluated in `f64` from the original data,
    /// for certificates and refinement.
    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]);

    /// The values of [`Gram::fill_exact`] that the matrix keeps, where it keeps any.
    fn kept_exact(&self) -> Option<KeptValues<'_>> {
        None
    }

    /// Returns whether exact sums are for many small machines: their coefficients are not grouped,
    /// and sums have the same bits whether values are kept or not.
    fn has_small_sums(&self) -> bool {
        false
    }

    /// Searches for the neighbours of all samples, where a matrix may be mostly zero: its other
    /// values may take so many bytes. Later calls do nothing.
    ///
    /// # Errors
    ///
    /// When `control` cancels the search.
    fn find_neighbours(&self, _bytes: u64, _par: Par, _control: &RunControl) -> Result<(), Cancelled> {
        Ok(())
    }

    /// The neighbours that [`Gram::find_neighbours`] has found. Exact sums then leave out all other
    /// values.
    fn neighbours(&self) -> Option<&Neighbours> {
        None
    }

    /// The lattice for exact sums, where the matrix is of Gaussians of many samples of few
    /// features.
    fn lattice(&self) -> Option<&GaussianLattice> {
        None
    }

    /// [`Gram::fill`] with one slice per row: `out[r]` receives `K[rows[r], columns]`.
    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        let mut block = vec![0.0; rows.len() * columns.len()];
        self.fill(rows, columns.clone(), &mut block);
        for (out, row) in out.iter_mut().zip(block.chunks(columns.len().max(1))) {
            out.copy_from_slice(row);
        }
    }

    /// The values of one-byte codes, where the matrix has at most 256 different values. Codes take
    /// a quarter of the memory and do not depend on the kernel's gamma.
    fn table(&self) -> Option<CodeTable> {
        None
    }

    /// [`Gram::fill_rows`] in codes. Their values in [`Gram::table`] have the bits of the values of
    /// [`Gram::fill_rows`].
    ///
    /// # Panics
    ///
    /// When there is no table.
    fn fill_codes(&self, _rows: &[usize], _columns: Range<usize>, _out: &mut [&mut [u8]]) {
        unreachable!("a matrix without a table has no codes")
    }

    /// The block size into which requests are best cut.
    fn tile(&self) -> Tile {
        Tile { rows: 256, columns: 2048, together: 1 }
    }

    /// `K[ids, ids]` as a separate matrix with the same bits, where copies of these samples suffice
    /// for it. An id may occur twice. [`part_of`](crate::part_of) works for every matrix.
    ///
    /// # Panics
    ///
    /// When an id is out of range.
    fn part(&self, _ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        None
    }

    /// The groups of equal samples, where the matrix can compare its samples and some are equal.
    ///
    /// # Errors
    ///
    /// When `control` cancels the comparison.
    fn distinct(&self, _control: &RunControl) -> Result<Option<Arc<Distinct>>, Cancelled> {
        Ok(None)
    }

    /// The contribution of sample `i` to the relative error of [`Gram::fill_exact`].
    ///
    /// The error of `K_ij` is at most the sum of the contributions of `i` and `j`, relative to
    /// [`Gram::largest`], or else to `√(|K_ii| |K_jj|)`. It estimates the effect of rounding.
    fn relative_error(&self, _i: usize) -> f64 {
        4.0 * f64::EPSILON
    }

    /// A bound on every `|K_ij|` for matrices without the bound `√(|K_ii| |K_jj|)` of positive
    /// semidefinite matrices.
    fn largest(&self) -> Option<f64> {
        None
    }

    /// A number `κ_i` such that `|K_ij| ≤ κ_i κ_j` for all `i` and `j`.
    fn size(&self, i: usize) -> f64 {
        self.largest().unwrap_or_else(|| self.diagonal()[i].abs()).sqrt()
    }

    /// A `σ ≥ 0` for which `K + σI` is known to be positive semidefinite; infinite where none is
    /// known, 0 for kernels that are semidefinite by their formula.
    ///
    /// Duality gaps bound the distance to the optimum only where it is finite. The proof is
    /// expensive, so implementations cache it.
    fn indefiniteness(&self) -> f64 {
        indefiniteness(self)
    }

    /// The approximate cost of a value in a block, in nanoseconds. It decides whether values are
    /// stored or computed again. It is the same on every machine, and so are these decisions.
    fn value_cost(&self) -> f64 {
        100.0
    }

    /// The cost of a value in the operations that [`maxmargin_data::RunControl`] counts, eight per
    /// nanosecond; at least one.
    fn value_operations(&self) -> u64 {
        (8.0 * self.value_cost()).ceil().max(1.0) as u64
    }
}

/// Computes [`Gram::indefiniteness`] by a proof, without a cache.
pub(crate) fn indefiniteness<G: Gram + ?Sized>(gram: &G) -> f64 {
    let error = || (0..gram.len()).map(|i| gram.relative_error(i)).fold(0.0, f64::max);
    smallest_shift(gram.diagonal(), error, |size| {
        let rows: Vec<usize> = (0..size).collect();
        let mut block = vec![0.0; size * size];
        gram.fill_exact(&rows, 0..size, &mut block);
        block
    })
}
