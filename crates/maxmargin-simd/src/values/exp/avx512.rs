//! Gaussians with AVX-512. Masks take the place of a partial vector.

use super::vectors::gaussian;
use super::{C32, C64, Gaussian, ROUND32, ROUND64};
use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm512_add_epi32 as add_epi32, _mm512_add_pd as add_pd, _mm512_add_ps as add_ps, _mm512_castpd_si512 as castpd_si,
    _mm512_castps_si512 as castps_si, _mm512_castsi512_pd as castsi_pd, _mm512_castsi512_ps as castsi_ps,
    _mm512_fmadd_pd as fmadd_pd, _mm512_fmadd_ps as fmadd_ps, _mm512_fmsub_pd as fmsub_pd, _mm512_fmsub_ps as fmsub_ps,
    _mm512_max_pd as max_pd, _mm512_max_ps as max_ps, _mm512_mul_pd as mul_pd, _mm512_mul_ps as mul_ps,
    _mm512_set1_pd as set1_pd, _mm512_set1_ps as set1_ps, _mm512_setzero_pd as setzero_pd, _mm512_setzero_ps as setzero_ps,
    _mm512_slli_epi32 as slli_epi32, _mm512_slli_epi64 as slli_epi64, _mm512_sub_pd as sub_pd, _mm512_sub_ps as sub_ps,
};

gaussian!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma", __m512, __m512d);

/// `values` where `x` is at most `limit`, −1 elsewhere.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn below_or_minus_one(x: __m512, limit: f32, values: __m512) -> __m512 {
    _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, set1_ps(limit)), set1_ps(-1.0), values)
}

/// The number with the bits `bits + more` where `x` is at most `limit`, 0 elsewhere.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn below_or_zero32(x: __m512, limit: f32, bits: __m512i, more: __m512i) -> __m512 {
    castsi_ps(_mm512_maskz_add_epi32(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(x, set1_ps(limit)), bits, more))
}

/// As [`below_or_zero32`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn below_or_zero64(x: __m512d, limit: f64, bits: __m512i, more: __m512i) -> __m512d {
    castsi_pd(_mm512_maskz_add_epi64(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(x, set1_pd(limit)), bits, more))
}

/// The squared distances of eight pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn distance64(norm: f64, n: __m512d, dot: __m512d) -> __m512d {
    fmadd_pd(set1_pd(-2.0), dot, add_pd(set1_pd(norm), n))
}

/// The squared distances of sixteen pairs of integers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn integer_distances(norm: i32, n: __m512i, dot: __m512i) -> __m512i {
    _mm512_sub_epi32(add_epi32(_mm512_set1_epi32(norm), n), slli_epi32::<1>(dot))
}

/// Defines a function over slices, which computes the results of up to `step` values from `at` on:
/// `live` has a bit for each.
macro_rules! fill {
    ($name:ident / $rows:ident, $from:ty, $to:ty, $step:literal, $mask:ty, |$g:ident, $norm:ident, $n:ident, $dot:ident, $out:ident, $live:ident| $vector:expr) => {
        /// See [`Gaussian`].
        ///
        /// # Safety
        ///
        /// The machine has AVX-512 F, BW, DQ and VL, and the slices have one length.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        pub(super) unsafe fn $name($g: &Gaussian, $norm: $from, norms: &[$from], dots: &[$from], out: &mut [$to]) {
            let (len, mut at) = (out.len(), 0);
            while at < len {
                let $live: $mask = if len - at >= $step { !0 } else { (1 << (len - at)) - 1 };
                // SAFETY: the masks keep loads and stores below `len`, the length of all three
                // slices; a pointer past the end is only formed (with `wrapping_add`) where its
                // mask is empty.
                unsafe {
                    let ($n, $dot, $out) = (norms.as_ptr().add(at), dots.as_ptr().add(at), out.as_mut_ptr().add(at));
                    $vector;
                }
                at += $step;
            }
        }

        /// See [`Gaussian`].
        ///
        /// # Safety
        ///
        /// The machine has AVX-512 F, BW, DQ and VL; `dots` and `out` have a row as long as `norms`
        /// for each of `row_norms`.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
        pub(super) unsafe fn $rows(g: &Gaussian, row_norms: &[$from], norms: &[$from], dots: &[$from], out: &mut [$to]) {
            let len = norms.len().max(1);
            for ((&norm, dots), out) in row_norms.iter().zip(dots.chunks_exact(len)).zip(out.chunks_exact_mut(len)) {
                // SAFETY: the rows have the length of `norms`.
                unsafe { $name(g, norm, norms, dots, out) };
            }
        }
    };
}

fill!(fill32 / rows32, f32, f32, 16, __mmask16, |g, norm, n, dot, out, live| {
    let [n, dot] = [n, dot].map(|sixteen| _mm512_maskz_loadu_ps(live, sixteen));
    let squared = fmadd_ps(set1_ps(-2.0), dot, add_ps(set1_ps(norm), n));
    _mm512_mask_storeu_ps(out, live, core32(g, squared));
});
fill!(fill64 / rows64, f64, f64, 8, __mmask8, |g, norm, n, dot, out, live| {
    let [n, dot] = [n, dot].map(|eight| _mm512_maskz_loadu_pd(live, eight));
    _mm512_mask_storeu_pd(out, live, core64(g, distance64(norm, n, dot)));
});
fill!(fill32_from64 / rows32_from64, f64, f32, 16, __mmask16, |g, norm, n, dot, out, live| {
    let eight = |part: usize| {
        let live = (live >> (8 * part)) as __mmask8;
        let [n, dot] = [n, dot].map(|from| _mm512_maskz_loadu_pd(live, from.wrapping_add(8 * part)));
        _mm512_cvtpd_ps(distance64(norm, n, dot))
    };
    let squared = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(eight(0)), eight(1));
    _mm512_mask_storeu_ps(out, live, core32(g, squared));
});
fill!(fill64_from32 / rows64_from32, f32, f64, 16, __mmask16, |g, norm, n, dot, out, live| {
    let [n, dot] = [n, dot].map(|sixteen| _mm512_maskz_loadu_ps(live, sixteen));
    let [low, high] = [
        distance64(f64::from(norm), _mm512_cvtps_pd(_mm512_castps512_ps256(n)), _mm512_cvtps_pd(_mm512_castps512_ps256(dot))),
        distance64(
            f64::from(norm),
            _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(n)),
            _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(dot)),
        ),
    ];
    _mm512_mask_storeu_pd(out, live as __mmask8, core64(g, low));
    _mm512_mask_storeu_pd(out.wrapping_add(8), (live >> 8) as __mmask8, core64(g, high));
});
fill!(fill32_from_integers / rows32_from_integers, i32, f32, 16, __mmask16, |g, norm, n, dot, out, live| {
    let [n, dot] = [n, dot].map(|sixteen| _mm512_maskz_loadu_epi32(live, sixteen));
    _mm512_mask_storeu_ps(out, live, core32(g, _mm512_cvtepi32_ps(integer_distances(norm, n, dot))));
});
fill!(fill64_from_integers / rows64_from_integers, i32, f64, 16, __mmask16, |g, norm, n, dot, out, live| {
    let [n, dot] = [n, dot].map(|sixteen| _mm512_maskz_loadu_epi32(live, sixteen));
    let squared = integer_distances(norm, n, dot);
    _mm512_mask_storeu_pd(out, live as __mmask8, core64(g, _mm512_cvtepi32_pd(_mm512_castsi512_si256(squared))));
    let high = _mm512_cvtepi32_pd(_mm512_extracti32x8_epi32::<1>(squared));
    _mm512_mask_storeu_pd(out.wrapping_add(8), (live >> 8) as __mmask8, core64(g, high));
});
