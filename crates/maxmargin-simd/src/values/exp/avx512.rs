//! Gaussians with AVX-512.

use super::{C32, C64, Gaussian, ROUND32, ROUND64};
use std::arch::x86_64::*;

/// Sixteen results of [`Gaussian::one32`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn core32(g: &Gaussian, squared: __m512) -> __m512 {
    let x = _mm512_max_ps(squared, _mm512_setzero_ps());
    let hi = _mm512_set1_ps(g.hi32);
    let rounded = _mm512_fmadd_ps(x, hi, _mm512_set1_ps(ROUND32));
    let n = _mm512_sub_ps(rounded, _mm512_set1_ps(ROUND32));
    let r = _mm512_fmadd_ps(x, _mm512_set1_ps(g.lo32), _mm512_fmsub_ps(x, hi, n));
    let mut p = _mm512_set1_ps(C32[5]);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C32[4]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C32[3]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C32[2]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C32[1]));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C32[0]));
    let one = _mm512_set1_ps(1.0);
    let kept = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, _mm512_set1_ps(g.limit32));
    let scale = _mm512_slli_epi32::<23>(_mm512_castps_si512(rounded));
    if g.less_one {
        let scale = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(one), scale));
        let less = _mm512_fmadd_ps(_mm512_mul_ps(p, r), scale, _mm512_sub_ps(scale, one));
        return _mm512_mask_blend_ps(kept, _mm512_set1_ps(-1.0), less);
    }
    p = _mm512_fmadd_ps(p, r, one);
    _mm512_castsi512_ps(_mm512_maskz_add_epi32(kept, _mm512_castps_si512(p), scale))
}

/// Eight results of [`Gaussian::one64`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn core64(g: &Gaussian, squared: __m512d) -> __m512d {
    let x = _mm512_max_pd(squared, _mm512_setzero_pd());
    let hi = _mm512_set1_pd(g.hi64);
    let rounded = _mm512_fmadd_pd(x, hi, _mm512_set1_pd(ROUND64));
    let n = _mm512_sub_pd(rounded, _mm512_set1_pd(ROUND64));
    let r = _mm512_fmadd_pd(x, _mm512_set1_pd(g.lo64), _mm512_fmsub_pd(x, hi, n));
    let r2 = _mm512_mul_pd(r, r);
    let (mut even, mut odd) = (_mm512_set1_pd(C64[10]), _mm512_set1_pd(C64[9]));
    for k in (0..4).rev() {
        even = _mm512_fmadd_pd(even, r2, _mm512_set1_pd(C64[2 * k + 2]));
        odd = _mm512_fmadd_pd(odd, r2, _mm512_set1_pd(C64[2 * k + 1]));
    }
    even = _mm512_fmadd_pd(even, r2, _mm512_set1_pd(C64[0]));
    let p = _mm512_fmadd_pd(_mm512_fmadd_pd(odd, r, even), r, _mm512_set1_pd(1.0));
    let kept = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, _mm512_set1_pd(g.limit64));
    let scale = _mm512_slli_epi64::<52>(_mm512_castpd_si512(rounded));
    _mm512_castsi512_pd(_mm512_maskz_add_epi64(kept, _mm512_castpd_si512(p), scale))
}

/// See [`Gaussian::fill32`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill32(g: &Gaussian, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    let (norm, minus2) = (_mm512_set1_ps(norm), _mm512_set1_ps(-2.0));
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        // SAFETY: the mask keeps loads and stores below `len`, the length of all three slices.
        unsafe {
            let n = _mm512_maskz_loadu_ps(live, norms.as_ptr().add(at));
            let dot = _mm512_maskz_loadu_ps(live, dots.as_ptr().add(at));
            let squared = _mm512_fmadd_ps(minus2, dot, _mm512_add_ps(norm, n));
            _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, core32(g, squared));
        }
        at += 16;
    }
}

/// See [`Gaussian::fill64`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill64(g: &Gaussian, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    let (norm, minus2) = (_mm512_set1_pd(norm), _mm512_set1_pd(-2.0));
    while at < len {
        let live: __mmask8 = if len - at >= 8 { !0 } else { (1 << (len - at)) - 1 };
        // SAFETY: the mask keeps loads and stores below `len`, the length of all three slices.
        unsafe {
            let n = _mm512_maskz_loadu_pd(live, norms.as_ptr().add(at));
            let dot = _mm512_maskz_loadu_pd(live, dots.as_ptr().add(at));
            let squared = _mm512_fmadd_pd(minus2, dot, _mm512_add_pd(norm, n));
            _mm512_mask_storeu_pd(out.as_mut_ptr().add(at), live, core64(g, squared));
        }
        at += 8;
    }
}

/// See [`Gaussian::fill32_from64`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill32_from64(g: &Gaussian, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    let (norm, minus2) = (_mm512_set1_pd(norm), _mm512_set1_pd(-2.0));
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        let (low, high) = (live as __mmask8, (live >> 8) as __mmask8);
        // SAFETY: the masks keep loads and stores below `len`, the length of all three slices; the
        // second pointer may lie past the end, where its mask is empty, and `wrapping_add` allows
        // it.
        unsafe {
            let n0 = _mm512_maskz_loadu_pd(low, norms.as_ptr().wrapping_add(at));
            let n1 = _mm512_maskz_loadu_pd(high, norms.as_ptr().wrapping_add(at + 8));
            let dot0 = _mm512_maskz_loadu_pd(low, dots.as_ptr().wrapping_add(at));
            let dot1 = _mm512_maskz_loadu_pd(high, dots.as_ptr().wrapping_add(at + 8));
            let squared0 = _mm512_cvtpd_ps(_mm512_fmadd_pd(minus2, dot0, _mm512_add_pd(norm, n0)));
            let squared1 = _mm512_cvtpd_ps(_mm512_fmadd_pd(minus2, dot1, _mm512_add_pd(norm, n1)));
            let squared = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(squared0), squared1);
            _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, core32(g, squared));
        }
        at += 16;
    }
}

/// See [`Gaussian::fill64_from32`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill64_from32(g: &Gaussian, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    let (norm, minus2) = (_mm512_set1_pd(f64::from(norm)), _mm512_set1_pd(-2.0));
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        let (low, high) = (live as __mmask8, (live >> 8) as __mmask8);
        // SAFETY: as in `fill32_from64`.
        unsafe {
            let n = _mm512_maskz_loadu_ps(live, norms.as_ptr().add(at));
            let dot = _mm512_maskz_loadu_ps(live, dots.as_ptr().add(at));
            let n0 = _mm512_cvtps_pd(_mm512_castps512_ps256(n));
            let n1 = _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(n));
            let dot0 = _mm512_cvtps_pd(_mm512_castps512_ps256(dot));
            let dot1 = _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(dot));
            let squared0 = _mm512_fmadd_pd(minus2, dot0, _mm512_add_pd(norm, n0));
            let squared1 = _mm512_fmadd_pd(minus2, dot1, _mm512_add_pd(norm, n1));
            _mm512_mask_storeu_pd(out.as_mut_ptr().wrapping_add(at), low, core64(g, squared0));
            _mm512_mask_storeu_pd(out.as_mut_ptr().wrapping_add(at + 8), high, core64(g, squared1));
        }
        at += 16;
    }
}

/// See [`Gaussian::fill32_from_integers`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill32_from_integers(g: &Gaussian, norm: i32, norms: &[i32], dots: &[i32], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    let norm = _mm512_set1_epi32(norm);
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        // SAFETY: the masks keep loads and stores below `len`, the length of all three slices; a
        // pointer past the end is only formed (with `wrapping_add`) where its mask is empty.
        unsafe {
            let n = _mm512_maskz_loadu_epi32(live, norms.as_ptr().add(at));
            let dot = _mm512_maskz_loadu_epi32(live, dots.as_ptr().add(at));
            let squared = _mm512_sub_epi32(_mm512_add_epi32(norm, n), _mm512_slli_epi32::<1>(dot));
            _mm512_mask_storeu_ps(out.as_mut_ptr().add(at), live, core32(g, _mm512_cvtepi32_ps(squared)));
        }
        at += 16;
    }
}

/// See [`Gaussian::fill64_from_integers`].
///
/// # Safety
///
/// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
pub(super) unsafe fn fill64_from_integers(g: &Gaussian, norm: i32, norms: &[i32], dots: &[i32], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    let norm = _mm512_set1_epi32(norm);
    while at < len {
        let live: __mmask16 = if len - at >= 16 { !0 } else { (1 << (len - at)) - 1 };
        // SAFETY: the masks keep loads and stores below `len`, the length of all three slices; a
        // pointer past the end is only formed (with `wrapping_add`) where its mask is empty.
        unsafe {
            let n = _mm512_maskz_loadu_epi32(live, norms.as_ptr().add(at));
            let dot = _mm512_maskz_loadu_epi32(live, dots.as_ptr().add(at));
            let squared = _mm512_sub_epi32(_mm512_add_epi32(norm, n), _mm512_slli_epi32::<1>(dot));
            let squared0 = _mm512_cvtepi32_pd(_mm512_castsi512_si256(squared));
            let squared1 = _mm512_cvtepi32_pd(_mm512_extracti32x8_epi32::<1>(squared));
            _mm512_mask_storeu_pd(out.as_mut_ptr().wrapping_add(at), live as __mmask8, core64(g, squared0));
            _mm512_mask_storeu_pd(out.as_mut_ptr().wrapping_add(at + 8), (live >> 8) as __mmask8, core64(g, squared1));
        }
        at += 16;
    }
}
