//! Gaussians with AVX2 and FMA. [`Gaussian::one32`] and [`Gaussian::one64`] compute the last,
//! partial vector.

use super::{C32, C64, Gaussian, ROUND32, ROUND64, integer_distance};
use std::arch::x86_64::*;

/// Eight results of [`Gaussian::one32`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn core32(g: &Gaussian, squared: __m256) -> __m256 {
    let x = _mm256_max_ps(squared, _mm256_setzero_ps());
    let hi = _mm256_set1_ps(g.hi32);
    let rounded = _mm256_fmadd_ps(x, hi, _mm256_set1_ps(ROUND32));
    let n = _mm256_sub_ps(rounded, _mm256_set1_ps(ROUND32));
    let r = _mm256_fmadd_ps(x, _mm256_set1_ps(g.lo32), _mm256_fmsub_ps(x, hi, n));
    let mut p = _mm256_set1_ps(C32[5]);
    for c in C32[..5].iter().rev() {
        p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(*c));
    }
    let one = _mm256_set1_ps(1.0);
    let kept = _mm256_cmp_ps::<_CMP_LE_OQ>(x, _mm256_set1_ps(g.limit32));
    let scale = _mm256_slli_epi32::<23>(_mm256_castps_si256(rounded));
    if g.less_one {
        let scale = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(one), scale));
        let less = _mm256_fmadd_ps(_mm256_mul_ps(p, r), scale, _mm256_sub_ps(scale, one));
        return _mm256_blendv_ps(_mm256_set1_ps(-1.0), less, kept);
    }
    p = _mm256_fmadd_ps(p, r, one);
    _mm256_and_ps(kept, _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), scale)))
}

/// Four results of [`Gaussian::one64`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn core64(g: &Gaussian, squared: __m256d) -> __m256d {
    let x = _mm256_max_pd(squared, _mm256_setzero_pd());
    let hi = _mm256_set1_pd(g.hi64);
    let rounded = _mm256_fmadd_pd(x, hi, _mm256_set1_pd(ROUND64));
    let n = _mm256_sub_pd(rounded, _mm256_set1_pd(ROUND64));
    let r = _mm256_fmadd_pd(x, _mm256_set1_pd(g.lo64), _mm256_fmsub_pd(x, hi, n));
    let r2 = _mm256_mul_pd(r, r);
    let (mut even, mut odd) = (_mm256_set1_pd(C64[10]), _mm256_set1_pd(C64[9]));
    for k in (0..4).rev() {
        even = _mm256_fmadd_pd(even, r2, _mm256_set1_pd(C64[2 * k + 2]));
        odd = _mm256_fmadd_pd(odd, r2, _mm256_set1_pd(C64[2 * k + 1]));
    }
    even = _mm256_fmadd_pd(even, r2, _mm256_set1_pd(C64[0]));
    let p = _mm256_fmadd_pd(_mm256_fmadd_pd(odd, r, even), r, _mm256_set1_pd(1.0));
    let kept = _mm256_cmp_pd::<_CMP_LE_OQ>(x, _mm256_set1_pd(g.limit64));
    let scale = _mm256_slli_epi64::<52>(_mm256_castpd_si256(rounded));
    _mm256_and_pd(kept, _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(p), scale)))
}

/// See [`Gaussian::fill32`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill32(g: &Gaussian, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    while at + 8 <= len {
        // SAFETY: `at + 8` is at most the length of all three slices.
        unsafe {
            let n = _mm256_loadu_ps(norms.as_ptr().add(at));
            let dot = _mm256_loadu_ps(dots.as_ptr().add(at));
            let sum = _mm256_add_ps(_mm256_set1_ps(norm), n);
            let squared = _mm256_fmadd_ps(_mm256_set1_ps(-2.0), dot, sum);
            _mm256_storeu_ps(out.as_mut_ptr().add(at), core32(g, squared));
        }
        at += 8;
    }
    for j in at..len {
        out[j] = g.one32((-2.0f32).mul_add(dots[j], norm + norms[j]));
    }
}

/// See [`Gaussian::fill64`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill64(g: &Gaussian, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most the length of all three slices.
        unsafe {
            let n = _mm256_loadu_pd(norms.as_ptr().add(at));
            let dot = _mm256_loadu_pd(dots.as_ptr().add(at));
            let sum = _mm256_add_pd(_mm256_set1_pd(norm), n);
            let squared = _mm256_fmadd_pd(_mm256_set1_pd(-2.0), dot, sum);
            _mm256_storeu_pd(out.as_mut_ptr().add(at), core64(g, squared));
        }
        at += 4;
    }
    for j in at..len {
        out[j] = g.one64((-2.0f64).mul_add(dots[j], norm + norms[j]));
    }
}

/// See [`Gaussian::fill32_from64`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill32_from64(g: &Gaussian, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most the length of all three slices.
        unsafe {
            let n = _mm256_loadu_pd(norms.as_ptr().add(at));
            let dot = _mm256_loadu_pd(dots.as_ptr().add(at));
            let sum = _mm256_add_pd(_mm256_set1_pd(norm), n);
            let squared = _mm256_fmadd_pd(_mm256_set1_pd(-2.0), dot, sum);
            let wide = _mm256_castps128_ps256(_mm256_cvtpd_ps(squared));
            _mm_storeu_ps(out.as_mut_ptr().add(at), _mm256_castps256_ps128(core32(g, wide)));
        }
        at += 4;
    }
    for j in at..len {
        out[j] = g.one32((-2.0f64).mul_add(dots[j], norm + norms[j]) as f32);
    }
}

/// See [`Gaussian::fill64_from32`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill64_from32(g: &Gaussian, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most the length of all three slices.
        unsafe {
            let n = _mm256_cvtps_pd(_mm_loadu_ps(norms.as_ptr().add(at)));
            let dot = _mm256_cvtps_pd(_mm_loadu_ps(dots.as_ptr().add(at)));
            let sum = _mm256_add_pd(_mm256_set1_pd(f64::from(norm)), n);
            let squared = _mm256_fmadd_pd(_mm256_set1_pd(-2.0), dot, sum);
            _mm256_storeu_pd(out.as_mut_ptr().add(at), core64(g, squared));
        }
        at += 4;
    }
    for j in at..len {
        out[j] = g.one64((-2.0f64).mul_add(f64::from(dots[j]), f64::from(norm) + f64::from(norms[j])));
    }
}

/// See [`Gaussian::fill32_from_integers`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill32_from_integers(g: &Gaussian, norm: i32, norms: &[i32], dots: &[i32], out: &mut [f32]) {
    let (len, mut at) = (out.len(), 0);
    while at + 8 <= len {
        // SAFETY: `at + 8` is at most the length of all three slices.
        unsafe {
            let n = _mm256_loadu_si256(norms.as_ptr().add(at).cast());
            let dot = _mm256_loadu_si256(dots.as_ptr().add(at).cast());
            let squared = _mm256_sub_epi32(_mm256_add_epi32(_mm256_set1_epi32(norm), n), _mm256_slli_epi32::<1>(dot));
            _mm256_storeu_ps(out.as_mut_ptr().add(at), core32(g, _mm256_cvtepi32_ps(squared)));
        }
        at += 8;
    }
    for j in at..len {
        out[j] = g.one32(integer_distance(norm, norms[j], dots[j]) as f32);
    }
}

/// See [`Gaussian::fill64_from_integers`].
///
/// # Safety
///
/// The machine has AVX2 and FMA, and the slices have one length.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill64_from_integers(g: &Gaussian, norm: i32, norms: &[i32], dots: &[i32], out: &mut [f64]) {
    let (len, mut at) = (out.len(), 0);
    while at + 4 <= len {
        // SAFETY: `at + 4` is at most the length of all three slices.
        unsafe {
            let n = _mm_loadu_si128(norms.as_ptr().add(at).cast());
            let dot = _mm_loadu_si128(dots.as_ptr().add(at).cast());
            let squared = _mm_sub_epi32(_mm_add_epi32(_mm_set1_epi32(norm), n), _mm_slli_epi32::<1>(dot));
            _mm256_storeu_pd(out.as_mut_ptr().add(at), core64(g, _mm256_cvtepi32_pd(squared)));
        }
        at += 4;
    }
    for j in at..len {
        out[j] = g.one64(f64::from(integer_distance(norm, norms[j], dots[j])));
    }
}
