//! All exact values of a matrix, in memory.

use super::kept::KeptValues;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::pages::{Pages, Piece};
use maxmargin_simd::sums::BLOCK;
use std::ops::Range;

/// Rows and columns of a tile. A tile and its mirror image fit in the second-level cache.
const TILE: usize = 64;

/// All values of a symmetric matrix, row-major.
#[derive(Debug)]
pub(crate) struct ExactValues {
    piece: Piece,
    /// Distance of rows: an odd number of cache lines, so that a column of lines is spread over all
    /// of a cache.
    stride: usize,
}

/// The distance of the rows of a matrix with so many columns.
fn stride_of(len: usize) -> usize {
    BLOCK * (len.div_ceil(BLOCK) | 1)
}

impl ExactValues {
    /// Computes the values of `len` samples: `fill(rows, columns, out)` writes a block. One half is
    /// computed, the other is its mirror image. The memory is from `pages`.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation.
    pub(crate) fn new(
        len: usize,
        operations: u64,
        pages: &Pages,
        par: Par,
        control: &RunControl,
        fill: impl Fn(&[usize], Range<usize>, &mut [f64]) + Sync,
    ) -> Result<Self, Cancelled> {
        let stride = stride_of(len);
        let mut piece = pages.take(8 * len * stride);
        let values: &mut [f64] = bytemuck::cast_slice_mut(&mut piece);
        // Tiles of rows between two checks for cancellation.
        let together = 4 * par.threads();
        for (at, values) in values.chunks_mut(together * TILE * stride).enumerate() {
            control.check(operations.saturating_mul(values.len() as u64 / 2))?;
            par.for_chunks(values, TILE * stride, |t, values| {
                let first = (at * together + t) * TILE;
                let rows: Vec<usize> = (first..first + values.len() / stride).collect();
                let end = rows.len() + first;
                let mut block = vec![0.0; rows.len() * end];
                fill(&rows, 0..end, &mut block);
                for (row, values) in block.chunks_exact(end).zip(values.chunks_exact_mut(stride)) {
                    values[..end].copy_from_slice(row);
                }
            });
        }
        mirror(values, len, stride);
        Ok(Self { piece, stride })
    }

    /// The values.
    pub(crate) fn kept(&self) -> KeptValues<'_> {
        KeptValues::new(bytemuck::cast_slice(&self.piece), self.stride)
    }

    /// Number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.piece.len() as u64
    }
}

/// Copies the lower half of a square matrix to the upper half, tile by tile.
fn mirror(values: &mut [f64], len: usize, stride: usize) {
    for top in (0..len).step_by(TILE) {
        let end = (top + TILE).min(len);
        let (rows, lower) = values.split_at_mut(end * stride);
        for left in (end..len).step_by(TILE) {
            let columns = left..len.min(left + TILE);
            for (r, row) in rows[top * stride..].chunks_exact_mut(stride).enumerate() {
                for (j, value) in (left - end..).zip(&mut row[columns.clone()]) {
                    *value = lower[j * stride + top + r];
                }
            }
        }
    }
}
