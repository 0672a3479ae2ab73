//! Compressed rows with validated column numbers, so that products need no further checks.
//!
//! Sums use four interleaved partial sums and no fused multiply-adds, so that every machine returns
//! the same bits.

pub mod sliced;

use std::borrow::Cow;

/// A stored number.
pub trait Value: Copy + Send + Sync + 'static {
    /// The number.
    fn get(self) -> f64;
}

impl Value for f64 {
    #[inline(always)]
    fn get(self) -> f64 {
        self
    }
}

impl Value for f32 {
    #[inline(always)]
    fn get(self) -> f64 {
        f64::from(self)
    }
}

/// The number 1, which takes no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct One;

impl Value for One {
    #[inline(always)]
    fn get(self) -> f64 {
        1.0
    }
}

/// A matrix in compressed rows, with borrowed or owned arrays.
#[derive(Clone, Debug)]
pub struct SparseRows<'a, V: Value> {
    offsets: Cow<'a, [usize]>,
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [V]>,
    columns: usize,
}

impl<'a, V: Value> SparseRows<'a, V> {
    /// A matrix whose row `i` has `values[k]` in column `indices[k]` for `k` in
    /// `offsets[i]..offsets[i + 1]`.
    ///
    /// # Panics
    ///
    /// When offsets do not ascend from 0 to the number of entries, the numbers of values and
    /// indices differ, or a column is not less than `columns`.
    pub fn new(
        offsets: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [V]>>,
        columns: usize,
    ) -> Self {
        let (offsets, indices, values) = (offsets.into(), indices.into(), values.into());
        assert!(offsets.first() == Some(&0) && offsets.is_sorted(), "offsets ascend from 0");
        assert!(offsets.last() == Some(&indices.len()) && values.len() == indices.len(), "one value an index");
        assert!(indices.iter().all(|&j| (j as usize) < columns), "columns below {columns}");
        Self { offsets, indices, values, columns }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[V]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Computes `Σ_j row_ij w_j`.
    ///
    /// # Panics
    ///
    /// When `w` has fewer entries than the matrix has columns, or there is no row `i`.
    #[inline]
    pub fn dot(&self, i: usize, w: &[f64]) -> f64 {
        assert!(w.len() >= self.columns, "one weight a column");
        let (indices, values) = self.row(i);
        let (blocks, rest) = indices.as_chunks::<4>();
        let (value_blocks, value_rest) = values.as_chunks::<4>();
        let mut lanes = [0.0; 4];
        for (columns, values) in blocks.iter().zip(value_blocks) {
            for lane in 0..4 {
                // SAFETY: `new` found every column below `columns`, which `w` has entries for.
                lanes[lane] += values[lane].get() * unsafe { *w.get_unchecked(columns[lane] as usize) };
            }
        }
        for (lane, (&j, value)) in rest.iter().zip(value_rest).enumerate() {
            // SAFETY: as above.
            lanes[lane] += value.get() * unsafe { *w.get_unchecked(j as usize) };
        }
        (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    }

    /// Computes `w_j += factor · row_ij`.
    ///
    /// # Panics
    ///
    /// As [`SparseRows::dot`].
    #[inline]
    pub fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        assert!(w.len() >= self.columns, "one weight a column");
        let (indices, values) = self.row(i);
        for (&j, value) in indices.iter().zip(values) {
            // SAFETY: `new` found every column below `columns`, which `w` has entries for.
            unsafe { *w.get_unchecked_mut(j as usize) += factor * value.get() };
        }
    }

    /// Prefetches row `i` for a use soon after; a row that does not exist is ignored.
    #[inline]
    pub fn prefetch(&self, i: usize) {
        if i + 1 < self.offsets.len() {
            let (indices, values) = self.row(i);
            prefetch(indices);
            prefetch(values);
        }
    }
}

/// Number of cache lines that [`prefetch`] requests; the hardware prefetches the following ones.
const LINES: usize = 12;

/// Prefetches the beginning of a slice for a use soon after.
#[inline]
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of_val(slice).div_ceil(64).min(LINES) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address is harmless; these are inside the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().cast::<i8>().add(64 * line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> SparseRows<'static, f32> {
        let indices = vec![0, 2, 3, 4, 6, 1, 5];
        SparseRows::new(vec![0, 5, 5, 7], indices, vec![1.0, -2.0, 0.5, 4.0, 3.0, 2.0, -1.0], 7)
    }

    #[test]
    fn products_are_those_of_the_dense_matrix() {
        let rows = rows();
        let w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!([0, 1, 2].map(|i| rows.dot(i, &w)), [1.0 - 6.0 + 2.0 + 20.0 + 21.0, 0.0, 4.0 - 6.0]);
        let mut sum = w;
        rows.add(0, 2.0, &mut sum);
        assert_eq!(sum, [3.0, 2.0, -1.0, 5.0, 13.0, 6.0, 13.0]);
        rows.prefetch(9);
        assert_eq!((rows.len(), rows.entries(), rows.columns()), (3, 7, 7));
    }

    #[test]
    fn ones_take_no_memory_and_count_as_one() {
        let rows = SparseRows::new(vec![0, 3], vec![0, 1, 3], vec![One; 3], 4);
        assert_eq!(rows.dot(0, &[1.0, 2.0, 4.0, 8.0]), 11.0);
        assert_eq!(size_of_val(rows.row(0).1), 0);
    }

    #[test]
    #[should_panic(expected = "columns below 2")]
    fn a_column_too_far_is_refused() {
        let _ = SparseRows::new(vec![0, 1], vec![2], vec![1.0], 2);
    }

    #[test]
    #[should_panic(expected = "one weight a column")]
    fn too_few_weights_are_refused() {
        let _ = rows().dot(0, &[0.0; 6]);
    }
}
