//! A 16 × 16 transpose in registers, as four of 8 × 8.

use std::arch::x86_64::*;

/// `out[r][to + c] = sources[c][from + r]` for 16 rows and 16 sources.
///
/// # Safety
///
/// The machine has AVX2; every source has `from + 16` values and every row of `out` `to + 16`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn transpose16(sources: &[&[f32]; 16], from: usize, out: &mut [&mut [f32]; 16], to: usize) {
    for c in [0, 8] {
        for r in [0, 8] {
            // SAFETY: as for this function; `r` and `c` are at most 8.
            unsafe { transpose8(&sources[c..c + 8], from + r, &mut out[r..r + 8], to + c) };
        }
    }
}

/// The same for 8 rows and 8 sources.
///
/// # Safety
///
/// The machine has AVX2; there are 8 sources with `from + 8` values and 8 rows of `out` with `to +
/// 8`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn transpose8(sources: &[&[f32]], from: usize, out: &mut [&mut [f32]], to: usize) {
    let mut a = [_mm256_setzero_ps(); 8];
    for (a, source) in a.iter_mut().zip(sources) {
        // SAFETY: the source has `from + 8` values.
        *a = unsafe { _mm256_loadu_ps(source.as_ptr().add(from)) };
    }
    // First pairs, then groups of four, within the 128-bit lanes.
    let mut b = [_mm256_setzero_pd(); 8];
    for k in 0..4 {
        b[2 * k] = _mm256_castps_pd(_mm256_unpacklo_ps(a[2 * k], a[2 * k + 1]));
        b[2 * k + 1] = _mm256_castps_pd(_mm256_unpackhi_ps(a[2 * k], a[2 * k + 1]));
    }
    let mut c = [_mm256_setzero_ps(); 8];
    for k in 0..2 {
        c[4 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(b[4 * k], b[4 * k + 2]));
        c[4 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(b[4 * k], b[4 * k + 2]));
        c[4 * k + 2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b[4 * k + 1], b[4 * k + 3]));
        c[4 * k + 3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b[4 * k + 1], b[4 * k + 3]));
    }
    // c[4k + m], lane l: row 4l + m of sources 4k … 4k + 3. Now the lanes.
    for m in 0..4 {
        let rows = [_mm256_permute2f128_ps::<0b0010_0000>(c[m], c[4 + m]), _mm256_permute2f128_ps::<0b0011_0001>(c[m], c[4 + m])];
        for (l, row) in rows.into_iter().enumerate() {
            // SAFETY: the row of `out` has `to + 8` values.
            unsafe { _mm256_storeu_ps(out[4 * l + m].as_mut_ptr().add(to), row) };
        }
    }
}
