//! Values of small distances with AVX2: a shuffle looks up one byte of 32 values, and the eight
//! bytes of each value are interleaved afterwards. Gathers take longer than single loads.

use super::FEW;
use std::arch::x86_64::*;

/// Values that are looked up together.
pub(super) const TOGETHER: usize = 32;

/// # Safety
///
/// The machine has AVX2, and the slices have one length, a multiple of [`TOGETHER`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn look_up(bytes: &[[u8; FEW]; 8], row: i32, columns: &[i32], sums: &[i32], out: &mut [f64]) {
    const { assert!(FEW == 32, "two vectors of 16 bytes hold one byte of all values") };
    let row = _mm256_set1_epi32(row);
    // In each half, the pairs of the first four of eight values and then the pairs of the others.
    let pairs = _mm256_setr_epi8(
        0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15,
    );
    let (upper, top) = (_mm256_set1_epi8(16), _mm256_set1_epi8(-128));
    for at in (0..out.len()).step_by(TOGETHER) {
        let mut distances = [_mm256_setzero_si256(); 4];
        for (part, distance) in distances.iter_mut().enumerate() {
            // SAFETY: the lengths are multiples of 32, and at + 8 part + 8 is at most at + 32.
            let (column, sum) = unsafe {
                let from = at + 8 * part;
                (_mm256_loadu_si256(columns.as_ptr().add(from).cast()), _mm256_loadu_si256(sums.as_ptr().add(from).cast()))
            };
            *distance = _mm256_sub_epi32(_mm256_add_epi32(row, column), _mm256_add_epi32(sum, sum));
        }
        let [a, b, c, d] = distances;
        let packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        // The low half has values 0 and 1 of each four, the high half 2 and 3, so that a half of
        // each interleaved vector has two of four values that follow each other.
        let code = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_shuffle_epi8(packed, pairs));
        // A shuffle makes 0 of a byte whose top bit is set: one table answers and the other does
        // not.
        let is_upper = _mm256_cmpeq_epi8(_mm256_and_si256(code, upper), upper);
        let low = _mm256_or_si256(code, _mm256_and_si256(is_upper, top));
        let high = _mm256_or_si256(code, _mm256_andnot_si256(is_upper, top));
        let mut found = [_mm256_setzero_si256(); 8];
        for (found, table) in found.iter_mut().zip(bytes) {
            // SAFETY: two times 16 bytes of 32.
            let (first, second) =
                unsafe { (_mm_loadu_si128(table.as_ptr().cast()), _mm_loadu_si128(table.as_ptr().add(16).cast())) };
            let (first, second) = (_mm256_broadcastsi128_si256(first), _mm256_broadcastsi128_si256(second));
            *found = _mm256_or_si256(_mm256_shuffle_epi8(first, low), _mm256_shuffle_epi8(second, high));
        }
        let [b0, b1, b2, b3, b4, b5, b6, b7] = found;
        let halves = |a, b, c, d| {
            let (low, high) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
            let (next_low, next_high) = (_mm256_unpacklo_epi8(c, d), _mm256_unpackhi_epi8(c, d));
            [
                _mm256_unpacklo_epi16(low, next_low),
                _mm256_unpackhi_epi16(low, next_low),
                _mm256_unpacklo_epi16(high, next_high),
                _mm256_unpackhi_epi16(high, next_high),
            ]
        };
        let (low, high) = (halves(b0, b1, b2, b3), halves(b4, b5, b6, b7));
        // The first of the four values of each interleaved vector: pairs 0, 2, 4, 6 of the first
        // half of each eight come before those of the second.
        for (k, (low, high)) in low.into_iter().zip(high).enumerate() {
            let first = if k < 2 { 16 * k } else { 16 * (k - 2) + 4 };
            // SAFETY: at most at + 16 + 8 + 4 + 4 values, which is at + 32.
            unsafe {
                let out = out.as_mut_ptr().add(at + first);
                _mm256_storeu_si256(out.cast(), _mm256_unpacklo_epi32(low, high));
                _mm256_storeu_si256(out.add(8).cast(), _mm256_unpackhi_epi32(low, high));
            }
        }
    }
}
