//! Sums for many small machines, over kept exact values where there are any.

use crate::Gram;
use crate::gram::KeptValues;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::sums::{BLOCK, PartialSum, RowTerm, add_sums_of_rows, transposed_block};
use std::ops::Range;

/// Most columns of a tile, the unit of parallel work.
const COLUMNS: usize = 512;

/// Samples whose terms of all points follow each other: a block of their values, transposed or in
/// place, fits in the first-level cache.
const TOGETHER: usize = 128;

/// The number of points from which on blocks are transposed. A column is the row of a sample, since
/// the matrix is symmetric. Rows are read from memory from end to end, several times as fast as a
/// few values of each.
const MANY: usize = 64;

/// Computes `Σ_l c_l K(l, column)` for the samples and coefficients of each point and the columns
/// of `runs`: those of a point follow each other. The order of all sums is fixed, so the bits
/// depend neither on `par` nor on whether values are kept.
pub(crate) fn small_sums(
    gram: &dyn Gram,
    points: &[&[(usize, f64)]],
    runs: &[Range<usize>],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let source = match gram.kept_exact() {
        Some(kept) if points.len() >= MANY && kept.is_whole() => Values::Transposed(kept),
        Some(kept) => Values::InPlace(kept),
        None => Values::Computed(gram),
    };
    let terms: Vec<Vec<RowTerm>> = points.iter().map(|point| source.terms(point)).collect();
    let sums = SmallSums { source, groups: groups_of(points, &terms), points: points.len() };
    let count: usize = terms.iter().map(Vec::len).sum();
    let tiles: Vec<Range<usize>> =
        runs.iter().flat_map(|run| run.clone().step_by(COLUMNS).map(|start| start..run.end.min(start + COLUMNS))).collect();
    let all: usize = runs.iter().map(Range::len).sum();
    let mut result = vec![0.0; points.len() * all];
    let per_term = if let Values::Computed(gram) = sums.source { gram.value_operations() } else { 1 };
    // Enough tiles between two checks for cancellation that threads rarely wait for each other.
    let of_tile = per_term.saturating_mul((count * COLUMNS) as u64).max(1);
    let together = (RunControl::operations_between_checks() / of_tile).max(1) as usize * par.threads();
    let mut at = 0;
    for tiles in tiles.chunks(together) {
        control.check(per_term.saturating_mul((count * tiles.iter().map(Range::len).sum::<usize>()) as u64))?;
        for (tile, sums) in tiles.iter().zip(par.map(tiles.len(), |t| sums.of(tiles[t].clone()))) {
            copy_columns(&sums, tile.len(), &mut result, all, at);
            at += tile.len();
        }
    }
    Ok(result)
}

/// The source of exact values.
#[derive(Clone, Copy)]
enum Values<'a> {
    /// Kept rows.
    InPlace(KeptValues<'a>),
    /// Kept rows of the columns, transposed block by block.
    Transposed(KeptValues<'a>),
    /// A matrix that keeps no values.
    Computed(&'a dyn Gram),
}

impl Values<'_> {
    /// The terms of a point. Rows of a group are counted from its first sample, but for those that
    /// are read in place.
    fn terms(&self, point: &[(usize, f64)]) -> Vec<RowTerm> {
        let row = |sample: usize| match self {
            Self::InPlace(kept) => kept.row(sample),
            Self::Transposed(_) | Self::Computed(_) => sample % TOGETHER,
        };
        point.iter().map(|&(sample, factor)| RowTerm { row: row(sample), factor }).collect()
    }
}

/// Copies rows of `width` columns into rows of `all` columns, from column `at` on.
fn copy_columns(from: &[f64], width: usize, to: &mut [f64], all: usize, at: usize) {
    for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(all)) {
        to[at..at + width].copy_from_slice(from);
    }
}

/// The parts of the sums of all points that are over `TOGETHER` samples.
struct Group<'t> {
    /// The first sample, whether it has a term or not.
    first: usize,
    parts: Vec<PartialSum<'t>>,
}

struct SmallSums<'a, 't> {
    source: Values<'a>,
    groups: Vec<Group<'t>>,
    /// Number of points.
    points: usize,
}

impl SmallSums<'_, '_> {
    /// The sums of a tile.
    fn of(&self, tile: Range<usize>) -> Vec<f64> {
        match self.source {
            Values::InPlace(kept) => self.in_place(kept, tile),
            Values::Transposed(kept) => self.transposed(kept, tile),
            Values::Computed(gram) => self.computed(gram, tile),
        }
    }

    /// The sums of a tile from the rows of the terms.
    fn in_place(&self, kept: KeptValues, tile: Range<usize>) -> Vec<f64> {
        let (width, values) = (tile.len(), kept.values());
        let mut sums = vec![0.0; self.points * width];
        let mut part = Vec::new();
        for (at, columns) in kept.pieces(tile) {
            let own = if columns.len() == width { &mut sums } else { &mut part };
            own.clear();
            own.resize(self.points * columns.len(), 0.0);
            self.groups.iter().for_each(|group| add_sums_of_rows(values, kept.stride(), columns.clone(), &group.parts, own));
            if columns.len() < width {
                copy_columns(&part, columns.len(), &mut sums, width, at);
            }
        }
        sums
    }

    /// The sums of a tile from its own rows, block by block.
    fn transposed(&self, kept: KeptValues, tile: Range<usize>) -> Vec<f64> {
        let (width, len) = (tile.len(), kept.len());
        let mut sums = vec![0.0; self.points * width];
        let mut panel = [[0.0; BLOCK]; TOGETHER];
        let mut block = vec![0.0; self.points * BLOCK];
        for at in (0..width).step_by(BLOCK) {
            let count = BLOCK.min(width - at);
            let columns = tile.start + at..tile.start + at + count;
            block.fill(0.0);
            for group in &self.groups {
                let starts: Vec<usize> = columns.clone().map(|column| kept.row(column) * kept.stride() + group.first).collect();
                transposed_block(kept.values(), &starts, TOGETHER.min(len - group.first), &mut panel);
                add_sums_of_rows(panel.as_flattened(), BLOCK, 0..BLOCK, &group.parts, &mut block);
            }
            for (block, sums) in block.chunks_exact(BLOCK).zip(sums.chunks_exact_mut(width)) {
                sums[at..at + count].copy_from_slice(&block[..count]);
            }
        }
        sums
    }

    /// The sums of a tile from values that are computed for it.
    fn computed(&self, gram: &dyn Gram, tile: Range<usize>) -> Vec<f64> {
        let (width, stride) = (tile.len(), tile.len().next_multiple_of(BLOCK));
        let mut sums = vec![0.0; self.points * width];
        let (mut values, mut panel) = (Vec::new(), vec![0.0; TOGETHER * stride]);
        for group in &self.groups {
            let mut rows: Vec<usize> = group.parts.iter().flat_map(|part| part.terms).map(|term| term.row).collect();
            rows.sort_unstable();
            rows.dedup();
            let samples: Vec<usize> = rows.iter().map(|row| group.first + row).collect();
            values.resize(rows.len() * width, 0.0);
            gram.fill_exact(&samples, tile.clone(), &mut values);
            for (row, values) in rows.iter().zip(values.chunks_exact(width)) {
                panel[row * stride..row * stride + width].copy_from_slice(values);
            }
            add_sums_of_rows(&panel, stride, 0..width, &group.parts, &mut sums);
        }
        sums
    }
}

/// The sums of all points in groups of neighbouring samples.
fn groups_of<'t>(points: &[&[(usize, f64)]], terms: &'t [Vec<RowTerm>]) -> Vec<Group<'t>> {
    let mut groups: Vec<Group> = Vec::new();
    for (point, (samples, terms)) in points.iter().zip(terms).enumerate() {
        let mut start = 0;
        for together in samples.chunk_by(|a, b| a.0 / TOGETHER == b.0 / TOGETHER) {
            let group = together[0].0 / TOGETHER;
            (groups.len()..=group).for_each(|group| groups.push(Group { first: group * TOGETHER, parts: Vec::new() }));
            groups[group].parts.push(PartialSum { point, terms: &terms[start..start + together.len()] });
            start += together.len();
        }
    }
    groups.retain(|group| !group.parts.is_empty());
    groups
}
