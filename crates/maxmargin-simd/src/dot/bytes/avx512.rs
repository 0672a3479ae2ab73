//! Byte products with AVX-512 VNNI.

use super::PANEL;
use std::arch::x86_64::*;

/// See [`super::products`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ, VL and VNNI; `1 ≤ count ≤ 12`; `rows` holds `steps × count`
/// elements, `panel` `steps × 128` bytes, `out` at least `(count − 1) × stride + 32`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
pub(super) unsafe fn products(rows: &[[i8; 4]], count: usize, panel: &[u8], out: &mut [i32], stride: usize) {
    // SAFETY: the caller's promises, passed on.
    unsafe {
        match count {
            1 => group::<1>(rows, panel, out, stride),
            2 => group::<2>(rows, panel, out, stride),
            3 => group::<3>(rows, panel, out, stride),
            4 => group::<4>(rows, panel, out, stride),
            5 => group::<5>(rows, panel, out, stride),
            6 => group::<6>(rows, panel, out, stride),
            7 => group::<7>(rows, panel, out, stride),
            8 => group::<8>(rows, panel, out, stride),
            9 => group::<9>(rows, panel, out, stride),
            10 => group::<10>(rows, panel, out, stride),
            11 => group::<11>(rows, panel, out, stride),
            _ => group::<12>(rows, panel, out, stride),
        }
    }
}

/// Multiplies `R` rows with one panel; `2 R` sums stay in registers.
///
/// # Safety
///
/// As for [`products`] with `count = R`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
unsafe fn group<const R: usize>(rows: &[[i8; 4]], panel: &[u8], out: &mut [i32], stride: usize) {
    let mut low = [_mm512_setzero_si512(); R];
    let mut high = [_mm512_setzero_si512(); R];
    let (mut row, mut column) = (rows.as_ptr(), panel.as_ptr());
    for _ in 0..rows.len() / R {
        // SAFETY: one step reads `R` elements of `rows` and 128 bytes of `panel`, which hold
        // `steps` times as much.
        unsafe {
            let first = _mm512_loadu_si512(column.cast());
            let second = _mm512_loadu_si512(column.add(64).cast());
            for r in 0..R {
                let x = _mm512_set1_epi32(row.add(r).cast::<i32>().read_unaligned());
                low[r] = _mm512_dpbusd_epi32(low[r], first, x);
                high[r] = _mm512_dpbusd_epi32(high[r], second, x);
            }
            row = row.add(R);
            column = column.add(4 * PANEL);
        }
    }
    for r in 0..R {
        // SAFETY: `out` holds `(R − 1) × stride + 32` sums.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().add(r * stride).cast(), low[r]);
            _mm512_storeu_si512(out.as_mut_ptr().add(r * stride + 16).cast(), high[r]);
        }
    }
}
