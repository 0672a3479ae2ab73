//! Precomputed kernel values in the data: LIBSVM's `label 0:serial 1:K(x,x1) 2:K(x,x2) …`.

use crate::KernelError;
use maxmargin_data::{RunControl, Samples};
use std::ops::Range;

/// Largest relative difference of `K_ij` and `K_ji` that counts as rounding.
const ASYMMETRY: f64 = 1e-5;

/// The full symmetric matrix in `f64`.
#[derive(Clone, Debug)]
pub(crate) struct Precomputed {
    len: usize,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    largest: f64,
}

/// The serial number of row `i`: a column of every row.
pub(crate) fn serial(samples: &Samples, i: usize) -> Result<usize, KernelError> {
    let value = cell(samples, i, 0);
    let last = samples.features().saturating_sub(1);
    if value.fract() != 0.0 || value < 1.0 || value > last as f64 {
        let reason =
            format!("its serial number (column 0) is {value}, not an integer from 1 to {last}, the number of kernel columns");
        return Err(KernelError::Precomputed { row: i + 1, reason });
    }
    Ok(value as usize)
}

/// Precomputed rows with more columns are not expanded to dense rows: a few bytes of a file can
/// contain column 4,000,000,000.
const MANY_COLUMNS: usize = 1 << 22;

/// The positions of the columns of precomputed rows. With very many columns, only the columns that
/// are used have a position.
pub(crate) struct ColumnPlaces {
    /// The columns that are used, ascending; none where every column has a position.
    used: Option<Vec<usize>>,
    all: usize,
}

impl ColumnPlaces {
    /// Positions for the columns `serials` of `all` columns.
    pub(crate) fn new(serials: &[usize], all: usize) -> Self {
        let used = (all > MANY_COLUMNS).then(|| {
            let mut used = serials.to_vec();
            used.sort_unstable();
            used.dedup();
            used
        });
        Self { used, all }
    }

    /// Number of positions.
    pub(crate) fn len(&self) -> usize {
        self.used.as_ref().map_or(self.all, Vec::len)
    }

    /// The position of a column, if it has one.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        match &self.used {
            None => Some(column),
            Some(used) => used.binary_search(&column).ok(),
        }
    }
}

/// Column `k` of row `i`; 0 if it is not stored.
pub(crate) fn cell(samples: &Samples, i: usize, k: usize) -> f64 {
    use maxmargin_data::Row;
    match samples.row(i) {
        Row::Dense32(values) => values.get(k).copied().map_or(0.0, f64::from),
        Row::Dense64(values) => values.get(k).copied().unwrap_or(0.0),
        Row::Sparse(indices, values) => {
            u32::try_from(k).ok().and_then(|k| indices.binary_search(&k).ok()).map_or(0.0, |at| values[at])
        }
    }
}

impl Precomputed {
    /// Reads and validates the matrix: serial numbers in range, no value larger than the largest
    /// `f32`, symmetric up to rounding.
    pub(crate) fn new(samples: &Samples, control: &RunControl) -> Result<Self, KernelError> {
        let len = samples.len();
        let serials = (0..len).map(|i| serial(samples, i)).collect::<Result<Vec<_>, _>>()?;
        let mut values = vec![0.0; len * len];
        let columns = ColumnPlaces::new(&serials, samples.features());
        let places: Vec<usize> = serials.iter().filter_map(|&s| columns.place(s)).collect();
        let mut row = vec![0.0; columns.len()];
        samples.each_row(control, |i, stored| {
            row.fill(0.0);
            stored.for_each(|k, v| {
                if let Some(at) = columns.place(k) {
                    row[at] = v;
                }
            });
            for (to, &place) in values[i * len..(i + 1) * len].iter_mut().zip(&places) {
                *to = row[place];
            }
        })?;
        let diagonal: Vec<f64> = (0..len).map(|i| values[i * len + i]).collect();
        let mut matrix = Self { len, values, diagonal, largest: 0.0 };
        matrix.symmetrise(&serials)?;
        matrix.largest = matrix.values.iter().fold(0.0, |most, value| most.max(value.abs()));
        Ok(matrix)
    }

    /// The largest `|K_ij|`.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    /// Replaces `K_ij` and `K_ji` by their mean, in blocks that stay in cache.
    fn symmetrise(&mut self, serials: &[usize]) -> Result<(), KernelError> {
        const BLOCK: usize = 64;
        let n = self.len;
        for i0 in (0..n).step_by(BLOCK) {
            for j0 in (i0..n).step_by(BLOCK) {
                for i in i0..n.min(i0 + BLOCK) {
                    for j in j0.max(i)..n.min(j0 + BLOCK) {
                        let (a, b) = (self.values[i * n + j], self.values[j * n + i]);
                        if a.abs() > f64::from(f32::MAX) {
                            return Err(KernelError::TooLarge { row: i + 1, value: a });
                        }
                        let scale = a.abs().max(b.abs()).max((self.diagonal[i] * self.diagonal[j]).abs().sqrt());
                        if (a - b).abs() > ASYMMETRY * scale {
                            let (column, other_column) = (serials[j], serials[i]);
                            let (row, other_row, values) = (i + 1, j + 1, [a, b]);
                            return Err(KernelError::Asymmetric { row, column, other_row, other_column, values });
                        }
                        if a != b {
                            let mean = 0.5 * (a + b);
                            self.values[i * n + j] = mean;
                            self.values[j * n + i] = mean;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.values.len()
    }

    /// `K_ii`.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Computes `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        for (out, &i) in out.iter_mut().zip(rows) {
            let row = &self.values[i * self.len..(i + 1) * self.len][columns.clone()];
            out.iter_mut().zip(row).for_each(|(o, &v)| *o = v as f32);
        }
    }

    /// Computes `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        for (out, &i) in out.chunks_exact_mut(columns.len().max(1)).zip(rows) {
            out.copy_from_slice(&self.values[i * self.len..(i + 1) * self.len][columns.clone()]);
        }
    }
}
