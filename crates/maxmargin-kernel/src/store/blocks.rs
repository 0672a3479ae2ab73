//! Blocks of dot products: a few rows times panels of columns. Each result is passed on while it is
//! in the first-level cache.

use maxmargin_simd::products::GROUP;
use std::ops::Range;

/// Largest number of columns whose sums are kept for one group of rows.
const COLUMNS: usize = 256;
/// Smallest number of these columns.
const FEWEST: usize = 64;
/// Bytes of columns that stay in the first-level cache for all groups of rows.
const CACHED_BYTES: usize = 14 << 10;
/// Rows that are loaded together.
const ROWS: usize = 240;
/// Blocks begin at multiples of this number, which is a multiple of every panel width.
const ALIGN: usize = 32;

/// Samples in panels of [`Panels::WIDTH`], and the product of a group of rows with a panel.
pub(crate) trait Panels {
    /// An element of a loaded row.
    type Row: Copy + Default;
    /// An element of the results.
    type Sum: Copy + Default;
    /// Samples in a panel; a divisor of 32.
    const WIDTH: usize;

    /// Bytes of one sample in a panel.
    fn sample_bytes(&self) -> usize;

    /// Replaces `rows` by the samples `ids` in the layout that [`Panels::multiply`] reads.
    fn load(&self, ids: &[usize], rows: &mut Vec<Self::Row>);

    /// Converts panels, where the stored form differs from the multiplied one.
    fn prepare(&self, _panels: Range<usize>, _converted: &mut Vec<Self::Sum>) {}

    /// Writes the products of `count` rows with the samples of `panel` to `out[r * STRIDE + j]`.
    /// `converted` begins with panel `first`.
    fn multiply(
        &self,
        rows: &[Self::Row],
        count: usize,
        panel: usize,
        out: &mut [Self::Sum],
        first: usize,
        converted: &[Self::Sum],
    );
}

/// Distance between two rows of the results of [`Panels::multiply`].
pub(crate) const STRIDE: usize = COLUMNS;

/// Buffers of one thread.
#[derive(Default)]
pub(crate) struct Scratch<R, S> {
    groups: Vec<Vec<R>>,
    sums: Vec<S>,
    converted: Vec<S>,
}

/// Calls `each(r, part, sums)` with the products of `rows[r]` and the samples of `part`, for parts
/// of `columns`.
pub(crate) fn blocks<P: Panels>(
    source: &P,
    rows: &[usize],
    columns: &Range<usize>,
    scratch: &mut Scratch<P::Row, P::Sum>,
    mut each: impl FnMut(usize, Range<usize>, &[P::Sum]),
) {
    let Scratch { groups: loaded, sums, converted } = scratch;
    sums.resize(GROUP * COLUMNS, P::Sum::default());
    let width = (CACHED_BYTES / source.sample_bytes()).clamp(FEWEST, COLUMNS) / ALIGN * ALIGN;
    for (batch, rows) in rows.chunks(ROWS).enumerate() {
        let groups: Vec<&[usize]> = rows.chunks(GROUP).collect();
        loaded.resize_with(groups.len().max(loaded.len()), Vec::new);
        groups.iter().zip(loaded.iter_mut()).for_each(|(ids, rows)| source.load(ids, rows));
        let mut start = columns.start;
        while start < columns.end {
            let base = start / ALIGN * ALIGN;
            let end = (base + width).min(columns.end);
            let panels = base / P::WIDTH..end.div_ceil(P::WIDTH);
            source.prepare(panels.clone(), converted);
            for (g, (ids, loaded)) in groups.iter().zip(loaded.iter()).enumerate() {
                for panel in panels.clone() {
                    let out = &mut sums[(panel - panels.start) * P::WIDTH..];
                    source.multiply(loaded, ids.len(), panel, out, panels.start, converted);
                }
                for r in 0..ids.len() {
                    let sums = &sums[r * COLUMNS..][start - base..end - base];
                    each(batch * ROWS + g * GROUP + r, start..end, sums);
                }
            }
            start = end;
        }
    }
}
