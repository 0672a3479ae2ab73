//! The dot products of all pairs of sparse samples, for problems of many machines: every machine of
//! a pair of classes would compute those of its samples again.

use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// Rows of one block. The columns of a block end with its last row's own column.
const ROWS: usize = 64;

/// The lower half of a symmetric matrix, in blocks of rows.
#[derive(Debug)]
pub(crate) struct Products {
    values: Vec<f64>,
    /// Number of samples.
    len: usize,
}

/// The number of columns of a block, and the position of its first value.
fn shape(block: usize) -> (usize, usize) {
    ((block + 1) * ROWS, ROWS * ROWS * (block * (block + 1) / 2))
}

impl Products {
    /// Bytes for `len` samples.
    pub(crate) fn bytes_for(len: usize) -> u64 {
        8 * shape(len.div_ceil(ROWS)).1 as u64
    }

    /// Computes the products: `fill(i, columns, out)` writes those of sample `i` with the first
    /// `columns` samples.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation.
    pub(crate) fn new(
        len: usize,
        operations: u64,
        par: Par,
        control: &RunControl,
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
    ) -> Result<Self, Cancelled> {
        let blocks = len.div_ceil(ROWS);
        let mut values = vec![0.0; shape(blocks).1];
        let mut rest = &mut values[..];
        let mut parts = Vec::with_capacity(blocks);
        for block in 0..blocks {
            let (part, after) = rest.split_at_mut(ROWS * shape(block).0);
            parts.push((block, part));
            rest = after;
        }
        for parts in parts.chunks_mut(2 * par.threads()) {
            let rows = parts.iter().map(|(block, _)| ROWS * shape(*block).0).sum::<usize>();
            control.check(operations.saturating_mul(rows as u64))?;
            par.for_chunks(parts, 1, |_, parts| {
                for (block, part) in parts {
                    let width = shape(*block).0;
                    for (i, row) in (*block * ROWS..len).zip(part.chunks_exact_mut(width)) {
                        let columns = width.min(len);
                        fill(i, columns, &mut row[..columns]);
                    }
                }
            });
        }
        Ok(Self { values, len })
    }

    /// Bytes of the products.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.values.len()
    }

    /// Writes the products of sample `i` with the samples of `columns`.
    pub(crate) fn row(&self, i: usize, columns: &Range<usize>, out: &mut [f64]) {
        debug_assert!(columns.end <= self.len);
        let (width, start) = shape(i / ROWS);
        let own = &self.values[start + i % ROWS * width..][..width];
        let end = columns.end.min(width).max(columns.start);
        let (near, far) = out.split_at_mut(end - columns.start);
        near.copy_from_slice(&own[columns.start.min(width)..][..near.len()]);
        // The other half: column `i` of later blocks.
        let mut first = end;
        let mut far = far;
        while first < columns.end {
            let (width, start) = shape(first / ROWS);
            let count = (ROWS - first % ROWS).min(columns.end - first);
            let (part, after) = far.split_at_mut(count);
            let values = &self.values[start + first % ROWS * width..start + ROWS * width];
            part.iter_mut().zip(values.chunks_exact(width)).for_each(|(out, row)| *out = row[i]);
            (far, first) = (after, first + count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    proptest! {
        /// Any part of any row is that of the whole symmetric matrix.
        #[test]
        fn parts_of_rows_are_those_of_the_matrix(len in 1_usize..300, i: prop::sample::Index, a: prop::sample::Index, b: prop::sample::Index) {
            let value = |i: usize, j: usize| (i.min(j) * 1000 + i.max(j)) as f64;
            let fill = |i: usize, columns: usize, out: &mut [f64]| (0..columns).for_each(|j| out[j] = value(i, j));
            let products = Products::new(len, 1, Par::Pool, &RunControl::unlimited(), fill).expect("not cancelled");
            prop_assert_eq!(products.bytes() as u64, Products::bytes_for(len));
            let (i, a, b) = (i.index(len), a.index(len + 1), b.index(len + 1));
            let columns = a.min(b)..a.max(b);
            let mut row = vec![f64::NAN; columns.len()];
            products.row(i, &columns, &mut row);
            prop_assert_eq!(row, columns.map(|j| value(i, j)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_computation_can_be_cancelled() {
        let control = RunControl::new(|_| ControlFlow::Break(()));
        let fill = |_: usize, _: usize, _: &mut [f64]| ();
        assert!(Products::new(5000, 1 << 40, Par::Seq, &control, fill).is_err());
    }
}
