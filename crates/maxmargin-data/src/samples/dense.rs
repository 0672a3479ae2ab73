//! Dense copies of rows, for code that uses panels.

use super::{Row, Samples};
use std::ops::Range;

impl Row<'_> {
    /// Writes the row to `out`, zeros included.
    ///
    /// # Panics
    ///
    /// When `out` is shorter than the number of features of the row (for a sparse row: its last
    /// stored column).
    pub fn write_dense(self, out: &mut [f64]) {
        match self {
            Row::Dense32(values) => {
                let (head, tail) = out.split_at_mut(values.len());
                head.iter_mut().zip(values).for_each(|(o, v)| *o = f64::from(*v));
                tail.fill(0.0);
            }
            Row::Dense64(values) => {
                let (head, tail) = out.split_at_mut(values.len());
                head.copy_from_slice(values);
                tail.fill(0.0);
            }
            Row::Sparse(indices, values) => {
                out.fill(0.0);
                indices.iter().zip(values).for_each(|(j, v)| out[*j as usize] = *v);
            }
        }
    }

    /// Writes the row to `out`, zeros included, each value rounded to `f32`.
    ///
    /// # Panics
    ///
    /// As [`Row::write_dense`].
    pub fn write_dense32(self, out: &mut [f32]) {
        match self {
            Row::Dense32(values) => {
                let (head, tail) = out.split_at_mut(values.len());
                head.copy_from_slice(values);
                tail.fill(0.0);
            }
            Row::Dense64(values) => {
                let (head, tail) = out.split_at_mut(values.len());
                head.iter_mut().zip(values).for_each(|(o, v)| *o = *v as f32);
                tail.fill(0.0);
            }
            Row::Sparse(indices, values) => {
                out.fill(0.0);
                indices.iter().zip(values).for_each(|(j, v)| out[*j as usize] = *v as f32);
            }
        }
    }
}

impl Samples {
    /// A row-major copy of the rows `rows`, zeros included.
    ///
    /// # Panics
    ///
    /// When the range exceeds [`Samples::len`].
    pub fn dense_rows(&self, rows: Range<usize>) -> Vec<f64> {
        let mut values = vec![0.0; rows.len() * self.features()];
        if self.features() > 0 {
            let panel = values.chunks_exact_mut(self.features());
            rows.zip(panel).for_each(|(i, out)| self.row(i).write_dense(out));
        }
        values
    }

    /// A row-major copy of the rows `rows`, zeros included, each value rounded to `f32`.
    ///
    /// # Panics
    ///
    /// When the range exceeds [`Samples::len`].
    pub fn dense_rows32(&self, rows: Range<usize>) -> Vec<f32> {
        let mut values = vec![0.0; rows.len() * self.features()];
        if self.features() > 0 {
            let panel = values.chunks_exact_mut(self.features());
            rows.zip(panel).for_each(|(i, out)| self.row(i).write_dense32(out));
        }
        values
    }
}
