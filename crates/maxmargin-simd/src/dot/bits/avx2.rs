//! Common bits of rows with AVX2: table lookups count half bytes, counts are added in bytes, and
//! bytes are summed once for many words.

use super::PANEL;
use std::arch::x86_64::*;

/// Vectors of four words in a panel.
const PARTS: usize = PANEL / 4;

/// Number of words whose counts fit in a byte: each adds at most 8.
const WORDS: usize = 31;

/// # Safety
///
/// Requires AVX2; `rows` holds a whole number of words for each of `count` rows, `panel` as many
/// for [`PANEL`] samples, and `out` has room for `count` lines of [`PANEL`] sums that begin
/// `stride` apart.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn products(rows: &[u64], count: usize, panel: &[u64], out: &mut [i32], stride: usize) {
    let words = rows.len() / count;
    let counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    let half = _mm256_set1_epi8(15);
    let zero = _mm256_setzero_si256();
    for r in 0..count {
        let mut sums = [zero; PARTS];
        for from in (0..words).step_by(WORDS) {
            let mut bytes = [zero; PARTS];
            for k in from..words.min(from + WORDS) {
                let word = _mm256_set1_epi64x(rows[k * count + r].cast_signed());
                for (part, bytes) in bytes.iter_mut().enumerate() {
                    // SAFETY: k < words, so that 4 words from k PANEL + 4 part on are in the panel.
                    let column = unsafe { _mm256_loadu_si256(panel.as_ptr().add(k * PANEL + 4 * part).cast()) };
                    let both = _mm256_and_si256(word, column);
                    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(both, half));
                    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(both), half));
                    *bytes = _mm256_add_epi8(*bytes, _mm256_add_epi8(low, high));
                }
            }
            for (sum, bytes) in sums.iter_mut().zip(bytes) {
                *sum = _mm256_add_epi64(*sum, _mm256_sad_epu8(bytes, zero));
            }
        }
        // The low halves of eight sums, in order.
        let order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        for (pair, sums) in sums.as_chunks::<2>().0.iter().enumerate() {
            let [first, second] = sums.map(|sum| _mm256_permutevar8x32_epi32(sum, order));
            let eight = _mm256_blend_epi32::<0b1111_0000>(first, second);
            // SAFETY: the caller's `out` has PANEL sums from r stride on.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(r * stride + 8 * pair).cast(), eight) };
        }
    }
}
