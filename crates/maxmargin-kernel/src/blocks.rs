//! Blocks of dot products: a few rows against panels of columns, each result handed on while it is
//! in the first-level cache.

use maxmargin_simd::products::GROUP;
use std::ops::Range;

/// Columns whose sums are kept for one group of rows, at most and at least.
const COLUMNS: usize = 256;
const FEWEST: usize = 64;
/// As many columns as fit here stay in the first-level cache for all groups.
const CACHED_BYTES: usize = 14 << 10;
/// Rows that are loaded at once.
const ROWS: usize = 240;
/// Blocks begin at multiples of this: every panel width divides it.
const ALIGN: usize = 32;

/// Samples in panels of [`Panels::WIDTH`], and how a group of rows is multiplied with one of them.
pub(crate) trait Panels {
    /// What a row is made of when it is multiplied.
    type Row: Copy + Default;
    /// What comes out.
    type Sum: Copy + Default;
    /// Samples in a panel; divides 32.
    const WIDTH: usize;

    /// Bytes of one sample in a panel.
    fn sample_bytes(&self) -> usize;

    /// Replaces `rows` by the samples `ids` in the form that [`Panels::multiply`] reads.
    fn load(&self, ids: &[usize], rows: &mut Vec<Self::Row>);

    /// Converts panels that are held in another form.
    fn prepare(&self, _panels: Range<usize>, _converted: &mut Vec<Self::Sum>) {}

    /// `out[r * COLUMNS + j]`: products of `count` rows with the samples of `panel`; `converted`
    /// begins with panel `first`.
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

/// Elements between two rows of [`Panels::multiply`]'s results.
pub(crate) const STRIDE: usize = COLUMNS;

/// Buffers that one thread reuses.
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
