//! Products with the kernel matrix in `f64`.

use super::groups::{CoefficientGroup, SampleTerms, coefficient_groups};
use super::scratch::with_tile;
use super::symmetric;
use crate::Gram;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par as Threads};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// Columns of one tile: the unit of parallel work.
const COLUMNS: usize = 1024;
/// Rows of one tile: 64 × 1,024 values fit in the second-level cache.
const IDS: usize = 64;

/// Computes `F = K[columns, ids] · coef` in `f64`. `coef` is row-major `ids.len() × h`, the result
/// row-major `columns.len() × h`.
///
/// Every kernel value is computed once for all `h` right-hand sides and not stored. Tiles and their
/// order are fixed, so the bits of the result do not depend on `par`. Zero rows of `coef` cost
/// nothing. Where one right-hand side has most samples, one half of the symmetric matrix is
/// computed.
///
/// # Errors
///
/// When `control` ends the run between two groups of tiles.
///
/// # Panics
///
/// When `coef.len()` is not `ids.len() × h` or an index is out of range.
pub fn apply_exact(
    gram: &dyn Gram,
    ids: &[usize],
    coef: &[f64],
    h: usize,
    columns: Range<usize>,
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
    if h == 0 {
        return Ok(Vec::new());
    }
    apply_exact_to(gram, &SampleTerms::of_matrix(ids, coef, h), h, std::slice::from_ref(&columns), par, control)
}

/// [`apply_exact`] for the columns of `runs`, one run after the other, with `h` coefficients of
/// each sample.
pub(crate) fn apply_exact_to(
    gram: &dyn Gram,
    terms: &SampleTerms,
    h: usize,
    runs: &[Range<usize>],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert!(runs.iter().all(|run| run.end <= gram.len()), "columns {runs:?} of {}", gram.len());
    let is_whole = matches!(runs, [run] if *run == (0..gram.len()));
    if h == 1 && is_whole && symmetric::is_cheaper(gram, terms.samples()) {
        return symmetric::product(gram, &terms.dense(gram.len()), par, control);
    }
    let mut result = vec![0.0; runs.iter().map(Range::len).sum::<usize>() * h];
    let groups = coefficient_groups(terms);
    // The cost of a kernel value and of its products.
    let per_value = gram.value_operations() + h as u64 / 4;
    // Enough tiles between two checks for cancellation that threads rarely wait for each other.
    let tiles = (RunControl::operations_between_checks() / (per_value * (IDS * COLUMNS) as u64)).max(1) as usize;
    let product = TiledProduct { gram, groups, h, per_value, tiles, par };
    let strip = COLUMNS * par.threads();
    for (columns, result) in tiles_of(runs).chunks(par.threads()).zip(result.chunks_mut(strip * h)) {
        let sums = product.strip(columns, result.len() / h, control)?;
        product.write(&sums, result);
    }
    Ok(result)
}

/// The columns of each tile, as runs: [`COLUMNS`] in each tile but the last.
fn tiles_of(runs: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut tiles: Vec<Vec<Range<usize>>> = Vec::new();
    let mut room = 0;
    for run in runs {
        let mut start = run.start;
        while start < run.end {
            if room == 0 {
                tiles.push(Vec::new());
                room = COLUMNS;
            }
            let part = start..run.end.min(start + room);
            (start, room) = (part.end, room - part.len());
            tiles.last_mut().expect("pushed before").push(part);
        }
    }
    tiles
}

/// Writes `K[rows, columns]` for columns in runs, row-major.
fn fill_runs(gram: &dyn Gram, rows: &[usize], runs: &[Range<usize>], out: &mut [f64]) {
    if let [run] = runs {
        return gram.fill_exact(rows, run.clone(), out);
    }
    let width = out.len() / rows.len().max(1);
    let (mut block, mut at) = (Vec::new(), 0);
    for run in runs {
        block.resize(rows.len() * run.len(), 0.0);
        gram.fill_exact(rows, run.clone(), &mut block);
        for (row, out) in block.chunks_exact(run.len()).zip(out.chunks_exact_mut(width)) {
            out[at..at + run.len()].copy_from_slice(row);
        }
        at += run.len();
    }
}

/// A product with the kernel matrix, computed in strips of columns: one tile per thread.
struct TiledProduct<'g> {
    gram: &'g dyn Gram,
    groups: Vec<CoefficientGroup>,
    /// Number of right-hand sides.
    h: usize,
    /// Operations for one kernel value.
    per_value: u64,
    /// Tiles of each thread between two checks for cancellation.
    tiles: usize,
    par: Par,
}

impl TiledProduct<'_> {
    /// Sums of one column: one for each right-hand side, then the sum that all of them share.
    fn sums_per_column(&self) -> usize {
        self.h + 1
    }

    /// The sums of the `count` columns of some tiles, tile by tile; a tile has its columns
    /// consecutively for each sum.
    fn strip(&self, tiles: &[Vec<Range<usize>>], count: usize, control: &RunControl) -> Result<Vec<f64>, Cancelled> {
        let kept = self.sums_per_column();
        let mut sums = vec![0.0; count * kept];
        for group in &self.groups {
            let width = group.columns.len();
            for (ids, coef) in group.ids.chunks(IDS * self.tiles).zip(group.coef.chunks(IDS * self.tiles * width)) {
                control.check(self.per_value * (ids.len() * COLUMNS.min(count)) as u64)?;
                self.par.for_chunks(&mut sums, COLUMNS * kept, |t, sums| {
                    self.add_tile(ids, coef, &group.columns, &tiles[t], sums);
                });
            }
        }
        Ok(sums)
    }

    /// Adds the products of the samples `ids` to the sums of the tile with the columns of `runs`.
    fn add_tile(&self, ids: &[usize], coef: &[f64], columns: &[usize], runs: &[Range<usize>], sums: &mut [f64]) {
        let (width, count) = (columns.len(), sums.len() / self.sums_per_column());
        let mut part = vec![0.0; width * count];
        with_tile(IDS * count, |values| {
            for (ids, coef) in ids.chunks(IDS).zip(coef.chunks(IDS * width)) {
                let tile = &mut values[..ids.len() * count];
                fill_runs(self.gram, ids, runs, tile);
                matmul(
                    MatMut::from_row_major_slice_mut(&mut part, width, count),
                    Accum::Add,
                    MatRef::from_column_major_slice(coef, width, ids.len()),
                    MatRef::from_row_major_slice(tile, ids.len(), count),
                    1.0,
                    Threads::Seq,
                );
            }
        });
        for (part, column) in part.chunks_exact(count).zip(columns) {
            sums[column * count..][..count].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Writes the sums of a strip to its rows of the result.
    fn write(&self, sums: &[f64], result: &mut [f64]) {
        let (h, kept) = (self.h, self.sums_per_column());
        let common = self.groups.iter().any(|group| group.columns.last() == Some(&h));
        for (sums, result) in sums.chunks(COLUMNS * kept).zip(result.chunks_mut(COLUMNS * h)) {
            let count = sums.len() / kept;
            for (j, out) in result.chunks_exact_mut(h).enumerate() {
                out.iter_mut().enumerate().for_each(|(c, o)| *o = sums[c * count + j]);
                if common {
                    out.iter_mut().for_each(|o| *o += sums[h * count + j]);
                }
            }
        }
    }
}
