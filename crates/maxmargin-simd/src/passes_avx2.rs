//! The SMO passes with AVX2: 4 doubles a vector, sets expanded from bits to lane masks.

use super::{CHUNK, Diagonal, Extremes, LANES, Lanes, locate, scan_chunk};
use crate::row::avx2::Source;
use crate::row::{FEW_CODES, Form, MANY_CODES, Row, VALUES};
use std::arch::x86_64::*;

/// All-ones lanes where the four bits from `k` on (a multiple of 4) are set.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(set: &[u8], k: usize) -> __m256d {
    let nibble = i64::from(set[k / 8] >> (k % 8));
    let bits = _mm256_set_epi64x(8, 4, 2, 1);
    _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(nibble), bits), bits))
}

/// # Safety
///
/// Needs AVX2; `ki` as long as `f`, `kj` too and of the same form where `PAIR`; a bit per element in `up` and `low`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn update_and_scan<const PAIR: bool>(
    f: &mut [f64],
    ki: Row,
    kj: Row,
    delta: f64,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    // SAFETY: as for this function, and the form is that of the rows.
    unsafe {
        match ki.form() {
            Form::Values => update::<PAIR, VALUES>(f, ki, kj, delta, up, low),
            Form::Few => update::<PAIR, FEW_CODES>(f, ki, kj, delta, up, low),
            Form::Many => update::<PAIR, MANY_CODES>(f, ki, kj, delta, up, low),
        }
    }
}

/// # Safety
///
/// As [`update_and_scan`]; rows have the form `FORM`, given at compile time.
#[target_feature(enable = "avx2")]
unsafe fn update<const PAIR: bool, const FORM: u8>(
    f: &mut [f64],
    ki: Row,
    kj: Row,
    delta: f64,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    let n = f.len();
    let (one, two) = (Source::of(&ki), Source::of(&kj));
    let step = _mm256_set1_pd(delta);
    let (inf, neg) = (_mm256_set1_pd(f64::INFINITY), _mm256_set1_pd(f64::NEG_INFINITY));
    let (mut min_up, mut chunk_up) = (f64::INFINITY, 0);
    let (mut max_low, mut chunk_low) = (f64::NEG_INFINITY, 0);
    for start in (0..n).step_by(CHUNK) {
        let end = (start + CHUNK).min(n);
        let full = start + (end - start) / 8 * 8;
        let (mut lowest, mut highest) = (inf, neg);
        for k in (start..full).step_by(8) {
            // SAFETY: k + 8 ≤ n, and the rows have this form; there is a second row where PAIR.
            let (a, b) =
                unsafe { (one.eight::<FORM>(k), if PAIR { two.eight::<FORM>(k) } else { (_mm_setzero_ps(), _mm_setzero_ps()) }) };
            for (k, a, b) in [(k, a.0, b.0), (k + 4, a.1, b.1)] {
                let a = _mm256_cvtps_pd(a);
                let a = if PAIR { _mm256_sub_pd(a, _mm256_cvtps_pd(b)) } else { a };
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
        let (mut least, mut most) = ([0.0; 4], [0.0; 4]);
        // SAFETY: both arrays have four elements.
        unsafe {
            _mm256_storeu_pd(least.as_mut_ptr(), lowest);
            _mm256_storeu_pd(most.as_mut_ptr(), highest);
        }
        for (k, f) in (full..end).zip(&mut f[full..end]) {
            let other = if PAIR { f64::from(kj.at(k)) } else { 0.0 };
            *f += delta * (f64::from(ki.at(k)) - other);
        }
        // The tail starts inside a byte: scan it in the frame of the chunk's last byte.
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
    locate(f, up, low, (min_up, chunk_up), (max_low, chunk_low))
}

/// # Safety
///
/// Needs AVX2; `ki` (and a diagonal given for each element) as long as `f`; a bit per element in `low`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn second_order(f: &[f64], ki: Row, diagonal: Diagonal, kii: f64, fi: f64, tau: f64, low: &[u8]) -> Lanes {
    // SAFETY: as for this function, and the form is that of the row.
    unsafe {
        match ki.form() {
            Form::Values => select::<VALUES>(f, ki, diagonal, kii, fi, tau, low),
            Form::Few => select::<FEW_CODES>(f, ki, diagonal, kii, fi, tau, low),
            Form::Many => select::<MANY_CODES>(f, ki, diagonal, kii, fi, tau, low),
        }
    }
}

/// # Safety
///
/// As [`second_order`]; the row has the form `FORM`, given at compile time.
#[target_feature(enable = "avx2")]
unsafe fn select<const FORM: u8>(f: &[f64], ki: Row, diagonal: Diagonal, kii: f64, fi: f64, tau: f64, low: &[u8]) -> Lanes {
    const PARTS: usize = LANES / 4;
    let source = Source::of(&ki);
    let full = f.len() / LANES * LANES;
    let (threshold, least) = (_mm256_set1_pd(fi), _mm256_set1_pd(tau));
    let (two, own) = (_mm256_set1_pd(2.0), _mm256_set1_pd(kii));
    let mut num = [_mm256_setzero_pd(); PARTS];
    let mut den = [_mm256_set1_pd(1.0); PARTS];
    let mut block = [_mm256_set1_epi64x(-1); PARTS];
    for k in (0..full).step_by(LANES) {
        let here = _mm256_set1_epi64x((k / LANES) as i64);
        // SAFETY: k + 16 ≤ full ≤ n, and the row has this form.
        let (first, second) = unsafe { (source.eight::<FORM>(k), source.eight::<FORM>(k + 8)) };
        let values = [first.0, first.1, second.0, second.1];
        for part in 0..PARTS {
            let at = k + 4 * part;
            // SAFETY: at + 4 ≤ full ≤ n bounds every access.
            let (b, kij, sum) = unsafe {
                let sum = match diagonal {
                    Diagonal::Constant(d) => _mm256_set1_pd(kii + d),
                    Diagonal::Each(d) => _mm256_add_pd(own, _mm256_loadu_pd(d.as_ptr().add(at))),
                };
                let b = _mm256_sub_pd(_mm256_loadu_pd(f.as_ptr().add(at)), threshold);
                (b, _mm256_cvtps_pd(values[part]), sum)
            };
            let a = _mm256_max_pd(_mm256_sub_pd(sum, _mm256_mul_pd(two, kij)), least);
            let square = _mm256_mul_pd(b, b);
            let positive = _mm256_and_pd(lanes_of(low, at), _mm256_cmp_pd::<_CMP_GT_OQ>(b, _mm256_setzero_pd()));
            let gains = _mm256_cmp_pd::<_CMP_GT_OQ>(_mm256_mul_pd(square, den[part]), _mm256_mul_pd(num[part], a));
            let better = _mm256_and_pd(positive, gains);
            num[part] = _mm256_blendv_pd(num[part], square, better);
            den[part] = _mm256_blendv_pd(den[part], a, better);
            block[part] = _mm256_blendv_epi8(block[part], here, _mm256_castpd_si256(better));
        }
    }
    let mut lanes = Lanes::new();
    for part in 0..PARTS {
        // SAFETY: each array has 16 elements; a part writes 4 of them.
        unsafe {
            _mm256_storeu_pd(lanes.num.as_mut_ptr().add(4 * part), num[part]);
            _mm256_storeu_pd(lanes.den.as_mut_ptr().add(4 * part), den[part]);
            _mm256_storeu_si256(lanes.block.as_mut_ptr().add(4 * part).cast(), block[part]);
        }
    }
    lanes.scalar(full, f, ki, diagonal, kii, fi, tau, low);
    lanes
}
