//! The SMO passes with AVX-512: 8 doubles a vector, sets as mask registers.

use super::{CHUNK, Diagonal, Extremes, LANES, Lanes, locate};
use std::arch::x86_64::*;

/// Elements between a read of a row that comes from memory and its prefetch: the hardware's own stops at every page.
const AHEAD: usize = 512;

/// # Safety
///
/// Needs AVX-512 F, DQ and VL; `ki` as long as `f`, `kj` too where `PAIR`; a bit per element in `up` and `low`.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn update_and_scan<const PAIR: bool>(
    f: &mut [f64],
    ki: &[f32],
    kj: &[f32],
    delta: f64,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    let n = f.len();
    let step = _mm512_set1_pd(delta);
    let (inf, neg) = (_mm512_set1_pd(f64::INFINITY), _mm512_set1_pd(f64::NEG_INFINITY));
    let (mut min_up, mut chunk_up) = (f64::INFINITY, 0);
    let (mut max_low, mut chunk_low) = (f64::NEG_INFINITY, 0);
    let mut start = 0;
    while start < n {
        let end = (start + CHUNK).min(n);
        let full = start + (end - start) / 8 * 8;
        let (mut lowest, mut highest) = (inf, neg);
        let mut k = start;
        while k < full {
            // SAFETY: k + 8 ≤ n bounds every 8-element access; byte k / 8 holds the bits k … k + 7 (k is a multiple of 8).
            // A prefetch may name any address.
            unsafe {
                if PAIR {
                    _mm_prefetch::<_MM_HINT_T0>(kj.as_ptr().wrapping_add(k + AHEAD).cast());
                } else {
                    _mm_prefetch::<_MM_HINT_T0>(ki.as_ptr().wrapping_add(k + AHEAD).cast());
                }
                let a = _mm512_cvtps_pd(_mm256_loadu_ps(ki.as_ptr().add(k)));
                let a = if PAIR { _mm512_sub_pd(a, _mm512_cvtps_pd(_mm256_loadu_ps(kj.as_ptr().add(k)))) } else { a };
                let moved = _mm512_mul_pd(step, a);
                let value = _mm512_add_pd(_mm512_loadu_pd(f.as_ptr().add(k)), moved);
                _mm512_storeu_pd(f.as_mut_ptr().add(k), value);
                lowest = _mm512_mask_min_pd(lowest, *up.get_unchecked(k / 8), lowest, value);
                highest = _mm512_mask_max_pd(highest, *low.get_unchecked(k / 8), highest, value);
            }
            k += 8;
        }
        if full < end {
            let tail = (1_u8 << (end - full)) - 1;
            // SAFETY: masked loads and stores touch only the end − full elements below n.
            unsafe {
                let a = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(tail, ki.as_ptr().add(k)));
                let a = if PAIR { _mm512_sub_pd(a, _mm512_cvtps_pd(_mm256_maskz_loadu_ps(tail, kj.as_ptr().add(k)))) } else { a };
                let moved = _mm512_mul_pd(step, a);
                let value = _mm512_add_pd(_mm512_maskz_loadu_pd(tail, f.as_ptr().add(k)), moved);
                _mm512_mask_storeu_pd(f.as_mut_ptr().add(k), tail, value);
                lowest = _mm512_mask_min_pd(lowest, up[k / 8] & tail, lowest, value);
                highest = _mm512_mask_max_pd(highest, low[k / 8] & tail, highest, value);
            }
        }
        let (least, most) = (_mm512_reduce_min_pd(lowest), _mm512_reduce_max_pd(highest));
        if least < min_up {
            (min_up, chunk_up) = (least, start);
        }
        if most > max_low {
            (max_low, chunk_low) = (most, start);
        }
        start = end;
    }
    locate(f, up, low, (min_up, chunk_up), (max_low, chunk_low))
}

/// # Safety
///
/// Needs AVX-512 F, DQ and VL; `ki` (and a diagonal given for each element) as long as `f`; a bit per element in `low`.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) unsafe fn second_order(f: &[f64], ki: &[f32], diagonal: Diagonal, kii: f64, fi: f64, tau: f64, low: &[u8]) -> Lanes {
    let full = f.len() / LANES * LANES;
    let threshold = _mm512_set1_pd(fi);
    let least = _mm512_set1_pd(tau);
    let two = _mm512_set1_pd(2.0);
    let own = _mm512_set1_pd(kii);
    let constant = match diagonal {
        Diagonal::Constant(d) => _mm512_set1_pd(kii + d),
        Diagonal::Each(_) => own,
    };
    let mut num = [_mm512_setzero_pd(); 2];
    let mut den = [_mm512_set1_pd(1.0); 2];
    let mut block = [_mm512_set1_epi64(-1); 2];
    let mut k = 0;
    while k < full {
        let here = _mm512_set1_epi64((k / LANES) as i64);
        for half in 0..2 {
            let at = k + 8 * half;
            // SAFETY: at + 8 ≤ full ≤ n bounds every access; byte at / 8 holds the bits at … at + 7. A prefetch may name any
            // address.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(ki.as_ptr().wrapping_add(at + AHEAD).cast());
                let b = _mm512_sub_pd(_mm512_loadu_pd(f.as_ptr().add(at)), threshold);
                let candidate = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(*low.get_unchecked(at / 8), b, _mm512_setzero_pd());
                let sum = match diagonal {
                    Diagonal::Constant(_) => constant,
                    Diagonal::Each(d) => _mm512_add_pd(own, _mm512_loadu_pd(d.as_ptr().add(at))),
                };
                let cross = _mm512_mul_pd(two, _mm512_cvtps_pd(_mm256_loadu_ps(ki.as_ptr().add(at))));
                let a = _mm512_max_pd(_mm512_sub_pd(sum, cross), least);
                let square = _mm512_mul_pd(b, b);
                let better = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(
                    candidate,
                    _mm512_mul_pd(square, den[half]),
                    _mm512_mul_pd(num[half], a),
                );
                num[half] = _mm512_mask_mov_pd(num[half], better, square);
                den[half] = _mm512_mask_mov_pd(den[half], better, a);
                block[half] = _mm512_mask_mov_epi64(block[half], better, here);
            }
        }
        k += LANES;
    }
    let mut lanes = Lanes::new();
    for half in 0..2 {
        // SAFETY: each array has 16 elements; a half writes 8 of them.
        unsafe {
            _mm512_storeu_pd(lanes.num.as_mut_ptr().add(8 * half), num[half]);
            _mm512_storeu_pd(lanes.den.as_mut_ptr().add(8 * half), den[half]);
            _mm512_storeu_epi64(lanes.block.as_mut_ptr().add(8 * half), block[half]);
        }
    }
    lanes.scalar(full, f, ki, diagonal, kii, fi, tau, low);
    lanes
}
