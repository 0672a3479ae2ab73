//! The Gram matrix as solvers and certificates see it.

use crate::Subset;
use crate::definite::indefiniteness;
use crate::distinct::Distinct;
use maxmargin_data::{Asking, Halted};
use maxmargin_simd::row::Table;
use std::ops::Range;
use std::sync::Arc;

/// The shape of block that a matrix computes most efficiently, at most: bigger requests are cut
/// into such pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows, at least 1.
    pub rows: usize,
    /// Columns, at least 1.
    pub columns: usize,
}

/// A symmetric matrix `K_ij = k(x_i, x_j)` that is computed on demand, in blocks.
///
/// Implement this to bring a kernel of your own (or use [`FnGram`](crate::FnGram)): two methods
/// decide everything, and every solver, the certificate and the cross-validation engine work on it.
///
/// An entry must have the same bits whatever block it is asked for in, and `K_ij` the same as
/// `K_ji`.
pub trait Gram: Sync {
    /// Number of samples `n`.
    fn len(&self) -> usize;

    /// Whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `n` exact diagonal entries `K_ii`.
    fn diagonal(&self) -> &[f64];

    /// What values in `f32` are less than kernel values: 0 but where nearly all of them are near
    /// one number, whose digits would leave few for what they differ in. Where a balance holds a
    /// sum of coefficients, a constant in K changes nothing that solvers compare.
    fn base(&self) -> f64 {
        0.0
    }

    /// Writes `K[rows, columns] −` [`Gram::base`] in `f32`, row-major (`rows.len() ×
    /// columns.len()`), into `out`. Runs on the calling thread.
    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]);

    /// `K[rows, columns]` in `f64`, evaluated in `f64` from the original data: what certificates
    /// and refinement are made of.
    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]);

    /// [`Gram::fill`] with every row going to a slice of its own: `out[r]` receives `K[rows[r],
    /// columns]`.
    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        let mut block = vec![0.0; rows.len() * columns.len()];
        self.fill(rows, columns.clone(), &mut block);
        for (out, row) in out.iter_mut().zip(block.chunks(columns.len().max(1))) {
            out.copy_from_slice(row);
        }
    }

    /// What codes of one byte stand for, where every value is one of at most 256: a fourth of the
    /// memory, and the codes are the same for every width of a kernel.
    fn table(&self) -> Option<Table> {
        None
    }

    /// [`Gram::fill_rows`] in codes: what they stand for in [`Gram::table`] has the bits of the
    /// values.
    ///
    /// # Panics
    ///
    /// When there is no table.
    fn fill_codes(&self, _rows: &[usize], _columns: Range<usize>, _out: &mut [&mut [u8]]) {
        unreachable!("a matrix without a table has no codes")
    }

    /// How requests are best cut.
    fn tile(&self) -> Tile {
        Tile { rows: 256, columns: 2048 }
    }

    /// `K[ids, ids]` as a matrix of its own, with the same bits, where that costs no more than
    /// copies of these samples. An id may be there twice. [`part_of`] is for everybody.
    ///
    /// # Panics
    ///
    /// When an id is out of range.
    fn part(&self, _ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        None
    }

    /// Which samples are equal, where the matrix knows what they are made of and some are.
    ///
    /// # Errors
    ///
    /// When it was called off: a comparison of many samples asks whether it is still wanted.
    fn distinct(&self, _asking: &Asking) -> Result<Option<Arc<Distinct>>, Halted> {
        Ok(None)
    }

    /// The part of sample `i` in the error of values of [`Gram::fill_exact`]: `K_ij` is off by no
    /// more than the parts of `i` and `j` together, as a share of [`Gram::largest`], or else of
    /// `√(|K_ii| |K_jj|)`. An estimate of what rounding does to it.
    fn relative_error(&self, _i: usize) -> f64 {
        4.0 * f64::EPSILON
    }

    /// A bound on every `|K_ij|`, where they are not bounded by `√(|K_ii| |K_jj|)`, as those of
    /// positive semidefinite matrices are.
    fn largest(&self) -> Option<f64> {
        None
    }

    /// `κ_i`: no `|K_ij|` is larger than `κ_i κ_j`.
    fn size(&self, i: usize) -> f64 {
        self.largest().unwrap_or_else(|| self.diagonal()[i].abs()).sqrt()
    }

    /// A `σ ≥ 0` for which `K + σI` is known to be positive semidefinite, 0 where K is by its form;
    /// infinite where none is known. Duality gaps bound the distance to the optimum only where it
    /// is finite. A proof takes long: implementations keep it.
    fn indefiniteness(&self) -> f64 {
        indefiniteness(self)
    }

    /// About what a value costs in a block, in nanoseconds: whether to keep values or to compute
    /// them again. The same on every machine, so that what is decided by it does not depend on the
    /// machine.
    fn value_cost(&self) -> f64 {
        100.0
    }

    /// What a value counts as in the operations between two questions ([`maxmargin_data::Asking`]),
    /// of which eight take a nanosecond. At least one.
    fn value_operations(&self) -> u64 {
        (8.0 * self.value_cost()).ceil().max(1.0) as u64
    }
}

/// `K[ids, ids]` of any matrix: a copy of the samples where the matrix can make one, a view of it
/// otherwise.
///
/// # Panics
///
/// When an id is out of range.
pub fn part_of<'g>(gram: &'g dyn Gram, ids: &[usize]) -> Box<dyn Gram + Send + 'g> {
    gram.part(ids).unwrap_or_else(|| Box::new(Subset::new(gram, ids.to_vec())))
}
