//! Which rows to compute together with one that is missing: a block of rows costs little more than one.

use crate::state::State;
use maxmargin_kernel::Rows;
use maxmargin_simd::passes::{Extremes, bit};

/// Rows computed together.
const BLOCK: usize = 32;

/// Computes the row at place `wanted` and, in the same block, the missing rows of the worst violators: the variables that the
/// next iterations are most likely to select.
pub(crate) fn fetch_with_violators(state: &State, rows: &Rows, wanted: usize, extremes: &Extremes) {
    let id = state.layout.id(wanted);
    let middle = f64::midpoint(extremes.min_up, extremes.max_low);
    let (up, low) = state.sets();
    let mut violators: Vec<(f64, usize)> = Vec::new();
    for piece in state.layout.pieces() {
        for place in piece.at..piece.at + piece.columns.len() {
            let away = state.f[place] - middle;
            if (away < 0.0 && bit(up, place)) || (away > 0.0 && bit(low, place)) {
                violators.push((away.abs(), state.layout.id(place)));
            }
        }
    }
    violators.retain(|&(_, other)| other != id && !rows.contains(other));
    if violators.len() > BLOCK - 1 {
        // Descending by violation, ties by index: the same block whatever the order of the sort.
        let worst = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        violators.select_nth_unstable_by(BLOCK - 2, worst);
        violators.truncate(BLOCK - 1);
    }
    let mut block: Vec<usize> = violators.into_iter().map(|(_, id)| id).collect();
    block.push(id);
    block.sort_unstable();
    rows.fetch(&block);
}
