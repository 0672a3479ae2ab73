//! Rows in slices of eight, for products of all rows with one vector after the other.
//!
//! The layout is SELL (sliced ELLPACK; Kreutzer, Hager, Wellein, Fehske and Bishop 2014, "A unified
//! sparse matrix data format"): entry `k` of the eight rows of a slice is stored together. Eight
//! sums grow side by side, so that short rows need no partial sums of their own. Rows are padded to
//! the longest of their slice. Where rows come in order of their length, hardly any padding is
//! stored.

use crate::dispatch::level::{Level, level};
use crate::sparse::{SparseRows, Value};
use std::ops::Range;

/// Number of rows of a slice.
pub const ROWS: usize = 8;

/// A matrix in slices of [`ROWS`] rows. The sum of a row is added up in the order of its entries.
#[derive(Clone, Debug)]
pub struct SlicedRows<V: Value> {
    /// The beginning of each slice in `indices` and `values`, and the end of the last.
    offsets: Vec<usize>,
    indices: Vec<[u32; ROWS]>,
    values: Vec<[V; ROWS]>,
    rows: usize,
    columns: usize,
}

impl<V: Value + Default> SlicedRows<V> {
    /// The rows of a matrix.
    pub fn of_rows(matrix: &SparseRows<V>) -> Self {
        let length = |i: usize| matrix.row(i).0.len();
        let mut sliced = Self::empty(matrix.len(), matrix.columns(), length);
        for i in 0..matrix.len() {
            let (indices, values) = matrix.row(i);
            indices.iter().zip(values).enumerate().for_each(|(k, (&j, &v))| sliced.put(i, k, j, v));
        }
        sliced
    }

    /// The columns of a matrix, as rows.
    ///
    /// # Panics
    ///
    /// When there are 2³² rows or more.
    pub fn of_columns(matrix: &SparseRows<V>) -> Self {
        let mut count = vec![0_usize; matrix.columns()];
        (0..matrix.len()).for_each(|i| matrix.row(i).0.iter().for_each(|&j| count[j as usize] += 1));
        let mut sliced = Self::empty(matrix.columns(), matrix.len(), |j| count[j]);
        count.fill(0);
        for i in 0..matrix.len() {
            let (indices, values) = matrix.row(i);
            for (&j, &v) in indices.iter().zip(values) {
                let j = j as usize;
                sliced.put(j, count[j], u32::try_from(i).expect("rows are counted in 32 bits"), v);
                count[j] += 1;
            }
        }
        sliced
    }

    /// Slices of padding for rows of these lengths.
    fn empty(rows: usize, columns: usize, length: impl Fn(usize) -> usize) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for first in (0..rows).step_by(ROWS) {
            end += (first..rows.min(first + ROWS)).map(&length).max().unwrap_or(0);
            offsets.push(end);
        }
        // Padding is the number 0 in column 0; a matrix without columns has no entries and none.
        Self { offsets, indices: vec![[0; ROWS]; end], values: vec![[V::default(); ROWS]; end], rows, columns }
    }

    fn put(&mut self, row: usize, k: usize, column: u32, value: V) {
        debug_assert!((column as usize) < self.columns);
        let at = self.offsets[row / ROWS] + k;
        self.indices[at][row % ROWS] = column;
        self.values[at][row % ROWS] = value;
    }
}

impl<V: Value> SlicedRows<V> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of stored entries, with those that pad.
    pub fn stored(&self) -> usize {
        ROWS * self.indices.len()
    }

    /// Computes `out_i = Σ_j row_ij x_j` for `out.len()` rows from row `first` on.
    ///
    /// # Panics
    ///
    /// When `first` is no multiple of [`ROWS`], `x` has fewer entries than the matrix has columns,
    /// or there are fewer rows.
    pub fn products(&self, first: usize, x: &[f64], out: &mut [f64]) {
        assert!(first.is_multiple_of(ROWS), "a whole slice");
        assert!(x.len() >= self.columns, "one number a column");
        assert!(first <= self.rows && out.len() <= self.rows - first, "rows of the matrix");
        let slices = first / ROWS..(first + out.len()).div_ceil(ROWS);
        match level() {
            // Numbers that are loaded one by one are added faster in two vectors of four than in
            // one of eight.
            // SAFETY: `level` found these instructions on this machine.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { avx2(self, slices, x, out) },
            _ => plain(self, slices, x, out),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<V: Value>(matrix: &SlicedRows<V>, slices: Range<usize>, x: &[f64], out: &mut [f64]) {
    plain(matrix, slices, x, out);
}

/// [`SlicedRows::products`], which has checked the lengths.
#[inline(always)]
fn plain<V: Value>(matrix: &SlicedRows<V>, slices: Range<usize>, x: &[f64], out: &mut [f64]) {
    for (slice, out) in slices.zip(out.chunks_mut(ROWS)) {
        let range = matrix.offsets[slice]..matrix.offsets[slice + 1];
        let mut sums = [0.0; ROWS];
        for (columns, values) in matrix.indices[range.clone()].iter().zip(&matrix.values[range]) {
            for row in 0..ROWS {
                // SAFETY: columns are below `columns`, and `x` has as many entries. Those of a
                // `SparseRows` were checked, row numbers of `of_columns` are below the number of
                // rows, and padding is column 0 of a matrix that has entries.
                sums[row] += values[row].get() * unsafe { *x.get_unchecked(columns[row] as usize) };
            }
        }
        out.copy_from_slice(&sums[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of 5 columns with these entries, which may be none.
    fn matrix(entries: &[Vec<(u32, f64)>]) -> SparseRows<'static, f64> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in entries {
            row.iter().for_each(|&(j, v)| (indices.push(j), values.push(v)).0);
            offsets.push(indices.len());
        }
        SparseRows::new(offsets, indices, values, 5)
    }

    #[test]
    fn rows_in_order_of_length_need_little_padding() {
        let row = |length: u32| (0..length).map(|j| (j % 5, 1.0)).collect::<Vec<_>>();
        let sorted: Vec<Vec<(u32, f64)>> = (0..64).rev().map(|i| row(i / 8)).collect();
        assert_eq!(SlicedRows::of_rows(&matrix(&sorted)).stored(), 8 * 28);
        let none = SlicedRows::of_rows(&matrix(&[]));
        assert!(none.is_empty() && none.stored() == 0);
    }

    #[test]
    #[should_panic(expected = "one number a column")]
    fn too_few_numbers_are_refused() {
        SlicedRows::of_rows(&matrix(&[vec![(0, 1.0)]])).products(0, &[0.0; 4], &mut [0.0]);
    }

    #[test]
    #[should_panic(expected = "rows of the matrix")]
    fn rows_that_do_not_exist_are_refused() {
        SlicedRows::of_rows(&matrix(&[vec![(0, 1.0)]])).products(0, &[0.0; 5], &mut [0.0; 2]);
    }
}
