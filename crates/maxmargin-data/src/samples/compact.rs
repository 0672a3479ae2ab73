//! The rule for the cheapest storage form, and conversions of form and width.

use super::{Samples, Storage};
use crate::run::{Cancelled, RunControl};
use sprs::CsMatI;

/// Above this number of bytes a dense form is used only if it is not larger than the sparse one.
const LARGE_BYTES: u128 = 1 << 30;

/// Matrices with fewer columns are never packed.
const MANY_COLUMNS: usize = 1 << 22;

/// Dense rows larger than this (64 MiB) after widening may change to the sparse form.
const WIDENED_BYTES: u128 = 1 << 26;

/// Returns whether `rows × features` values with `entries` nonzeros are better stored densely.
///
/// Dense rows multiply faster and need no indices. Below a gibibyte they may therefore take twice
/// the bytes of compressed rows (12 per entry, 8 per row), above it no more bytes. A dense value
/// takes 4 bytes if every value is exact in `f32` (`single`), otherwise 8.
pub(crate) fn prefers_dense(rows: usize, features: usize, entries: usize, single: bool) -> bool {
    let dense = (rows as u128 * features as u128).saturating_mul(if single { 4 } else { 8 });
    let sparse = entries as u128 * 12 + rows as u128 * 8;
    let allowed = if dense > LARGE_BYTES { sparse } else { 2 * sparse };
    dense <= allowed
}

/// Returns whether `value` is exact in `f32`.
pub(crate) fn is_single(value: f64) -> bool {
    f64::from(value as f32) == value
}

impl Samples {
    /// Converts the matrix to its cheapest form.
    ///
    /// The form is dense if it takes at most twice the bytes of compressed rows (12 bytes per
    /// entry, 8 per row) and is smaller than a gibibyte, or if it takes no more bytes than
    /// compressed rows. A dense value takes 4 bytes if all values are exact in `f32`, otherwise 8.
    /// Explicit zeros of compressed rows are dropped. The numbers do not change (but −0 becomes 0
    /// in compressed rows).
    #[must_use]
    pub fn compact(self) -> Self {
        let single = self.is_single();
        let entries = self.non_zeros();
        if prefers_dense(self.rows, self.features, entries, single) { self.into_dense(single) } else { self.into_sparse(entries) }
    }

    /// The compressed rows without empty columns, and the original number of each remaining column.
    /// `None` if there are not many more columns than entries, or rows are dense.
    ///
    /// A few bytes of a file can contain feature 4,000,000,000. Code that stores something for each
    /// feature uses this form instead.
    pub fn packed(&self) -> Option<(Self, Vec<u32>)> {
        let Storage::Sparse(matrix) = &self.storage else { return None };
        if self.features <= (16 * matrix.nnz()).max(MANY_COLUMNS) {
            return None;
        }
        let mut columns = matrix.indices().to_vec();
        columns.sort_unstable();
        columns.dedup();
        let place = |column: &u32| columns.partition_point(|c| c < column) as u32;
        let indices = matrix.indices().iter().map(place).collect();
        let offsets = matrix.proper_indptr().into_owned();
        let packed = CsMatI::new((self.rows, columns.len()), offsets, indices, matrix.data().to_vec());
        Some((Self::from_parts(self.rows, columns.len(), Storage::Sparse(packed)), columns))
    }

    /// The same rows with `features` columns: zeros are added on the right, or entries beyond are
    /// dropped.
    ///
    /// A model of `n` features reads a file with more or fewer features this way. The form does not
    /// change, except for dense rows that would become large with zeros: a model may have four
    /// thousand million features.
    #[must_use]
    pub fn with_features(self, features: usize) -> Self {
        if features == self.features {
            return self;
        }
        let widened = (self.rows as u128 * features as u128).saturating_mul(8);
        let dense = !matches!(self.storage, Storage::Sparse(_));
        if dense && features > self.features && widened > WIDENED_BYTES && u32::try_from(features).is_ok() {
            let entries = self.non_zeros();
            if !prefers_dense(self.rows, features, entries, self.is_single()) {
                return self.into_sparse(entries).with_features(features);
            }
        }
        let Self { rows, features: old, storage } = self;
        let storage = match storage {
            Storage::Dense32(values) => Storage::Dense32(resize(&values, rows, old, features)),
            Storage::Dense64(values) => Storage::Dense64(resize(&values, rows, old, features)),
            Storage::Sparse(matrix) => {
                let (offsets, mut indices, mut values) = matrix.into_raw_storage();
                let offsets = if features < old {
                    keep(offsets, &mut indices, &mut values, |j, _| (j as usize) < features)
                } else {
                    offsets
                };
                Storage::Sparse(CsMatI::new((rows, features), offsets, indices, values))
            }
        };
        Self { rows, features, storage }
    }

    fn is_single(&self) -> bool {
        match &self.storage {
            Storage::Dense32(_) => true,
            Storage::Dense64(values) => values.iter().copied().all(is_single),
            Storage::Sparse(matrix) => matrix.data().iter().copied().all(is_single),
        }
    }

    pub(super) fn into_dense(self, single: bool) -> Self {
        let Self { rows, features, storage } = self;
        let storage = match storage {
            Storage::Dense64(values) if single => Storage::Dense32(values.into_iter().map(|v| v as f32).collect()),
            Storage::Sparse(matrix) => {
                let entries = matrix.indptr().into_raw_storage().windows(2).enumerate().flat_map(|(i, range)| {
                    let range = range[0]..range[1];
                    let columns = matrix.indices()[range.clone()].iter();
                    columns.zip(&matrix.data()[range]).map(move |(&j, &v)| (i * features + j as usize, v))
                });
                if single {
                    let mut values = vec![0.0_f32; rows * features];
                    entries.for_each(|(at, v)| values[at] = v as f32);
                    Storage::Dense32(values)
                } else {
                    let mut values = vec![0.0_f64; rows * features];
                    entries.for_each(|(at, v)| values[at] = v);
                    Storage::Dense64(values)
                }
            }
            dense => dense,
        };
        Self { rows, features, storage }
    }

    fn into_sparse(self, entries: usize) -> Self {
        let Self { rows, features, storage } = self;
        let control = RunControl::unlimited();
        let matrix = match storage {
            Storage::Sparse(matrix) => {
                let (mut offsets, mut indices, mut values) = matrix.into_raw_storage();
                if entries < values.len() {
                    offsets = keep(offsets, &mut indices, &mut values, |_, v| v != 0.0);
                }
                CsMatI::new((rows, features), offsets, indices, values)
            }
            // Column numbers must fit in u32; a wider dense matrix stays dense.
            dense if u32::try_from(features).is_err() => return Self { rows, features, storage: dense },
            Storage::Dense32(values) => compressed(&values, rows, features, entries, &control).expect("unlimited"),
            Storage::Dense64(values) => compressed(&values, rows, features, entries, &control).expect("unlimited"),
        };
        Self { rows, features, storage: Storage::Sparse(matrix) }
    }
}

/// Returns the compressed rows of an array with so many values that are not 0.
pub(super) fn compressed<T: Copy + Into<f64>>(
    array: &[T],
    rows: usize,
    features: usize,
    entries: usize,
    control: &RunControl,
) -> Result<CsMatI<f64, u32, usize>, Cancelled> {
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    // Every value of a row is written, and kept if it is not 0: which are 0 follows no pattern.
    let (mut row_indices, mut row_values) = (vec![0_u32; features], vec![0.0_f64; features]);
    for row in array.chunks(features.max(1)) {
        control.check(features as u64)?;
        let mut count = 0;
        for (column, value) in row.iter().map(|&value| value.into()).enumerate() {
            (row_indices[count], row_values[count]) = (column as u32, value);
            count += usize::from(value != 0.0);
        }
        indices.extend_from_slice(&row_indices[..count]);
        values.extend_from_slice(&row_values[..count]);
        offsets.push(indices.len());
    }
    // Rows without features are no chunks.
    offsets.resize(rows + 1, indices.len());
    Ok(CsMatI::new((rows, features), offsets, indices, values))
}

/// Keeps the entries of compressed rows for which `wanted(column, value)` is true, and returns the
/// new offsets.
fn keep(mut offsets: Vec<usize>, indices: &mut Vec<u32>, values: &mut Vec<f64>, wanted: impl Fn(u32, f64) -> bool) -> Vec<usize> {
    let mut kept = 0;
    let mut begin = 0;
    for end in offsets.iter_mut().skip(1) {
        for at in begin..*end {
            if wanted(indices[at], values[at]) {
                (indices[kept], values[kept]) = (indices[at], values[at]);
                kept += 1;
            }
        }
        begin = *end;
        *end = kept;
    }
    indices.truncate(kept);
    values.truncate(kept);
    offsets
}

fn resize<T: Copy + Default>(values: &[T], rows: usize, old: usize, new: usize) -> Vec<T> {
    let mut resized = Vec::with_capacity(rows * new);
    for i in 0..rows {
        resized.extend_from_slice(&values[i * old..i * old + old.min(new)]);
        resized.resize((i + 1) * new, T::default());
    }
    resized
}
