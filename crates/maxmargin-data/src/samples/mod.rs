//! The sample matrix: one row per sample, dense or compressed sparse rows.

mod array;
mod compact;
mod dense;
mod foreign;
mod row;
mod stored;

pub use array::ArrayForm;
pub(crate) use compact::{is_single, prefers_dense};
pub use row::Row;

use crate::run::{Cancelled, RunControl};
use sprs::CsMatI;

/// Operations counted for reading a stored value.
const VALUE: u64 = 16;

/// The storage of the values of [`Samples`].
///
/// All forms store the numbers exactly: `Dense32` is used only where every value is exact in `f32`.
#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// Row-major `rows × features`, every value exactly representable in `f32`.
    Dense32(Vec<f32>),
    /// Row-major `rows × features`.
    Dense64(Vec<f64>),
    /// Compressed sparse rows; column indices ascend inside a row.
    Sparse(CsMatI<f64, u32, usize>),
}

/// An immutable matrix of samples: `len` rows by `features` columns, every value finite.
///
/// Deserialisation validates the same conditions as the constructors, so that a corrupted file
/// cannot produce an invalid matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    rows: usize,
    features: usize,
    storage: Storage,
}

/// Validates compressed rows: offsets, indices, finite values.
fn check_rows(features: usize, offsets: &[usize], indices: &[u32], values: &[f64]) -> Result<(), SamplesError> {
    let broken = |what: &str| Err(SamplesError::Structure(what.to_owned()));
    if indices.len() != values.len() {
        return broken("there are not as many indices as values");
    }
    if offsets.first() != Some(&0) || offsets.last() != Some(&indices.len()) || !offsets.is_sorted() {
        return broken("row offsets do not ascend from 0 to the number of entries");
    }
    for (row, range) in offsets.windows(2).enumerate() {
        let row_indices = &indices[range[0]..range[1]];
        if !row_indices.is_sorted_by(|a, b| a < b) || row_indices.last().is_some_and(|&j| j as usize >= features) {
            return Err(SamplesError::Structure(format!("indices of row {row} do not ascend below {features}")));
        }
        let row_values = &values[range[0]..range[1]];
        if let Some(at) = row_values.iter().position(|v| !v.is_finite()) {
            return Err(SamplesError::NotFinite { row, feature: row_indices[at] as usize, value: row_values[at] });
        }
    }
    Ok(())
}

/// The reasons for which values cannot form a sample matrix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplesError {
    /// The number of values is not `rows × features`.
    #[error("{values} values cannot fill {rows} rows of {features} features")]
    Shape {
        /// Number of values.
        values: usize,
        /// Requested number of rows.
        rows: usize,
        /// Requested number of columns.
        features: usize,
    },
    /// A value is infinite or NaN.
    #[error("row {row}, feature {feature}: value {value} is not finite")]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        feature: usize,
        /// The value.
        value: f64,
    },
    /// Rows have different lengths.
    #[error("row {row} has {found} values, but the rows before it have {expected}")]
    Ragged {
        /// The first row that differs, from 0.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the rows before it.
        expected: usize,
    },
    /// The compressed rows are malformed.
    #[error("not valid compressed rows: {0}")]
    Structure(String),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Samples {
    /// A dense matrix from row-major `values`.
    ///
    /// # Errors
    ///
    /// When the shape does not match or a value is not finite.
    pub fn from_dense(rows: usize, features: usize, values: Vec<f64>) -> Result<Self, SamplesError> {
        if rows.checked_mul(features) != Some(values.len()) {
            return Err(SamplesError::Shape { values: values.len(), rows, features });
        }
        let single = array::contents(&values, features, &RunControl::unlimited())?.single;
        Ok(Self { rows, features, storage: Storage::Dense64(values) }.into_dense(single))
    }

    /// A matrix of compressed rows. `offsets` has one entry more than there are rows; `indices`
    /// ascend strictly within each row.
    ///
    /// The matrix is stored in this form; [`Samples::compact`] chooses the smaller form.
    ///
    /// # Errors
    ///
    /// When offsets or indices are malformed or a value is not finite.
    pub fn from_sparse(features: usize, offsets: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Self, SamplesError> {
        check_rows(features, &offsets, &indices, &values)?;
        let rows = offsets.len() - 1;
        let matrix = CsMatI::try_new((rows, features), offsets, indices, values)
            .map_err(|(_, _, _, e)| SamplesError::Structure(e.to_string()))?;
        Ok(Self { rows, features, storage: Storage::Sparse(matrix) })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of columns.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The storage, for code with a fast path for each form.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Row `i`.
    ///
    /// # Panics
    ///
    /// When `i` is not below [`Samples::len`].
    pub fn row(&self, i: usize) -> Row<'_> {
        assert!(i < self.rows, "row {i} of {}", self.rows);
        let width = self.features;
        match &self.storage {
            Storage::Dense32(values) => Row::Dense32(&values[i * width..(i + 1) * width]),
            Storage::Dense64(values) => Row::Dense64(&values[i * width..(i + 1) * width]),
            Storage::Sparse(matrix) => {
                let range = matrix.indptr().outer_inds_sz(i);
                Row::Sparse(&matrix.indices()[range.clone()], &matrix.data()[range])
            }
        }
    }

    /// Calls `each` with every row and its number. It can be cancelled between groups of rows: a
    /// value costs a few nanoseconds.
    ///
    /// # Errors
    ///
    /// When `control` cancels the work.
    pub fn each_row(&self, control: &RunControl, mut each: impl FnMut(usize, Row<'_>)) -> Result<(), Cancelled> {
        for i in 0..self.rows {
            let row = self.row(i);
            control.check(VALUE * (1 + row.stored_values() as u64))?;
            each(i, row);
        }
        Ok(())
    }

    /// Number of non-zero entries.
    pub fn non_zeros(&self) -> usize {
        match &self.storage {
            Storage::Dense32(values) => values.iter().filter(|v| **v != 0.0).count(),
            Storage::Dense64(values) => values.iter().filter(|v| **v != 0.0).count(),
            Storage::Sparse(matrix) => matrix.data().iter().filter(|v| **v != 0.0).count(),
        }
    }

    /// Bytes of all values and indices.
    pub fn bytes(&self) -> usize {
        match &self.storage {
            Storage::Dense32(values) => size_of_val(values.as_slice()),
            Storage::Dense64(values) => size_of_val(values.as_slice()),
            Storage::Sparse(matrix) => 12 * matrix.nnz() + size_of::<usize>() * (self.rows + 1),
        }
    }

    /// A matrix of parts that are known to be valid.
    pub(crate) fn from_parts(rows: usize, features: usize, storage: Storage) -> Self {
        Self { rows, features, storage }
    }

    /// The rows `order[0], order[1], …` as a new matrix of the same form.
    ///
    /// # Panics
    ///
    /// When an index is out of range.
    #[must_use]
    pub fn select(&self, order: &[usize]) -> Self {
        match self.try_select(order, &RunControl::unlimited()) {
            Ok(selected) => selected,
            Err(Cancelled) => unreachable!("an unlimited run is not cancelled"),
        }
    }

    /// [`Samples::select`] that can be cancelled between groups of rows.
    ///
    /// # Errors
    ///
    /// When `control` cancels the work.
    ///
    /// # Panics
    ///
    /// When an index is out of range.
    pub fn try_select(&self, order: &[usize], control: &RunControl) -> Result<Self, Cancelled> {
        let width = self.features;
        let storage = match &self.storage {
            Storage::Dense32(values) => Storage::Dense32(select_dense(values, width, order, control)?),
            Storage::Dense64(values) => Storage::Dense64(select_dense(values, width, order, control)?),
            Storage::Sparse(matrix) => {
                let entries = order.iter().map(|&i| matrix.indptr().outer_inds_sz(i).len()).sum();
                let mut offsets = Vec::with_capacity(order.len() + 1);
                offsets.push(0);
                let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
                for &i in order {
                    let range = matrix.indptr().outer_inds_sz(i);
                    control.check(VALUE * (1 + range.len() as u64))?;
                    indices.extend_from_slice(&matrix.indices()[range.clone()]);
                    values.extend_from_slice(&matrix.data()[range]);
                    offsets.push(indices.len());
                }
                Storage::Sparse(CsMatI::new((order.len(), width), offsets, indices, values))
            }
        };
        Ok(Self { rows: order.len(), features: width, storage })
    }

    /// The rows of this matrix, followed by those of `below`, with the larger number of columns.
    /// The result is sparse if either is, otherwise dense in the narrowest type that holds all
    /// values.
    ///
    /// # Errors
    ///
    /// When all rows together have too many entries.
    pub fn stacked(&self, below: &Self) -> Result<Self, SamplesError> {
        let (rows, features) = (self.rows + below.rows, self.features.max(below.features));
        let all = || (0..self.rows).map(|i| self.row(i)).chain((0..below.rows).map(|i| below.row(i)));
        let sparse = |samples: &Self| matches!(samples.storage, Storage::Sparse(_));
        if sparse(self) || sparse(below) {
            let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in all() {
                row.for_each(|j, v| {
                    indices.push(j as u32);
                    values.push(v);
                });
                offsets.push(indices.len());
            }
            return Self::from_sparse(features, offsets, indices, values);
        }
        let mut values = vec![0.0; rows * features];
        for (i, row) in all().enumerate() {
            row.for_each(|j, v| values[i * features + j] = v);
        }
        Self::from_dense(rows, features, values)
    }
}

fn select_dense<T: Copy>(values: &[T], width: usize, order: &[usize], control: &RunControl) -> Result<Vec<T>, Cancelled> {
    let mut selected = Vec::with_capacity(order.len() * width);
    for &i in order {
        control.check(VALUE * (1 + width as u64))?;
        selected.extend_from_slice(&values[i * width..(i + 1) * width]);
    }
    Ok(selected)
}

#[cfg(test)]
mod tests;
