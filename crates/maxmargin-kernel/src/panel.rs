//! Samples in feature-major tiles, and products of a few rows with a part of a tile.
//!
//! The bits of a dot product depend only on the two samples, not on the block it is computed in: every product is a chain of
//! fused multiply-adds over the features in ascending order, in pieces of 512. The matrix multiplication behind it takes other
//! ways for vectors, for a single feature and for small blocks (up to 4,096 products), so no such shape is ever handed to it:
//! blocks have at least [`MIN_ROWS`] rows, [`MIN_COLUMNS`] columns and [`MIN_DEPTH`] features, padded with zeros.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use maxmargin_simd::level::{Level, detect};
use std::ops::Range;

/// Samples per tile; a tile of dot products with as many rows stays in the second-level cache.
pub(crate) const TILE: usize = 256;
/// Least number of rows of a product.
pub(crate) const MIN_ROWS: usize = 8;
/// Least number of columns of a product.
pub(crate) const MIN_COLUMNS: usize = 32;
/// Least number of features, so that the smallest product is beyond 4,096 multiplications.
const MIN_DEPTH: usize = 24;

/// A matrix of `len` samples, feature-major inside tiles of [`TILE`] samples, padded with zeros.
#[derive(Clone, Debug)]
pub(crate) struct Panel<T> {
    width: usize,
    depth: usize,
    values: Vec<T>,
}

/// `f32` or `f64`.
pub(crate) trait Real:
    faer::traits::ComplexField + Copy + Default + std::ops::Mul<Output = Self> + std::ops::AddAssign
{
    /// The number 1.
    const ONE: Self;
}
impl Real for f32 {
    const ONE: Self = 1.0;
}
impl Real for f64 {
    const ONE: Self = 1.0;
}

/// The padded number of features.
pub(crate) fn padded_depth(features: usize) -> usize {
    features.max(MIN_DEPTH)
}

/// The number of rows that a product of `rows` rows is computed with.
pub(crate) fn padded_rows(rows: usize) -> usize {
    rows.max(MIN_ROWS)
}

impl<T: Real> Panel<T> {
    /// An all-zero panel.
    pub(crate) fn zeros(len: usize, features: usize) -> Self {
        let width = if len >= TILE { TILE } else { len.next_multiple_of(MIN_COLUMNS).max(MIN_COLUMNS) };
        let depth = padded_depth(features);
        Self { width, depth, values: vec![T::default(); len.div_ceil(width) * width * depth] }
    }

    /// The panel with every value converted.
    pub(crate) fn map<S: Real>(&self, convert: impl Fn(T) -> S) -> Panel<S> {
        Panel { width: self.width, depth: self.depth, values: self.values.iter().map(|&v| convert(v)).collect() }
    }

    /// Samples per tile.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Padded number of features.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Bytes of values.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// Sets feature `k` of sample `i`.
    pub(crate) fn set(&mut self, i: usize, k: usize, value: T) {
        let at = (i / self.width) * self.width * self.depth + k * self.width + i % self.width;
        self.values[at] = value;
    }

    /// Tile `t`: feature `k` of its sample `j` is at `k * width + j`.
    pub(crate) fn tile(&self, t: usize) -> &[T] {
        let size = self.width * self.depth;
        &self.values[t * size..(t + 1) * size]
    }

    /// The features of sample `i`, padding included.
    pub(crate) fn sample(&self, i: usize) -> impl Iterator<Item = T> + '_ {
        self.tile(i / self.width)[i % self.width..].iter().step_by(self.width).copied()
    }
}

/// `out = a · tile[:, columns]`: `a` is row-major `rows × depth`, the tile feature-major `depth × width`, `out` row-major.
///
/// `rows` and `columns.len()` are at least [`MIN_ROWS`] and [`MIN_COLUMNS`].
pub(crate) fn product<T: Real>(a: &[T], tile: &[T], depth: usize, width: usize, columns: Range<usize>, out: &mut [T]) {
    let (rows, count) = (a.len() / depth, columns.len());
    debug_assert!(rows >= MIN_ROWS && count >= MIN_COLUMNS && out.len() == rows * count);
    let tile = &tile[columns.start..];
    if detect() >= Level::Avx2 {
        let dst = MatMut::from_row_major_slice_mut(out, rows, count);
        let lhs = MatRef::from_row_major_slice(a, rows, depth);
        let rhs = MatRef::from_row_major_slice_with_stride(tile, depth, count, width);
        matmul(dst, Accum::Replace, lhs, rhs, T::ONE, Par::Seq);
    } else {
        portable(a, tile, depth, width, count, out);
    }
}

/// [`product`] in plain Rust: 16 columns at a time stay in registers.
fn portable<T: Real>(a: &[T], tile: &[T], depth: usize, width: usize, count: usize, out: &mut [T]) {
    for (row, out) in a.chunks_exact(depth).zip(out.chunks_exact_mut(count)) {
        for (c, out) in out.chunks_mut(16).enumerate() {
            let mut sums = [T::default(); 16];
            for (k, &v) in row.iter().enumerate() {
                let at = k * width + c * 16;
                for (sum, &w) in sums.iter_mut().zip(&tile[at..at + out.len()]) {
                    *sum += v * w;
                }
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// The part of a tile that covers `wanted` and is wide enough for [`product`].
pub(crate) fn widen(wanted: Range<usize>, width: usize) -> Range<usize> {
    let start = wanted.start.min(width - MIN_COLUMNS);
    start..wanted.end.max(start + MIN_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_product_is_the_product() {
        let (depth, width) = (24, 64);
        let a: Vec<f64> = (0..8 * depth).map(|v| (v % 7) as f64 - 3.0).collect();
        let tile: Vec<f64> = (0..depth * width).map(|v| (v % 11) as f64 - 5.0).collect();
        for columns in [0..64, 3..40, 31..63] {
            let (mut x, mut y) = (vec![0.0; 8 * columns.len()], vec![0.0; 8 * columns.len()]);
            product(&a, &tile, depth, width, columns.clone(), &mut x);
            portable(&a, &tile[columns.start..], depth, width, columns.len(), &mut y);
            assert_eq!(x, y);
        }
    }
}
