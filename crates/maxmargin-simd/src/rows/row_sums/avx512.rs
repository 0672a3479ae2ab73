//! Sums of rows with AVX-512.

use super::{BLOCK, PartialSum, RowTerm, add_wanted};
use std::arch::x86_64::*;
use std::ops::Range;

/// Doubles of a vector.
const LANES: usize = 8;

/// Vectors of sums, where a row has as many columns: enough that no addition waits for the one
/// before.
const MANY: usize = 4;
const FEW: usize = BLOCK / LANES;

/// # Safety
///
/// Requires AVX-512 F; all rows have the columns in whole blocks.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn add(columns: Range<usize>, parts: &[PartialSum], out: &mut [f64]) {
    let end = columns.end.next_multiple_of(BLOCK);
    let mut block = columns.start / BLOCK * BLOCK;
    while block + MANY * LANES <= end {
        // SAFETY: the rows have end ≥ block + MANY · LANES columns.
        unsafe { add_block::<MANY>(block, &columns, parts, out) };
        block += MANY * LANES;
    }
    while block < end {
        // SAFETY: `block` and `end` are multiples of FEW · LANES.
        unsafe { add_block::<FEW>(block, &columns, parts, out) };
        block += BLOCK;
    }
}

/// # Safety
///
/// As [`add`]; all rows have `VECTORS · LANES` columns from `block` on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn add_block<const VECTORS: usize>(block: usize, columns: &Range<usize>, parts: &[PartialSum], out: &mut [f64]) {
    let mut stored = [0.0; MANY * LANES];
    for &PartialSum { point, terms } in parts {
        let mut sums = [_mm512_setzero_pd(); VECTORS];
        for &RowTerm { row, factor } in terms {
            let factor = _mm512_set1_pd(factor);
            for (v, sum) in sums.iter_mut().enumerate() {
                // SAFETY: as for this function.
                let values = unsafe { _mm512_loadu_pd(row.as_ptr().add(block + v * LANES)) };
                *sum = _mm512_add_pd(*sum, _mm512_mul_pd(factor, values));
            }
        }
        for (sum, stored) in sums.into_iter().zip(stored.chunks_exact_mut(LANES)) {
            // SAFETY: a piece has LANES elements.
            unsafe { _mm512_storeu_pd(stored.as_mut_ptr(), sum) };
        }
        add_wanted(&stored[..VECTORS * LANES], block, columns, point, out);
    }
}
