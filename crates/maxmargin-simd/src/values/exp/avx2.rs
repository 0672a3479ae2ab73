//! Gaussians with AVX2 and FMA. [`Gaussian::one32`] and [`Gaussian::one64`] compute the last,
//! partial vector.

use super::vectors::gaussian;
use super::{C32, C64, Gaussian, ROUND32, ROUND64, integer_distance};
use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm256_add_epi32 as add_epi32, _mm256_add_epi64 as add_epi64, _mm256_add_pd as add_pd, _mm256_add_ps as add_ps,
    _mm256_castpd_si256 as castpd_si, _mm256_castps_si256 as castps_si, _mm256_castsi256_pd as castsi_pd,
    _mm256_castsi256_ps as castsi_ps, _mm256_fmadd_pd as fmadd_pd, _mm256_fmadd_ps as fmadd_ps, _mm256_fmsub_pd as fmsub_pd,
    _mm256_fmsub_ps as fmsub_ps, _mm256_max_pd as max_pd, _mm256_max_ps as max_ps, _mm256_mul_pd as mul_pd,
    _mm256_mul_ps as mul_ps, _mm256_set1_pd as set1_pd, _mm256_set1_ps as set1_ps, _mm256_setzero_pd as setzero_pd,
    _mm256_setzero_ps as setzero_ps, _mm256_slli_epi32 as slli_epi32, _mm256_slli_epi64 as slli_epi64, _mm256_sub_pd as sub_pd,
    _mm256_sub_ps as sub_ps,
};

gaussian!("avx2,fma", __m256, __m256d);

/// `values` where `x` is at most `limit`, −1 elsewhere.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn below_or_minus_one(x: __m256, limit: f32, values: __m256) -> __m256 {
    _mm256_blendv_ps(set1_ps(-1.0), values, _mm256_cmp_ps::<_CMP_LE_OQ>(x, set1_ps(limit)))
}

/// The number with the bits `bits + more` where `x` is at most `limit`, 0 elsewhere.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn below_or_zero32(x: __m256, limit: f32, bits: __m256i, more: __m256i) -> __m256 {
    _mm256_and_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(x, set1_ps(limit)), castsi_ps(add_epi32(bits, more)))
}

/// As [`below_or_zero32`].
#[inline]
#[target_feature(enable = "avx2,fma")]
fn below_or_zero64(x: __m256d, limit: f64, bits: __m256i, more: __m256i) -> __m256d {
    _mm256_and_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(x, set1_pd(limit)), castsi_pd(add_epi64(bits, more)))
}

/// Defines a function over slices: the results of `step` values from `at` on, and of the one at
/// `j`.
macro_rules! fill {
    ($name:ident / $rows:ident, $from:ty, $to:ty, $step:literal, |$g:ident, $norm:ident, $n:ident, $dot:ident, $out:ident| $vector:expr, |$other:ident, $d:ident| $one:expr) => {
        /// See [`Gaussian`].
        ///
        /// # Safety
        ///
        /// The machine has AVX2 and FMA, and the slices have one length.
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        pub(super) unsafe fn $name($g: &Gaussian, $norm: $from, norms: &[$from], dots: &[$from], out: &mut [$to]) {
            let (len, mut at) = (out.len(), 0);
            while at + $step <= len {
                // SAFETY: `at + step` is at most the length of all three slices.
                unsafe {
                    let ($n, $dot, $out) = (norms.as_ptr().add(at), dots.as_ptr().add(at), out.as_mut_ptr().add(at));
                    $vector;
                }
                at += $step;
            }
            for j in at..len {
                let ($other, $d) = (norms[j], dots[j]);
                out[j] = $one;
            }
        }

        /// See [`Gaussian`].
        ///
        /// # Safety
        ///
        /// The machine has AVX2 and FMA; `dots` and `out` have a row as long as `norms` for each of
        /// `row_norms`.
        #[target_feature(enable = "avx2,fma")]
        pub(super) unsafe fn $rows(g: &Gaussian, row_norms: &[$from], norms: &[$from], dots: &[$from], out: &mut [$to]) {
            let len = norms.len().max(1);
            for ((&norm, dots), out) in row_norms.iter().zip(dots.chunks_exact(len)).zip(out.chunks_exact_mut(len)) {
                // SAFETY: the rows have the length of `norms`.
                unsafe { $name(g, norm, norms, dots, out) };
            }
        }
    };
}

/// The squared distances of four pairs.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn distance64(norm: f64, n: __m256d, dot: __m256d) -> __m256d {
    fmadd_pd(set1_pd(-2.0), dot, add_pd(set1_pd(norm), n))
}

fill!(
    fill32 / rows32,
    f32,
    f32,
    8,
    |g, norm, n, dot, out| {
        let sum = add_ps(set1_ps(norm), _mm256_loadu_ps(n));
        _mm256_storeu_ps(out, core32(g, fmadd_ps(set1_ps(-2.0), _mm256_loadu_ps(dot), sum)));
    },
    |n, dot| g.one32((-2.0f32).mul_add(dot, norm + n))
);
fill!(
    fill64 / rows64,
    f64,
    f64,
    4,
    |g, norm, n, dot, out| _mm256_storeu_pd(out, core64(g, distance64(norm, _mm256_loadu_pd(n), _mm256_loadu_pd(dot)))),
    |n, dot| g.one64((-2.0f64).mul_add(dot, norm + n))
);
fill!(
    fill32_from64 / rows32_from64,
    f64,
    f32,
    4,
    |g, norm, n, dot, out| {
        let squared = _mm256_cvtpd_ps(distance64(norm, _mm256_loadu_pd(n), _mm256_loadu_pd(dot)));
        _mm_storeu_ps(out, _mm256_castps256_ps128(core32(g, _mm256_castps128_ps256(squared))));
    },
    |n, dot| g.one32((-2.0f64).mul_add(dot, norm + n) as f32)
);
fill!(
    fill64_from32 / rows64_from32,
    f32,
    f64,
    4,
    |g, norm, n, dot, out| {
        let [n, dot] = [n, dot].map(|four| _mm256_cvtps_pd(_mm_loadu_ps(four)));
        _mm256_storeu_pd(out, core64(g, distance64(f64::from(norm), n, dot)));
    },
    |n, dot| g.one64((-2.0f64).mul_add(f64::from(dot), f64::from(norm) + f64::from(n)))
);
fill!(
    fill32_from_integers / rows32_from_integers,
    i32,
    f32,
    8,
    |g, norm, n, dot, out| {
        let [n, dot] = [n, dot].map(|eight| _mm256_loadu_si256(eight.cast()));
        let squared = _mm256_sub_epi32(add_epi32(_mm256_set1_epi32(norm), n), slli_epi32::<1>(dot));
        _mm256_storeu_ps(out, core32(g, _mm256_cvtepi32_ps(squared)));
    },
    |n, dot| g.one32(integer_distance(norm, n, dot) as f32)
);
fill!(
    fill64_from_integers / rows64_from_integers,
    i32,
    f64,
    4,
    |g, norm, n, dot, out| {
        let [n, dot] = [n, dot].map(|four| _mm_loadu_si128(four.cast()));
        let squared = _mm_sub_epi32(_mm_add_epi32(_mm_set1_epi32(norm), n), _mm_slli_epi32::<1>(dot));
        _mm256_storeu_pd(out, core64(g, _mm256_cvtepi32_pd(squared)));
    },
    |n, dot| g.one64(f64::from(integer_distance(norm, n, dot)))
);
