//! Common bits of rows with AVX-512: one instruction counts the words of eight samples.

use super::PANEL;
use std::arch::x86_64::*;

/// Vectors of eight words in a panel.
const PARTS: usize = PANEL / 8;

/// # Safety
///
/// Requires AVX-512 F and VPOPCNTDQ; `rows` holds a whole number of words for each of `count` rows,
/// `panel` as many for [`PANEL`] samples, and `out` has room for `count` lines of [`PANEL`] sums
/// that begin `stride` apart.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) unsafe fn products(rows: &[u64], count: usize, panel: &[u64], out: &mut [i32], stride: usize) {
    let words = rows.len() / count;
    for r in 0..count {
        let mut sums = [_mm512_setzero_si512(); PARTS];
        for k in 0..words {
            let word = _mm512_set1_epi64(rows[k * count + r].cast_signed());
            for (part, sum) in sums.iter_mut().enumerate() {
                // SAFETY: k < words, so that 8 words from k PANEL + 8 part on are in the panel.
                let column = unsafe { _mm512_loadu_si512(panel.as_ptr().add(k * PANEL + 8 * part).cast()) };
                *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(_mm512_and_si512(word, column)));
            }
        }
        for (part, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller's `out` has PANEL sums from r stride on.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(r * stride + 8 * part).cast(), _mm512_cvtepi64_epi32(sum)) };
        }
    }
}
