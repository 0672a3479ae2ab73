//! Sums of rows of doubles with factors, for many small sums over the same rows.
//!
//! All levels return the same bits: the terms of a column are added one after the other, without
//! fused multiply-adds.

use crate::dispatch::level::{Level, level};
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
mod vectors;

/// A row with a factor.
#[derive(Clone, Copy, Debug)]
pub struct RowTerm<'a> {
    /// The row, in whole blocks.
    pub row: &'a [f64],
    /// The factor.
    pub factor: f64,
}

/// Some terms of the sum of a point.
#[derive(Clone, Copy, Debug)]
pub struct PartialSum<'a> {
    /// The index of the point.
    pub point: usize,
    /// The terms.
    pub terms: &'a [RowTerm<'a>],
}

/// Columns of a block. Rows of kept values begin at multiples of it, and are as long as a multiple
/// of it.
pub const BLOCK: usize = 16;

/// Adds `Σ factor · row_c` of every partial sum to the sum of its point, for every column `c` of
/// `columns`. The sums of a point follow each other in `out`.
///
/// All parts read a few blocks of columns before the next ones. Parts of the same rows should
/// follow each other: their blocks are in a cache then.
///
/// # Panics
///
/// When a point has no place in `out`, or the columns, in whole blocks, exceed a row.
pub fn add_sums_of_rows(columns: Range<usize>, parts: &[PartialSum], out: &mut [f64]) {
    let end = columns.end.checked_next_multiple_of(BLOCK).expect("whole blocks");
    let rows = |part: &PartialSum| part.terms.iter().all(|term| term.row.len() >= end);
    assert!(parts.iter().all(rows), "whole blocks");
    match level() {
        // SAFETY: `level` found these instructions on this machine; the rows were checked above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { vectors::avx512(columns, end, parts, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { vectors::avx2(columns, end, parts, out) },
        _ => portable(columns, parts, out),
    }
}

fn portable(columns: Range<usize>, parts: &[PartialSum], out: &mut [f64]) {
    for block in (columns.start / BLOCK * BLOCK..columns.end).step_by(BLOCK) {
        for &PartialSum { point, terms } in parts {
            let mut sums = [0.0; BLOCK];
            for &RowTerm { row, factor } in terms {
                let row: &[f64; BLOCK] = row[block..].first_chunk().expect("whole blocks");
                for lane in 0..BLOCK {
                    sums[lane] += factor * row[lane];
                }
            }
            add_wanted(&sums, block, &columns, point, out);
        }
    }
}

/// Adds the sums of columns from `block` on to those of a point. Sums of other columns are left.
#[inline(always)]
fn add_wanted(sums: &[f64], block: usize, columns: &Range<usize>, point: usize, out: &mut [f64]) {
    let wanted = columns.start.max(block)..columns.end.min(block + sums.len());
    let out = &mut out[point * columns.len() + wanted.start - columns.start..][..wanted.len()];
    out.iter_mut().zip(&sums[wanted.start - block..]).for_each(|(out, sum)| *out += sum);
}
