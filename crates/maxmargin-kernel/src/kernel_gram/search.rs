//! The search for neighbours: an estimate of their number, blocks of values in `f32` or codes, and
//! exact values of what is not negligible.

use super::KernelGram;
use crate::Gram;
use crate::checks::next;
use crate::gram::ComputeExact;
use crate::neighbours::{BoxTree, Differing, FEWEST, LEFT_OUT, Neighbours, Pair};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// The largest share of values that are not negligible. At more, passes over whole rows are as
/// fast.
const SHARE: f64 = 0.05;

/// The largest number of features of which a sample's neighbours are searched in boxes.
const FEW: usize = 32;

/// The estimate of the share reads some rows of some stretches of columns.
const DRAWN: usize = 32;
const STRETCHES: usize = 16;
const STRETCH: usize = 2048;
const SEED: u64 = 1;

/// Rows of a block, and columns of a tile of it.
const BLOCK: usize = 128;
const TILE: usize = 2048;

/// Exact values are computed for a whole tile if so large a part of it is not negligible.
const CROWDED: usize = 16;

/// Columns that are computed with their neighbours in the same row.
const GAP: usize = 8;

/// The most features in which samples of zeros and ones may differ, for a search by their rare
/// features, and the nanoseconds of a comparison.
const FEW_DIFFERENCES: f64 = 64.0;
const COMPARISON: f64 = 5.0;

/// Exact values of one-byte codes, which fall with the code, a squared distance.
pub(crate) struct CodeValues {
    values: Box<[f64; 256]>,
    /// The largest code whose value is not negligible.
    last: u8,
}

impl CodeValues {
    pub(crate) fn new(values: Box<[f64; 256]>) -> Self {
        // The value of code 0 is that of the diagonal.
        let last = (0..=255).rev().find(|code| values[usize::from(*code)] > LEFT_OUT).unwrap_or(0);
        Self { values, last }
    }
}

/// The values of a tile.
#[derive(Default)]
struct Scratch {
    codes: Vec<u8>,
    values: Vec<f32>,
    exact: Vec<f64>,
}

/// A search for the neighbours of a matrix.
pub(crate) struct Search<'a> {
    pub(crate) gram: &'a KernelGram,
    pub(crate) par: Par,
    pub(crate) control: &'a RunControl<'a>,
}

impl Search<'_> {
    /// The neighbours, where they are few and take at most so many bytes.
    pub(crate) fn find(&self, bytes: u64) -> Result<Option<Neighbours>, Cancelled> {
        let n = self.gram.len();
        if self.gram.has_small_sums() {
            return Ok(None);
        }
        let Some(reach) = self.gram.reach(LEFT_OUT).filter(|_| n >= FEWEST && u32::try_from(n).is_ok()) else { return Ok(None) };
        let share = self.share()?;
        let all = (n as f64).powi(2);
        if share > SHARE || 12.0 * share * all > bytes as f64 {
            return Ok(None);
        }
        // The estimate may be too low: the search ends where it would take twice as much as it may.
        let most = (2.0 * SHARE * all).min(bytes as f64 / 6.0) as usize;
        if let Some((differing, codes)) = self.differing(reach) {
            let pairs = self.differing_pairs(&differing, &codes, most)?;
            return Ok(pairs.map(|pairs| Neighbours::of_pairs(n, &pairs, Some(&differing.order))));
        }
        let tree = self.gram.coordinates(FEW).map(|coordinates| BoxTree::new(&coordinates));
        let Some(tree) = tree else {
            let blocks: Vec<usize> = (0..n).step_by(BLOCK).collect();
            let rows = |block: usize| block..n.min(block + BLOCK);
            let pairs = self.pairs(self.gram, &blocks, rows, |block| std::iter::once(block..n).collect(), false, most)?;
            return Ok(pairs.map(|pairs| Neighbours::of_pairs(n, &pairs, None)));
        };
        let ordered = self.gram.ordered(&tree.order);
        let (places, near) = (|leaf| tree.places(leaf), |leaf| tree.near(leaf, reach));
        let pairs = self.pairs(&ordered, &tree.leaves(), places, near, true, most)?;
        Ok(pairs.map(|pairs| Neighbours::of_pairs(n, &pairs, Some(&tree.order))))
    }

    /// The search among samples of zeros and ones, where it takes less time than all distances.
    fn differing(&self, reach: f64) -> Option<(Differing, CodeValues)> {
        if reach > FEW_DIFFERENCES {
            return None;
        }
        let codes = self.gram.code_values()?;
        let differing = Differing::new(&self.gram.bit_rows()?, reach as u32);
        let all = 0.5 * (self.gram.len() as f64).powi(2);
        (COMPARISON * differing.comparisons() < self.gram.value_cost() * all).then_some((differing, codes))
    }

    /// [`Search::pairs`] of samples of zeros and ones.
    fn differing_pairs(
        &self,
        differing: &Differing,
        codes: &CodeValues,
        most: usize,
    ) -> Result<Option<Vec<Vec<Pair>>>, Cancelled> {
        let (n, mut found, mut count) = (self.gram.len(), Vec::new(), 0);
        let blocks: Vec<usize> = (0..n).step_by(TILE).collect();
        let each = 8.0 * differing.comparisons() / n as f64;
        for blocks in blocks.chunks(2 * self.par.threads()) {
            let parts = self.par.map(blocks.len(), |at| differing_block(differing, codes, blocks[at]..n.min(blocks[at] + TILE)));
            count += parts.iter().map(Vec::len).sum::<usize>();
            self.control.check((each * (TILE * blocks.len()) as f64) as u64)?;
            if 2 * count > most + n {
                return Ok(None);
            }
            found.extend(parts);
        }
        Ok(Some(found))
    }

    /// The estimated share of pairs of samples that are not negligible.
    fn share(&self) -> Result<f64, Cancelled> {
        let (gram, n) = (self.gram, self.gram.len());
        self.control.check(gram.value_operations() * (STRETCHES * DRAWN * STRETCH) as u64)?;
        let mut state = SEED;
        let mut draw = |below: usize| (next(&mut state) % below as u64) as usize;
        let stretches: Vec<(usize, Vec<usize>)> =
            (0..STRETCHES).map(|_| (draw(n - STRETCH + 1), (0..DRAWN).map(|_| draw(n)).collect())).collect();
        let near = self.par.map(STRETCHES, |s| {
            let (first, rows) = &stretches[s];
            let columns = *first..first + STRETCH;
            let mut values = vec![0.0_f32; DRAWN * STRETCH];
            gram.fill(rows, columns.clone(), &mut values);
            let mut near = 0;
            values.iter().for_each(|value| near += usize::from(*value > LEFT_OUT as f32));
            // The value of a sample at itself is no pair.
            near - rows.iter().filter(|row| columns.contains(*row)).count()
        });
        Ok(near.iter().sum::<usize>() as f64 / (STRETCHES * DRAWN * STRETCH) as f64)
    }

    /// All pairs of places that are not negligible, rows of a block after each other; none if there
    /// are more than `most`. `near` says which columns from a block on may hold one, and `are_near`
    /// that many of them do.
    fn pairs(
        &self,
        gram: &KernelGram,
        blocks: &[usize],
        rows: impl Fn(usize) -> Range<usize> + Sync,
        near: impl Fn(usize) -> Vec<Range<usize>> + Sync,
        are_near: bool,
        most: usize,
    ) -> Result<Option<Vec<Vec<Pair>>>, Cancelled> {
        let codes = gram.code_values();
        let (mut found, mut count) = (Vec::new(), 0);
        // Enough blocks between two checks for cancellation that threads rarely wait.
        let of_block = gram.value_operations().saturating_mul((BLOCK * gram.len()) as u64);
        let together = (RunControl::operations_between_checks() / of_block.max(1)).clamp(1, 8) as usize * self.par.threads();
        for blocks in blocks.chunks(together) {
            let of_block = |at: usize| {
                let (rows, runs) = (rows(blocks[at]), near(blocks[at]));
                let values = runs.iter().map(Range::len).sum::<usize>() * rows.len();
                (tiled_pairs(gram, codes.as_ref(), rows, &runs, are_near), values)
            };
            let parts = self.par.map(blocks.len(), of_block);
            let values: usize = parts.iter().map(|(_, values)| values).sum();
            self.control.check(gram.value_operations() * values as u64)?;
            count += parts.iter().map(|(pairs, _)| pairs.len()).sum::<usize>();
            if 2 * count > most + gram.len() {
                return Ok(None);
            }
            found.extend(parts.into_iter().map(|(pairs, _)| pairs));
        }
        Ok(Some(found))
    }
}

/// Returns the pairs of a block of rows with the columns of some runs.
fn tiled_pairs(
    gram: &KernelGram,
    codes: Option<&CodeValues>,
    rows: Range<usize>,
    runs: &[Range<usize>],
    are_near: bool,
) -> Vec<Pair> {
    let (mut pairs, mut scratch) = (Vec::new(), Scratch::default());
    for start in rows.clone().step_by(BLOCK) {
        let rows: Vec<usize> = (start..rows.end.min(start + BLOCK)).collect();
        let tiles = runs.iter().flat_map(|run| run.clone().step_by(TILE).map(|at| at..run.end.min(at + TILE)));
        for tile in tiles.filter(|tile| tile.end > start) {
            match codes {
                Some(codes) => coded_pairs(gram, codes, &rows, tile, &mut scratch, &mut pairs),
                None if are_near => exact_pairs(gram, &rows, tile, &mut scratch, &mut pairs),
                None => valued_pairs(gram, &rows, tile, &mut scratch, &mut pairs),
            }
        }
    }
    pairs
}

/// Returns the pairs of a block of places of samples of zeros and ones.
fn differing_block(differing: &Differing, codes: &CodeValues, rows: Range<usize>) -> Vec<Pair> {
    let (mut pairs, mut scratch) = (Vec::new(), differing.scratch());
    for row in rows {
        differing.after(row, &mut scratch, |column, differences| {
            let value = codes.values[differences as usize];
            if value > LEFT_OUT {
                pairs.push(Pair { row: row as u32, column: column as u32, value });
            }
        });
    }
    pairs
}

/// Appends the pairs of rows with the columns of a tile from themselves on whose items in a block
/// are near, with their values.
fn append_near<T: Copy>(
    rows: &[usize],
    tile: &Range<usize>,
    block: &[T],
    is_near: impl Fn(T) -> bool,
    value: impl Fn(T) -> f64,
    pairs: &mut Vec<Pair>,
) {
    for (&row, items) in rows.iter().zip(block.chunks(tile.len())) {
        let skipped = row.saturating_sub(tile.start).min(tile.len());
        for (c, chunk) in items[skipped..].chunks(64).enumerate() {
            // A loop without branches: nearly all chunks have none.
            if !chunk.iter().fold(false, |any, item| any | is_near(*item)) {
                continue;
            }
            let first = tile.start + skipped + 64 * c;
            let near = chunk.iter().enumerate().filter(|(_, item)| is_near(**item));
            pairs.extend(near.map(|(k, item)| Pair { row: row as u32, column: (first + k) as u32, value: value(*item) }));
        }
    }
}

/// Appends the pairs of a tile by codes.
fn coded_pairs(
    gram: &KernelGram,
    codes: &CodeValues,
    rows: &[usize],
    tile: Range<usize>,
    scratch: &mut Scratch,
    pairs: &mut Vec<Pair>,
) {
    let block = &mut scratch.codes;
    block.resize(rows.len() * tile.len(), 0);
    let mut slices: Vec<&mut [u8]> = block.chunks_mut(tile.len()).collect();
    gram.fill_codes(rows, tile.clone(), &mut slices);
    let value = |code: u8| codes.values[usize::from(code)];
    append_near(rows, &tile, block, |code| code <= codes.last, value, pairs);
}

/// Appends the pairs of a tile by exact values.
fn exact_pairs(gram: &KernelGram, rows: &[usize], tile: Range<usize>, scratch: &mut Scratch, pairs: &mut Vec<Pair>) {
    let block = &mut scratch.exact;
    block.resize(rows.len() * tile.len(), 0.0);
    gram.compute_exact(rows, tile.clone(), block);
    append_near(rows, &tile, block, |value| value > LEFT_OUT, |value| value, pairs);
}

/// Appends the pairs of a tile by values in `f32`, which are accurate to much less than a factor of
/// two.
fn valued_pairs(gram: &KernelGram, rows: &[usize], tile: Range<usize>, scratch: &mut Scratch, pairs: &mut Vec<Pair>) {
    let Scratch { values: block, exact, .. } = scratch;
    block.resize(rows.len() * tile.len(), 0.0);
    gram.fill(rows, tile.clone(), block);
    let limit = (0.5 * LEFT_OUT) as f32;
    let first = pairs.len();
    append_near(rows, &tile, block, |value| value > limit, f64::from, pairs);
    let found = &mut pairs[first..];
    if found.is_empty() {
        return;
    }
    if CROWDED * found.len() > block.len() {
        exact.resize(block.len(), 0.0);
        gram.compute_exact(rows, tile.clone(), exact);
        for pair in found {
            pair.value = exact[(pair.row as usize - rows[0]) * tile.len() + pair.column as usize - tile.start];
        }
    } else {
        for pairs in found.chunk_by_mut(|a, b| a.row == b.row && b.column as usize - a.column as usize <= GAP) {
            let start = pairs[0].column as usize;
            let columns = start..pairs[pairs.len() - 1].column as usize + 1;
            exact.resize(columns.len(), 0.0);
            gram.compute_exact(&[pairs[0].row as usize], columns, exact);
            pairs.iter_mut().for_each(|pair| pair.value = exact[pair.column as usize - start]);
        }
    }
    let mut kept = first;
    for at in first..pairs.len() {
        if pairs[at].value > LEFT_OUT {
            pairs[kept] = pairs[at];
            kept += 1;
        }
    }
    pairs.truncate(kept);
}
