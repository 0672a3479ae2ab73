//! Values of a row of any form, a stretch at a time.

use super::{CodeTable, FEW, RowSlice, Stretch};
use std::arch::x86_64::*;

impl Stretch {
    /// The values of the entries from `from` to `to`, at most a chunk of them: in place, or
    /// decoded.
    ///
    /// # Safety
    ///
    /// Requires AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn values<'s>(&'s mut self, row: &RowSlice<'s>, from: usize, to: usize) -> &'s [f32] {
        match row {
            RowSlice::Values(values) => &values[from..to],
            RowSlice::Codes(codes, table) => {
                let out = &mut self.buffer()[..to - from];
                // SAFETY: as for this function; both have `to − from` entries.
                unsafe { decode(table, &codes[from..to], out) };
                out
            }
        }
    }
}

/// Writes the values of `codes`.
///
/// A table of few values consists of four byte tables, one for each byte of an `f32`. Shuffles look
/// up 32 codes at once, and the bytes are then interleaved.
///
/// # Safety
///
/// Requires AVX2 and slices of one length.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn decode(table: &CodeTable, codes: &[u8], out: &mut [f32]) {
    let full = if table.few { codes.len() / FEW * FEW } else { 0 };
    if full > 0 {
        let part = |byte: usize, half: usize| {
            // SAFETY: 16 of the 32 bytes of a plane.
            unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.planes[byte].as_ptr().add(16 * half).cast())) }
        };
        let low: [__m256i; 4] = std::array::from_fn(|byte| part(byte, 0));
        let high: [__m256i; 4] = std::array::from_fn(|byte| part(byte, 1));
        // Interleaving works within halves of a vector. Quarters of the codes are permuted first,
        // so that the result is in order.
        let betas = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
        let last = _mm256_set1_epi8(FEW as i8 - 1);
        for k in (0..full).step_by(FEW) {
            // SAFETY: k + 32 ≤ full.
            let codes = unsafe { _mm256_loadu_si256(codes.as_ptr().add(k).cast()) };
            let codes = _mm256_min_epu8(_mm256_permutevar8x32_epi32(codes, betas), last);
            // The bit of 16, at the position that the blend instruction reads.
            let upper = _mm256_slli_epi16::<3>(codes);
            let [a, b, c, d]: [__m256i; 4] = std::array::from_fn(|byte| {
                _mm256_blendv_epi8(_mm256_shuffle_epi8(low[byte], codes), _mm256_shuffle_epi8(high[byte], codes), upper)
            });
            let (first, second) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
            let (third, fourth) = (_mm256_unpacklo_epi8(c, d), _mm256_unpackhi_epi8(c, d));
            let values = [
                _mm256_unpacklo_epi16(first, third),
                _mm256_unpackhi_epi16(first, third),
                _mm256_unpacklo_epi16(second, fourth),
                _mm256_unpackhi_epi16(second, fourth),
            ];
            for (part, values) in values.into_iter().enumerate() {
                // SAFETY: 4 × 8 values from k on, k + 32 ≤ full.
                unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(k + 8 * part).cast(), values) };
            }
        }
    }
    out[full..].iter_mut().zip(&codes[full..]).for_each(|(out, &code)| *out = table.value(code));
}
