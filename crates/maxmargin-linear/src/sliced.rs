//! A compressed matrix in slices of rows, for many products with all rows or all columns.

use crate::compressed::Compressed;
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_simd::sparse::SparseRows;
use maxmargin_simd::sparse::sliced::{ROWS, SlicedRows};

/// A sparse matrix in slices of rows. Products with short rows are faster than those of compressed
/// rows, and a copy takes as long as some of them (`--example sliced_speed` of maxmargin-simd).
pub(crate) enum Sliced {
    Single(SlicedRows<f32>),
    Double(SlicedRows<f64>),
}

/// The stored entries per task of a pass. A pass over fewer costs less than waking a thread.
const TASK: usize = 1 << 17;

impl Sliced {
    /// Copies the rows and the columns of a matrix.
    pub(crate) fn rows_and_columns(matrix: &Compressed) -> (Self, Self) {
        fn single(rows: &SparseRows<f32>) -> (Sliced, Sliced) {
            (Sliced::Single(SlicedRows::of_rows(rows)), Sliced::Single(SlicedRows::of_columns(rows)))
        }
        match matrix {
            Compressed::Ones(_) => single(&written_ones(matrix)),
            Compressed::Single(rows) => single(rows),
            Compressed::Double(rows) => (Self::Double(SlicedRows::of_rows(rows)), Self::Double(SlicedRows::of_columns(rows))),
        }
    }

    /// Computes `out_i = finish(i, row_i · x)` for all rows. The bits do not depend on `par`.
    pub(crate) fn products(&self, x: &[f64], out: &mut [f64], par: Par, finish: impl Fn(usize, f64) -> f64 + Sync) {
        let stored = match self {
            Self::Single(rows) => rows.stored(),
            Self::Double(rows) => rows.stored(),
        };
        let chunk = (out.len() * TASK / stored.max(1)).next_multiple_of(ROWS).max(ROWS);
        par.for_chunks(out, chunk, |at, out| {
            let first = at * chunk;
            match self {
                Self::Single(rows) => rows.products(first, x, out),
                Self::Double(rows) => rows.products(first, x, out),
            }
            out.iter_mut().enumerate().for_each(|(i, out)| *out = finish(first + i, *out));
        });
    }
}

/// A matrix of ones with its numbers written out: slices are padded with zeros.
fn written_ones(matrix: &Compressed) -> SparseRows<'static, f32> {
    let (mut offsets, mut indices) = (vec![0], Vec::with_capacity(matrix.entries()));
    for i in 0..matrix.len() {
        matrix.each(i, |j, _| indices.push(j as u32));
        offsets.push(indices.len());
    }
    let values = vec![1.0; indices.len()];
    SparseRows::new(offsets, indices, values, matrix.width())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_every_layout() {
        // Values that need one bit, 24 and 53.
        for value in [1.0, 1.5, 0.1] {
            let offsets = vec![0, 2, 2, 3];
            let matrix = Compressed::new(offsets, vec![0, 3, 1], vec![value; 3], 4);
            let (by_rows, by_columns) = Sliced::rows_and_columns(&matrix);
            let mut rows = vec![0.0; 3];
            by_rows.products(&[1.0, 2.0, 4.0, 8.0], &mut rows, Par::Seq, |i, product| product + i as f64);
            assert_eq!(rows, [value + value * 8.0, 1.0, value * 2.0 + 2.0]);
            let mut columns = vec![0.0; 4];
            by_columns.products(&[1.0, 2.0, 4.0], &mut columns, Par::Seq, |_, product| product);
            assert_eq!(columns, [value, value * 4.0, 0.0, value]);
        }
    }
}
