//! Sums for many small machines, over kept exact values where there are any.

use crate::Gram;
use crate::gram::KeptValues;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::row_sums::{BLOCK, PartialSum, RowTerm, add_sums_of_rows};
use std::ops::Range;

/// Most columns of a tile, the unit of parallel work.
const COLUMNS: usize = 512;

/// Samples whose terms of all points follow each other: a block of their values fits in the
/// first-level cache.
const TOGETHER: usize = 128;

/// The samples of a point with their coefficients, each sample once, ascending.
type Point<'a> = &'a [(usize, f64)];

/// Computes `Σ_l c_l K(l, column)` for the samples and coefficients of each point and the columns
/// of `runs`: those of a point follow each other. The order of all sums is fixed, so the bits
/// depend neither on `par` nor on whether values are kept.
pub(crate) fn small_sums(
    gram: &dyn Gram,
    points: &[Point],
    runs: &[Range<usize>],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let groups = groups_of(points);
    let Some(kept) = gram.kept_exact() else {
        let of_value = gram.value_operations();
        return tiled(points, runs, of_value, par, control, |tile| computed(gram, &groups, points.len(), tile));
    };
    kept.keep(points.iter().copied().flatten().map(|term| term.0), par, control)?;
    let row = |sample| kept.row(sample).expect("a row that is kept from here on");
    let terms = |point: &Point| point.iter().map(|&(sample, factor)| RowTerm { row: row(sample), factor }).collect();
    let terms: Vec<Vec<RowTerm>> = points.iter().map(terms).collect();
    let part = |part: &Part| PartialSum { point: part.point, terms: &terms[part.point][part.at..part.at + part.of.len()] };
    let parts: Vec<Vec<PartialSum>> = groups.iter().map(|group| group.iter().map(part).collect()).collect();
    tiled(points, runs, 1, par, control, |tile| in_place(kept, &parts, points.len(), tile))
}

/// Computes the sums of all tiles with `of_tile`: those of a point follow each other, in both
/// results.
fn tiled(
    points: &[Point],
    runs: &[Range<usize>],
    of_value: u64,
    par: Par,
    control: &RunControl,
    of_tile: impl Fn(Range<usize>) -> Vec<f64> + Sync,
) -> Result<Vec<f64>, Cancelled> {
    let count: usize = points.iter().map(|point| point.len()).sum();
    let tiles: Vec<Range<usize>> =
        runs.iter().flat_map(|run| run.clone().step_by(COLUMNS).map(|start| start..run.end.min(start + COLUMNS))).collect();
    let all: usize = runs.iter().map(Range::len).sum();
    let mut result = vec![0.0; points.len() * all];
    // Enough tiles between two checks for cancellation that threads rarely wait for each other.
    let operations = of_value.saturating_mul((count * COLUMNS) as u64).max(1);
    let together = (RunControl::operations_between_checks() / operations).max(1) as usize * par.threads();
    let mut at = 0;
    for tiles in tiles.chunks(together) {
        control.check(of_value.saturating_mul((count * tiles.iter().map(Range::len).sum::<usize>()) as u64))?;
        for (tile, sums) in tiles.iter().zip(par.map(tiles.len(), |t| of_tile(tiles[t].clone()))) {
            copy_columns(&sums, tile.len(), &mut result, all, at);
            at += tile.len();
        }
    }
    Ok(result)
}

/// Copies rows of `width` columns into rows of `all` columns, from column `at` on.
fn copy_columns(from: &[f64], width: usize, to: &mut [f64], all: usize, at: usize) {
    for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(all)) {
        to[at..at + width].copy_from_slice(from);
    }
}

/// The sums of a tile from kept rows, in groups.
fn in_place(kept: KeptValues, groups: &[Vec<PartialSum>], points: usize, tile: Range<usize>) -> Vec<f64> {
    let width = tile.len();
    let mut sums = vec![0.0; points * width];
    let mut part = Vec::new();
    for (at, columns) in kept.pieces(tile) {
        let own = if columns.len() == width { &mut sums } else { &mut part };
        own.clear();
        own.resize(points * columns.len(), 0.0);
        groups.iter().for_each(|parts| add_sums_of_rows(columns.clone(), parts, own));
        if columns.len() < width {
            copy_columns(&part, columns.len(), &mut sums, width, at);
        }
    }
    sums
}

/// The sums of a tile from values that are computed for it.
fn computed(gram: &dyn Gram, groups: &[Vec<Part>], points: usize, tile: Range<usize>) -> Vec<f64> {
    let (width, stride) = (tile.len(), tile.len().next_multiple_of(BLOCK));
    let mut sums = vec![0.0; points * width];
    let (mut values, mut panel) = (Vec::new(), vec![0.0; TOGETHER * stride]);
    for group in groups {
        let mut samples: Vec<usize> = group.iter().flat_map(|part| part.of).map(|term| term.0).collect();
        samples.sort_unstable();
        samples.dedup();
        values.resize(samples.len() * width, 0.0);
        gram.fill_exact(&samples, tile.clone(), &mut values);
        let start = |sample: usize| sample % TOGETHER * stride;
        for (&sample, values) in samples.iter().zip(values.chunks_exact(width)) {
            panel[start(sample)..][..width].copy_from_slice(values);
        }
        let row = |sample| &panel[start(sample)..][..stride];
        let terms = |part: &Part| part.of.iter().map(|&(sample, factor)| RowTerm { row: row(sample), factor }).collect();
        let terms: Vec<Vec<RowTerm>> = group.iter().map(terms).collect();
        let parts: Vec<PartialSum> =
            group.iter().zip(&terms).map(|(part, terms)| PartialSum { point: part.point, terms }).collect();
        add_sums_of_rows(0..width, &parts, &mut sums);
    }
    sums
}

/// The terms of a point that are in a group: those from `at` on.
struct Part<'a> {
    point: usize,
    at: usize,
    of: Point<'a>,
}

/// The parts of the sums of all points in groups of `TOGETHER` neighbouring samples.
fn groups_of<'a>(points: &[Point<'a>]) -> Vec<Vec<Part<'a>>> {
    let mut groups: Vec<Vec<Part>> = Vec::new();
    for (point, terms) in points.iter().enumerate() {
        let mut at = 0;
        for of in terms.chunk_by(|a, b| a.0 / TOGETHER == b.0 / TOGETHER) {
            let group = of[0].0 / TOGETHER;
            groups.resize_with(groups.len().max(group + 1), Vec::new);
            groups[group].push(Part { point, at, of });
            at += of.len();
        }
    }
    groups.retain(|parts| !parts.is_empty());
    groups
}
