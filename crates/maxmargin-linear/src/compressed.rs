//! A sparse matrix in the smallest layout that holds its numbers, with passes over its rows.

use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_simd::sparse::{One, SparseRows, Value};

/// A sparse matrix, by rows or by columns, in the smallest layout that holds its numbers.
pub(crate) enum Compressed {
    Ones(SparseRows<'static, One>),
    Single(SparseRows<'static, f32>),
    Double(SparseRows<'static, f64>),
}

/// The entries of a matrix, row by row.
pub(crate) struct Entries {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Entries {
    /// No rows, with room for so many entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self { offsets: vec![0], indices: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    #[inline]
    pub(crate) fn push(&mut self, column: u32, value: f64) {
        self.indices.push(column);
        self.values.push(value);
    }

    pub(crate) fn end_row(&mut self) {
        self.offsets.push(self.indices.len());
    }

    /// The matrix of the rows that have ended.
    pub(crate) fn matrix(self, columns: usize) -> Compressed {
        Compressed::new(self.offsets, self.indices, self.values, columns)
    }
}

/// The entries per task of a pass over a compressed matrix. A pass over fewer costs less than
/// waking a thread.
const TASK: usize = 1 << 16;

/// Runs an expression on the rows of any layout.
macro_rules! with_rows {
    ($matrix:expr, $rows:ident => $run:expr) => {
        match $matrix {
            Compressed::Ones($rows) => $run,
            Compressed::Single($rows) => $run,
            Compressed::Double($rows) => $run,
        }
    };
}

impl Compressed {
    pub(crate) fn new(offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, columns: usize) -> Self {
        if values.iter().all(|v| *v == 1.0) {
            Self::Ones(SparseRows::new(offsets, indices, vec![One; values.len()], columns))
        } else if values.iter().all(|v| f64::from(*v as f32) == *v) {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            Self::Single(SparseRows::new(offsets, indices, values, columns))
        } else {
            Self::Double(SparseRows::new(offsets, indices, values, columns))
        }
    }

    /// Computes `out_i = finish(i, row_i · x)` for all rows.
    pub(crate) fn products(&self, x: &[f64], out: &mut [f64], par: Par, finish: impl Fn(usize, f64) -> f64 + Sync) {
        let chunk = (out.len() * TASK / self.entries().max(1)).max(1);
        with_rows!(self, rows => par.for_chunks(out, chunk, |at, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let i = at * chunk + i;
                *out = finish(i, rows.dot(i, x));
            }
        }));
    }

    /// Returns the matrix with its columns times these factors, without those of factor 0.
    pub(crate) fn times(&self, factors: &[f64]) -> Self {
        let mut place = vec![None; factors.len()];
        let mut width = 0_u32;
        for (place, _) in place.iter_mut().zip(factors).filter(|(_, factor)| **factor != 0.0) {
            *place = Some(width);
            width += 1;
        }
        let mut entries = Entries::with_capacity(0);
        for i in 0..self.len() {
            self.each(i, |j, v| {
                if let Some(place) = place[j] {
                    entries.push(place, v * factors[j]);
                }
            });
            entries.end_row();
        }
        let Entries { offsets, indices, values } = entries;
        Self::Double(SparseRows::new(offsets, indices, values, width as usize))
    }

    /// Returns a copy of these rows.
    pub(crate) fn selected(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        let mut entries = Entries::with_capacity(rows.clone().map(|i| self.entries_of(i)).sum());
        for i in rows {
            self.each(i, |j, v| entries.push(j as u32, v));
            entries.end_row();
        }
        entries.matrix(self.width())
    }

    /// Returns the columns of some rows, which are numbered from 0 on.
    pub(crate) fn columns_of<R: FeatureRows>(rows: &R, ids: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let count = ids.len();
        let mut offsets = vec![0; rows.width() + 1];
        ids.clone().for_each(|id| rows.each(id, |j, _| offsets[j + 1] += 1));
        for j in 0..rows.width() {
            offsets[j + 1] += offsets[j];
        }
        let mut next = offsets.clone();
        let entries = offsets[rows.width()];
        let (mut indices, mut values) = (vec![0; entries], vec![0.0; entries]);
        for (i, id) in ids.enumerate() {
            rows.each(id, |j, v| {
                (indices[next[j]], values[next[j]]) = (i as u32, v);
                next[j] += 1;
            });
        }
        Self::new(offsets, indices, values, count)
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::columns_of(self, 0..self.len())
    }

    /// Adds `factor` times row `i` to `sum`, from column `from` on; its columns ascend.
    #[inline]
    pub(crate) fn add_from(&self, i: usize, from: usize, factor: f64, sum: &mut [f64]) {
        with_rows!(self, rows => {
            let (indices, values) = rows.row(i);
            let begin = indices.partition_point(|&j| (j as usize) < from);
            indices[begin..].iter().zip(&values[begin..]).for_each(|(&j, v)| sum[j as usize] += factor * v.get());
        });
    }
}

impl FeatureRows for Compressed {
    fn len(&self) -> usize {
        with_rows!(self, rows => rows.len())
    }

    fn width(&self) -> usize {
        with_rows!(self, rows => rows.columns())
    }

    fn entries(&self) -> usize {
        with_rows!(self, rows => rows.entries())
    }

    #[inline]
    fn entries_of(&self, i: usize) -> usize {
        with_rows!(self, rows => rows.row(i).0.len())
    }

    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        with_rows!(self, rows => rows.dot(i, w))
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        with_rows!(self, rows => rows.add(i, factor, w));
    }

    fn each(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        with_rows!(self, rows => {
            let (indices, values) = rows.row(i);
            indices.iter().zip(values).for_each(|(&j, v)| each(j as usize, v.get()));
        });
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        with_rows!(self, rows => rows.prefetch(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_factor_zero_are_left_out() {
        // (1, 2, 0), (0, 3, 4), no entry.
        let matrix = Compressed::new(vec![0, 2, 4, 4], vec![0, 1, 1, 2], vec![1.0, 2.0, 3.0, 4.0], 3);
        let found = matrix.times(&[10.0, 0.0, 0.5]);
        let entries = |i: usize| {
            let mut entries = Vec::new();
            found.each(i, |j, v| entries.push((j, v)));
            entries
        };
        assert_eq!((found.len(), found.width(), found.entries()), (3, 2, 2));
        assert_eq!([entries(0), entries(1), entries(2)], [vec![(0, 10.0)], vec![(1, 2.0)], vec![]]);
        let none = matrix.times(&[0.0; 3]);
        assert_eq!((none.len(), none.width(), none.entries()), (3, 0, 0));
    }
}
