//! Which form is cheapest: the rule, and changing the form or the width of a matrix.

use super::{Samples, Storage};
use sprs::CsMatI;

/// Above this many bytes a dense form must not be larger than the sparse one.
const LARGE_BYTES: u128 = 1 << 30;

/// Fewer columns than this are never packed.
const MANY_COLUMNS: usize = 1 << 22;

/// Dense rows that are widened beyond this (64 MiB) are looked at again.
const WIDENED_BYTES: u128 = 1 << 26;

/// Whether `rows × features` values of which `entries` are not zero are better stored densely.
///
/// Dense rows are faster to multiply and need no indices, so they may cost twice the bytes of
/// compressed rows (12 an entry, 8 a row) while they stay below a gibibyte, and no more bytes above
/// that. A dense value takes 4 bytes when every value is exact in `f32` (`single`), otherwise 8.
pub(crate) fn prefers_dense(rows: usize, features: usize, entries: usize, single: bool) -> bool {
    let dense = (rows as u128 * features as u128).saturating_mul(if single { 4 } else { 8 });
    let sparse = entries as u128 * 12 + rows as u128 * 8;
    let allowed = if dense > LARGE_BYTES { sparse } else { 2 * sparse };
    dense <= allowed
}

/// Whether `value` survives the trip through `f32`.
pub(crate) fn is_single(value: f64) -> bool {
    f64::from(value as f32) == value
}

impl Samples {
    /// The same matrix in its cheapest form.
    ///
    /// Dense when that takes at most twice the bytes of compressed rows (12 bytes an entry, 8 a
    /// row) and is below a gibibyte, or takes no more bytes than compressed rows; a dense value
    /// takes 4 bytes if all values are exactly representable in `f32`, else 8. Explicit zeros of
    /// compressed rows are dropped. The numbers do not change (but −0 becomes 0 in compressed
    /// rows).
    #[must_use]
    pub fn compact(self) -> Self {
        let single = self.is_single();
        let entries = self.non_zeros();
        if prefers_dense(self.rows, self.features, entries, single) { self.into_dense(single) } else { self.into_sparse(entries) }
    }

    /// Compressed rows without the columns in which nothing is stored, and the number of each
    /// column that stays; `None` where columns are not many more than entries, or rows are dense.
    ///
    /// A few bytes of a file may name feature 4,000,000,000: whoever keeps something for each
    /// feature works on this instead.
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
    /// A model of `n` features sees a file with more or fewer of them this way. The form stays as
    /// it is, but for dense rows that would become large with zeros: a model may have four thousand
    /// million features.
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

    fn into_dense(self, single: bool) -> Self {
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
        if let Storage::Sparse(matrix) = self.storage {
            let (mut offsets, mut indices, mut values) = matrix.into_raw_storage();
            if entries < values.len() {
                offsets = keep(offsets, &mut indices, &mut values, |_, v| v != 0.0);
            }
            let matrix = CsMatI::new((self.rows, self.features), offsets, indices, values);
            return Self { storage: Storage::Sparse(matrix), ..self };
        }
        // Column numbers must fit u32; a dense matrix wider than that stays as it is.
        if u32::try_from(self.features).is_err() {
            return self;
        }
        let mut offsets = Vec::with_capacity(self.rows + 1);
        offsets.push(0);
        let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for i in 0..self.rows {
            self.row(i).for_each(|j, v| {
                indices.push(j as u32);
                values.push(v);
            });
            offsets.push(indices.len());
        }
        let matrix = CsMatI::new((self.rows, self.features), offsets, indices, values);
        Self { storage: Storage::Sparse(matrix), ..self }
    }
}

/// Keeps the entries of compressed rows that `wanted(column, value)` accepts and returns the new
/// offsets.
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
