//! Sums of rows in vectors of eight or four doubles.

use super::{BLOCK, PartialSum, RowTerm, add_wanted};
use std::arch::x86_64::*;
use std::ops::Range;

/// Columns whose sums stay in registers, where a row has as many: enough that no addition waits for
/// the one before.
const WIDE: usize = 32;

/// A function that adds sums of rows with the vectors of a level.
macro_rules! sums_in_vectors {
    ($name:ident, $features:literal, $lanes:literal, [$zero:ident, $set:ident, $load:ident, $add:ident, $mul:ident, $store:ident]) => {
        /// # Safety
        ///
        /// Requires these instructions; all rows have `end` columns, and `end` is a multiple of
        /// [`BLOCK`] and not below the end of `columns`.
        #[target_feature(enable = $features)]
        pub(super) unsafe fn $name(columns: Range<usize>, end: usize, parts: &[PartialSum], out: &mut [f64]) {
            /// # Safety
            ///
            /// As for the function outside; all rows have `WIDTH` columns from `block` on.
            #[target_feature(enable = $features)]
            unsafe fn add_block<const WIDTH: usize, const VECTORS: usize>(
                block: usize,
                columns: &Range<usize>,
                parts: &[PartialSum],
                out: &mut [f64],
            ) {
                let mut stored = [0.0; WIDTH];
                for &PartialSum { point, terms } in parts {
                    let mut sums = [$zero(); VECTORS];
                    for &RowTerm { row, factor } in terms {
                        let factor = $set(factor);
                        for (v, sum) in sums.iter_mut().enumerate() {
                            // SAFETY: VECTORS · lanes is WIDTH, and the row has these columns.
                            let values = unsafe { $load(row.as_ptr().add(block + v * $lanes)) };
                            *sum = $add(*sum, $mul(factor, values));
                        }
                    }
                    for (sum, stored) in sums.into_iter().zip(stored.chunks_exact_mut($lanes)) {
                        // SAFETY: a piece has as many elements as the vector.
                        unsafe { $store(stored.as_mut_ptr(), sum) };
                    }
                    add_wanted(&stored, block, columns, point, out);
                }
            }

            let mut block = columns.start / BLOCK * BLOCK;
            while block < end && end - block >= WIDE {
                // SAFETY: the rows have end ≥ block + WIDE columns.
                unsafe { add_block::<WIDE, { WIDE / $lanes }>(block, &columns, parts, out) };
                block += WIDE;
            }
            while block < end {
                // SAFETY: `block` and `end` are multiples of BLOCK.
                unsafe { add_block::<BLOCK, { BLOCK / $lanes }>(block, &columns, parts, out) };
                block += BLOCK;
            }
        }
    };
}

sums_in_vectors!(
    avx512,
    "avx512f,avx512bw,avx512dq,avx512vl",
    8,
    [_mm512_setzero_pd, _mm512_set1_pd, _mm512_loadu_pd, _mm512_add_pd, _mm512_mul_pd, _mm512_storeu_pd]
);
sums_in_vectors!(
    avx2,
    "avx2",
    4,
    [_mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_add_pd, _mm256_mul_pd, _mm256_storeu_pd]
);
