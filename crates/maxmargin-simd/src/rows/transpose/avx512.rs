//! A 16 × 16 transpose in registers.

use std::arch::x86_64::*;

/// `out[r][to + c] = sources[c][from + r]` for 16 rows and 16 sources.
///
/// # Safety
///
/// The machine has AVX-512 F; every source has `from + 16` values and every row of `out` `to + 16`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn transpose16(sources: &[&[f32]; 16], from: usize, out: &mut [&mut [f32]; 16], to: usize) {
    let mut a = [_mm512_setzero_ps(); 16];
    for (a, source) in a.iter_mut().zip(sources) {
        // SAFETY: the source has `from + 16` values.
        *a = unsafe { _mm512_loadu_ps(source.as_ptr().add(from)) };
    }
    // First pairs, then groups of four, within the 128-bit lanes.
    let mut b = [_mm512_setzero_pd(); 16];
    for k in 0..8 {
        b[2 * k] = _mm512_castps_pd(_mm512_unpacklo_ps(a[2 * k], a[2 * k + 1]));
        b[2 * k + 1] = _mm512_castps_pd(_mm512_unpackhi_ps(a[2 * k], a[2 * k + 1]));
    }
    let mut c = [_mm512_setzero_ps(); 16];
    for k in 0..4 {
        c[4 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(b[4 * k], b[4 * k + 2]));
        c[4 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(b[4 * k], b[4 * k + 2]));
        c[4 * k + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b[4 * k + 1], b[4 * k + 3]));
        c[4 * k + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b[4 * k + 1], b[4 * k + 3]));
    }
    // c[4k + m], lane l: row 4l + m of sources 4k … 4k + 3. Now the lanes.
    for m in 0..4 {
        let even01 = _mm512_shuffle_f32x4::<0b1000_1000>(c[m], c[4 + m]);
        let odd01 = _mm512_shuffle_f32x4::<0b1101_1101>(c[m], c[4 + m]);
        let even23 = _mm512_shuffle_f32x4::<0b1000_1000>(c[8 + m], c[12 + m]);
        let odd23 = _mm512_shuffle_f32x4::<0b1101_1101>(c[8 + m], c[12 + m]);
        let rows = [
            _mm512_shuffle_f32x4::<0b1000_1000>(even01, even23),
            _mm512_shuffle_f32x4::<0b1000_1000>(odd01, odd23),
            _mm512_shuffle_f32x4::<0b1101_1101>(even01, even23),
            _mm512_shuffle_f32x4::<0b1101_1101>(odd01, odd23),
        ];
        for (l, row) in rows.into_iter().enumerate() {
            // SAFETY: the row of `out` has `to + 16` values.
            unsafe { _mm512_storeu_ps(out[4 * l + m].as_mut_ptr().add(to), row) };
        }
    }
}
