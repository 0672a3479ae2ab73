//! Values of small distances with AVX-512: permutations of registers, or gathers.

use super::{DISTANCES, FEW};
use std::arch::x86_64::*;

/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn look_up<const IN_REGISTERS: bool>(
    values: &[f64; DISTANCES],
    row: i32,
    columns: &[i32],
    sums: &[i32],
    out: &mut [f64],
) {
    // SAFETY: 8 of 256 values.
    let held: [__m512d; FEW / 8] = std::array::from_fn(|part| unsafe { _mm512_loadu_pd(values.as_ptr().add(8 * part)) });
    let (row, last) = (_mm256_set1_epi32(row), _mm256_set1_epi32(if IN_REGISTERS { FEW } else { DISTANCES } as i32 - 1));
    for at in (0..out.len()).step_by(8) {
        let left = out.len() - at;
        let live: __mmask8 = if left >= 8 { !0 } else { (1 << left) - 1 };
        // SAFETY: the mask keeps loads and stores below the length, and no distance is larger than
        // the last of the table.
        unsafe {
            let column = _mm256_maskz_loadu_epi32(live, columns.as_ptr().add(at));
            let sum = _mm256_maskz_loadu_epi32(live, sums.as_ptr().add(at));
            let distance = _mm256_sub_epi32(_mm256_add_epi32(row, column), _mm256_slli_epi32::<1>(sum));
            let distance = _mm256_min_epu32(distance, last);
            let found = if IN_REGISTERS {
                let distance = _mm512_cvtepi32_epi64(distance);
                let upper = _mm512_test_epi64_mask(distance, _mm512_set1_epi64(FEW as i64 / 2));
                let low = _mm512_permutex2var_pd(held[0], distance, held[1]);
                let high = _mm512_permutex2var_pd(held[2], distance, held[3]);
                _mm512_mask_blend_pd(upper, low, high)
            } else {
                _mm512_i32gather_pd::<8>(distance, values.as_ptr())
            };
            _mm512_mask_storeu_pd(out.as_mut_ptr().add(at), live, found);
        }
    }
}
