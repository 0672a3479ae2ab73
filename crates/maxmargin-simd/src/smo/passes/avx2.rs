//! The SMO passes with AVX2: vectors of 4 doubles, sets expanded from bits to lane masks.

use super::portable::MASKS;
use super::{
    Along, CONJUGATE, Diagonal, Extremes, LANES, Lanes, PairUpdate, PartnerSelection, SINGLE, bit, scan_chunk, update_each,
};
use crate::rows::row::{CHUNK, RowSlice, Stretch};
use std::arch::x86_64::*;

/// Vectors that hold the virtual lanes.
const PARTS: usize = LANES / 4;

/// All-ones lanes where the four bits from `k` on (a multiple of 4) are set.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(set: &[u8], k: usize) -> __m256d {
    let mask = &MASKS[usize::from(set[k / 8] >> (k % 8) & 15)];
    // SAFETY: four numbers of 64 bits.
    unsafe { _mm256_loadu_pd(mask.as_ptr().cast()) }
}

/// The elements of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn array(vector: __m256d) -> [f64; 4] {
    let mut values = [0.0; 4];
    // SAFETY: the array has four elements.
    unsafe { _mm256_storeu_pd(values.as_mut_ptr(), vector) };
    values
}

/// # Safety
///
/// Requires AVX2; `ki` as long as `f`, `kj` too and of the same form but for [`SINGLE`], `q` for
/// [`CONJUGATE`]; a bit per element in `up` and `low`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn update_and_scan<const KIND: u8>(
    f: &mut [f64],
    q: &mut [f64],
    PairUpdate { ki, kj, beta, delta }: PairUpdate,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    let n = f.len();
    let (mut one, mut two) = (Stretch::default(), Stretch::default());
    let (step, betas) = (_mm256_set1_pd(delta), _mm256_set1_pd(beta));
    let (inf, neg) = (_mm256_set1_pd(f64::INFINITY), _mm256_set1_pd(f64::NEG_INFINITY));
    let (mut min_up, mut chunk_up) = (f64::INFINITY, 0);
    let (mut max_low, mut chunk_low) = (f64::NEG_INFINITY, 0);
    for start in (0..n).step_by(CHUNK) {
        let end = (start + CHUNK).min(n);
        let full = start + (end - start) / 8 * 8;
        let (mut lowest, mut highest) = (inf, neg);
        // SAFETY: as for this function; a chunk is no longer than a stretch.
        let (first, second) =
            unsafe { (one.values(&ki, start, end), if KIND == SINGLE { &[] } else { two.values(&kj, start, end) }) };
        for k in (start..full).step_by(8) {
            for k in [k, k + 4] {
                // SAFETY: k + 4 ≤ end; there is a second row but for SINGLE.
                let at = |row: &[f32]| unsafe { _mm256_cvtps_pd(_mm_loadu_ps(row.as_ptr().add(k - start))) };
                let mut a = if KIND == SINGLE { at(first) } else { _mm256_sub_pd(at(first), at(second)) };
                if KIND == CONJUGATE {
                    // SAFETY: k + 4 ≤ n bounds both accesses.
                    unsafe {
                        a = _mm256_add_pd(a, _mm256_mul_pd(betas, _mm256_loadu_pd(q.as_ptr().add(k))));
                        _mm256_storeu_pd(q.as_mut_ptr().add(k), a);
                    }
                }
                let moved = _mm256_mul_pd(step, a);
                // SAFETY: k + 4 ≤ n bounds both accesses.
                let value = unsafe {
                    let value = _mm256_add_pd(_mm256_loadu_pd(f.as_ptr().add(k)), moved);
                    _mm256_storeu_pd(f.as_mut_ptr().add(k), value);
                    value
                };
                lowest = _mm256_min_pd(_mm256_blendv_pd(inf, value, lanes_of(up, k)), lowest);
                highest = _mm256_max_pd(_mm256_blendv_pd(neg, value, lanes_of(low, k)), highest);
            }
        }
        let (least, most) = (array(lowest), array(highest));
        update_each::<KIND>(full, &mut f[..end], q, PairUpdate { ki, kj, beta, delta });
        // The tail starts inside a byte of the sets: scan from the start of this byte.
        let byte = full / 8 * 8;
        let tail = if full < end { scan_chunk(&f[byte..end], &up[byte / 8..], &low[byte / 8..]) } else { Extremes::NONE };
        let least = least.into_iter().fold(tail.min_up, f64::min);
        let most = most.into_iter().fold(tail.max_low, f64::max);
        if least < min_up {
            (min_up, chunk_up) = (least, start);
        }
        if most > max_low {
            (max_low, chunk_low) = (most, start);
        }
    }
    let (argmin_up, argmax_low) = (place(f, up, min_up, chunk_up), place(f, low, max_low, chunk_low));
    Extremes { min_up, argmin_up, max_low, argmax_low }
}

/// The lowest index of an element of `set` with this value, in the chunk from `start` on;
/// `usize::MAX` where there is none.
#[target_feature(enable = "avx2")]
fn place(f: &[f64], set: &[u8], value: f64, start: usize) -> usize {
    let end = (start + CHUNK).min(f.len());
    let full = start + (end - start) / 8 * 8;
    let values = _mm256_set1_pd(value);
    for k in (start..full).step_by(8) {
        // SAFETY: k + 8 ≤ full ≤ n.
        let (first, second) = unsafe { (_mm256_loadu_pd(f.as_ptr().add(k)), _mm256_loadu_pd(f.as_ptr().add(k + 4))) };
        let equal = |part| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(part, values)) as u8;
        let found = (equal(first) | equal(second) << 4) & set[k / 8];
        if found != 0 {
            return k + found.trailing_zeros() as usize;
        }
    }
    (full..end).find(|&k| f[k] == value && bit(set, k)).unwrap_or(usize::MAX)
}

/// # Safety
///
/// Requires AVX2; `ki` (and `q`, and a diagonal given for each element) as long as `f`; a bit per
/// element in `low`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn second_order(f: &[f64], ki: RowSlice, selection: &PartnerSelection, low: &[u8]) -> Lanes {
    let &PartnerSelection { diagonal, along, kii, fi, tau } = selection;
    let mut stretch = Stretch::default();
    let full = f.len() / LANES * LANES;
    let (threshold, least) = (_mm256_set1_pd(fi), _mm256_set1_pd(tau));
    let (two, own) = (_mm256_set1_pd(2.0), _mm256_set1_pd(kii));
    let zero = _mm256_setzero_pd();
    let mut num = [zero; PARTS];
    let mut den = [_mm256_set1_pd(1.0); PARTS];
    let mut block = [_mm256_set1_epi64x(-1); PARTS];
    for start in (0..full).step_by(CHUNK) {
        let end = (start + CHUNK).min(full);
        // SAFETY: as for this function; a chunk is no longer than a stretch.
        let row = unsafe { stretch.values(&ki, start, end) };
        for k in (start..end).step_by(LANES) {
            let (mut squares, mut curvatures, mut better) = ([zero; PARTS], [zero; PARTS], [zero; PARTS]);
            for part in 0..PARTS {
                let at = k + 4 * part;
                // SAFETY: at + 4 ≤ full ≤ n bounds every access.
                let (b, kij, sum) = unsafe {
                    let sum = match diagonal {
                        Diagonal::Constant(d) => _mm256_set1_pd(kii + d),
                        Diagonal::Each(d) => _mm256_add_pd(own, _mm256_loadu_pd(d.as_ptr().add(at))),
                    };
                    let b = _mm256_sub_pd(_mm256_loadu_pd(f.as_ptr().add(at)), threshold);
                    (b, _mm256_cvtps_pd(_mm_loadu_ps(row.as_ptr().add(at - start))), sum)
                };
                let mut a = _mm256_sub_pd(sum, _mm256_mul_pd(two, kij));
                if let Some(Along { q, qi, scale }) = along {
                    // SAFETY: as above.
                    let apart = unsafe { _mm256_sub_pd(_mm256_loadu_pd(q.as_ptr().add(at)), _mm256_set1_pd(qi)) };
                    a = _mm256_sub_pd(a, _mm256_mul_pd(_mm256_set1_pd(scale), _mm256_mul_pd(apart, apart)));
                }
                curvatures[part] = _mm256_max_pd(a, least);
                squares[part] = _mm256_mul_pd(b, b);
                let positive = _mm256_and_pd(lanes_of(low, at), _mm256_cmp_pd::<_CMP_GT_OQ>(b, zero));
                let gains = _mm256_mul_pd(squares[part], den[part]);
                let gains = _mm256_cmp_pd::<_CMP_GT_OQ>(gains, _mm256_mul_pd(num[part], curvatures[part]));
                better[part] = _mm256_and_pd(positive, gains);
            }
            // Most blocks have no better candidate.
            let any = _mm256_or_pd(_mm256_or_pd(better[0], better[1]), _mm256_or_pd(better[2], better[3]));
            if _mm256_movemask_pd(any) == 0 {
                continue;
            }
            let here = _mm256_set1_epi64x((k / LANES) as i64);
            for part in 0..PARTS {
                num[part] = _mm256_blendv_pd(num[part], squares[part], better[part]);
                den[part] = _mm256_blendv_pd(den[part], curvatures[part], better[part]);
                block[part] = _mm256_blendv_epi8(block[part], here, _mm256_castpd_si256(better[part]));
            }
        }
    }
    let mut lanes = stored(num, den, block);
    lanes.scalar(full, f, ki, selection, low);
    lanes
}

/// The lanes in memory.
#[inline]
#[target_feature(enable = "avx2")]
fn stored(num: [__m256d; PARTS], den: [__m256d; PARTS], block: [__m256i; PARTS]) -> Lanes {
    let mut lanes = Lanes::new();
    for part in 0..PARTS {
        // SAFETY: each array has 16 elements; a part writes 4 of them.
        unsafe {
            _mm256_storeu_pd(lanes.num.as_mut_ptr().add(4 * part), num[part]);
            _mm256_storeu_pd(lanes.den.as_mut_ptr().add(4 * part), den[part]);
            _mm256_storeu_si256(lanes.block.as_mut_ptr().add(4 * part).cast(), block[part]);
        }
    }
    lanes
}
