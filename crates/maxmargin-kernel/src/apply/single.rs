//! Products with the kernel matrix and parts of it, from kernel values in `f32`.

use crate::Gram;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::sums::{add_scaled, dot};
use std::ops::Range;

/// Largest number of columns of one tile: its sums stay in the first-level cache.
const SINGLE_COLUMNS: usize = 2048;

/// The contribution of [`Gram::base`], which values in `f32` lack, to a sum with these
/// coefficients.
fn constant(gram: &dyn Gram, coef: &[f64]) -> f64 {
    if gram.base() == 0.0 { 0.0 } else { gram.base() * coef.iter().sum::<f64>() }
}

/// Computes `Σ_r coef_r K[ids_r, columns]` from kernel values in `f32`, summed in `f64`: one value
/// per column.
///
/// Each product computes the kernel values anew, unlike [`crate::Rows`]. That is cheaper where the
/// cost of a kernel value is mostly the memory traffic of storing it. Tiles and their order are
/// fixed, so the bits do not depend on `par`.
///
/// # Errors
///
/// When `control` ends the run between two groups of tiles.
///
/// # Panics
///
/// When there is not one coefficient per id or an index is out of range.
pub fn apply(
    gram: &dyn Gram,
    ids: &[usize],
    coef: &[f64],
    columns: Range<usize>,
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert_eq!(coef.len(), ids.len(), "one coefficient per sample");
    assert!(columns.end <= gram.len(), "column {} of {}", columns.end, gram.len());
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, ids.len().max(1)), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut result = vec![constant(gram, coef); columns.len()];
    let per_value = gram.value_operations();
    let tiles = (RunControl::operations_between_checks() / (per_value * (height * width) as u64)).max(1) as usize;
    // With few rows a strip has many columns: threads lose about as much time waiting for each
    // other as a small piece of work takes (a tenth of a millisecond).
    let tall = (ids.len().clamp(1, height * tiles) * width) as u64;
    let group = width * par.threads() * (RunControl::operations_between_checks() / (per_value * tall)).max(1) as usize;
    for (g, sums) in result.chunks_mut(group).enumerate() {
        for (ids, coef) in ids.chunks(height * tiles).zip(coef.chunks(height * tiles)) {
            control.check(per_value * (ids.len() * width.min(sums.len())) as u64)?;
            par.for_chunks(sums, width, |t, sums| {
                let start = columns.start + g * group + t * width;
                let count = sums.len();
                let mut block = vec![0.0; height * count];
                for (ids, coef) in ids.chunks(height).zip(coef.chunks(height)) {
                    let block = &mut block[..ids.len() * count];
                    gram.fill(ids, start..start + count, block);
                    for (row, &c) in block.chunks_exact(count).zip(coef) {
                        add_scaled(sums, c, row);
                    }
                }
            });
        }
    }
    Ok(result)
}

/// Computes `Σ_l coef_l K[row, l]` over all samples `l` for each of `rows`, from kernel values in
/// `f32`, summed in `f64`. It is meant for few rows and many nonzero coefficients: the kernel
/// values of zero coefficients are computed as well.
///
/// Tiles and their order are fixed, so the bits do not depend on `par`.
///
/// # Panics
///
/// When there is not one coefficient per sample or an index is out of range.
pub fn products(gram: &dyn Gram, rows: &[usize], coef: &[f64], par: Par) -> Vec<f64> {
    assert_eq!(coef.len(), gram.len(), "one coefficient per sample");
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, 64), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut sums = vec![constant(gram, coef); rows.len()];
    par.for_chunks(&mut sums, height, |t, sums| {
        let ids = &rows[t * height..t * height + sums.len()];
        let mut block = vec![0.0; ids.len() * width];
        for (w, coef) in coef.chunks(width).enumerate() {
            let block = &mut block[..ids.len() * coef.len()];
            gram.fill(ids, w * width..w * width + coef.len(), block);
            for (sum, row) in sums.iter_mut().zip(block.chunks_exact(coef.len())) {
                *sum += dot(coef, row);
            }
        }
    });
    sums
}

/// Writes `K[rows, columns]` in `f32` for columns in any order into `out`, whose rows are `stride`
/// apart.
///
/// Tiles without any of the columns are skipped. The others are computed from their first to their
/// last column, so few and scattered columns waste most of the work.
///
/// With `own`, row `r` is also column `own + r`, and the columns after it may be omitted because
/// they are rows as well. The tiles alone determine the omitted columns; ascending columns omit the
/// most.
///
/// # Panics
///
/// When `out` is smaller than `rows.len() × stride`, `stride` is smaller than the number of
/// columns, or an index is out of range.
pub fn submatrix(
    gram: &dyn Gram,
    rows: &[usize],
    columns: &[usize],
    own: Option<usize>,
    stride: usize,
    out: &mut [f32],
    par: Par,
) {
    assert!(stride >= columns.len() && out.len() >= rows.len() * stride, "room for {} × {}", rows.len(), columns.len());
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, 64), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut places: Vec<(usize, usize)> = columns.iter().copied().enumerate().map(|(place, column)| (column, place)).collect();
    places.sort_unstable();
    let base = gram.base();
    let value = |held: f32| if base == 0.0 { held } else { (f64::from(held) + base) as f32 };
    let tiles: Vec<&[(usize, usize)]> = places.chunk_by(|a, b| a.0 / width == b.0 / width).collect();
    par.for_chunks(&mut out[..rows.len() * stride], height * stride, |t, out| {
        let ids = &rows[t * height..rows.len().min((t + 1) * height)];
        // Columns after the last row's own column are omitted.
        let end = own.map_or(usize::MAX, |own| own + t * height + ids.len());
        let mut block = vec![0.0; ids.len() * width];
        for places in &tiles {
            let mut wanted = places.iter().filter(|(_, place)| *place < end);
            let Some(first) = wanted.next() else { continue };
            let last = wanted.next_back().unwrap_or(first);
            let count = last.0 + 1 - first.0;
            let block = &mut block[..ids.len() * count];
            gram.fill(ids, first.0..first.0 + count, block);
            for (row, out) in block.chunks_exact(count).zip(out.chunks_mut(stride)) {
                for &(column, place) in places.iter().filter(|(_, place)| *place < end) {
                    out[place] = value(row[column - first.0]);
                }
            }
        }
    });
}
