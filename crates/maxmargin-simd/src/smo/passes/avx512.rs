//! The SMO passes with AVX-512: sixteen kernel values as two vectors of eight doubles, sets as mask
//! registers.

use super::{Along, Best, CONJUGATE, Diagonal, Extremes, LANES, PairUpdate, Partner, PartnerSelection, SINGLE};
use crate::rows::row::avx512::Source;
use crate::rows::row::{CHUNK, FEW_CODES, Form, MANY_CODES, RowSlice, Stretch, VALUES};
use std::arch::x86_64::*;

/// Distance, in elements, of prefetches of rows from memory: the hardware prefetcher stops at every
/// page.
const AHEAD: usize = 512;

/// Converts sixteen floats to two vectors of doubles.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn halves(values: __m512) -> [__m512d; 2] {
    [_mm512_cvtps_pd(_mm512_castps512_ps256(values)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(values))]
}

/// # Safety
///
/// Requires AVX-512 F, BW, DQ and VL; `ki` as long as `f`, `kj` too and of the same form but for
/// [`SINGLE`], `q` for [`CONJUGATE`]; a bit per element in `up` and `low`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn update_and_scan<const KIND: u8>(
    f: &mut [f64],
    q: &mut [f64],
    update: PairUpdate,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    // SAFETY: as for this function, and the form is that of the rows.
    unsafe {
        match update.ki.form() {
            Form::Values => each::<KIND, VALUES>(f, q, update, up, low),
            Form::Few => each::<KIND, FEW_CODES>(f, q, update, up, low),
            Form::Many => each::<KIND, MANY_CODES>(f, q, update, up, low),
        }
    }
}

/// # Safety
///
/// As [`update_and_scan`]; rows have the form `FORM`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn each<const KIND: u8, const FORM: u8>(
    f: &mut [f64],
    q: &mut [f64],
    PairUpdate { ki, kj, beta, delta }: PairUpdate,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    let n = f.len();
    let (mut one, mut two) = (Source::of(&ki), Source::of(&kj));
    let (mut first, mut second) = (Stretch::default(), Stretch::default());
    let (step, beta) = (_mm512_set1_pd(delta), _mm512_set1_pd(beta));
    let (inf, neg) = (_mm512_set1_pd(f64::INFINITY), _mm512_set1_pd(f64::NEG_INFINITY));
    let (mut min_up, mut chunk_up) = (f64::INFINITY, 0);
    let (mut max_low, mut chunk_low) = (f64::NEG_INFINITY, 0);
    let mut start = 0;
    while start < n {
        let end = (start + CHUNK).min(n);
        let full = start + (end - start) / 16 * 16;
        // SAFETY: the rows have n ≥ end entries.
        unsafe {
            one.enter::<FORM>(&mut first, start, end);
            if KIND != SINGLE {
                two.enter::<FORM>(&mut second, start, end);
            }
        }
        let (mut lowest, mut highest) = ([inf; 2], [neg; 2]);
        let mut k = start;
        while k < full {
            // SAFETY: k + 16 ≤ n bounds every access; bytes k / 8 and k / 8 + 1 hold the bits k … k
            // + 15 (k is a multiple of 16).
            unsafe {
                if KIND == SINGLE {
                    one.prefetch::<FORM>(k + AHEAD);
                } else {
                    two.prefetch::<FORM>(k + AHEAD);
                }
                let a = halves(one.sixteen::<FORM>(k));
                let b = if KIND == SINGLE { a } else { halves(two.sixteen::<FORM>(k)) };
                for half in 0..2 {
                    let at = k + 8 * half;
                    let mut difference = if KIND == SINGLE { a[half] } else { _mm512_sub_pd(a[half], b[half]) };
                    if KIND == CONJUGATE {
                        difference = _mm512_add_pd(difference, _mm512_mul_pd(beta, _mm512_loadu_pd(q.as_ptr().add(at))));
                        _mm512_storeu_pd(q.as_mut_ptr().add(at), difference);
                    }
                    let value = _mm512_add_pd(_mm512_loadu_pd(f.as_ptr().add(at)), _mm512_mul_pd(step, difference));
                    _mm512_storeu_pd(f.as_mut_ptr().add(at), value);
                    lowest[half] = _mm512_mask_min_pd(lowest[half], *up.get_unchecked(at / 8), lowest[half], value);
                    highest[half] = _mm512_mask_max_pd(highest[half], *low.get_unchecked(at / 8), highest[half], value);
                }
            }
            k += 16;
        }
        if full < end {
            let live = (1_u16 << (end - full)) - 1;
            // SAFETY: masked loads and stores touch only the end − full elements below n; a byte of
            // a set is read where it has one.
            unsafe {
                let a = halves(one.some::<FORM>(k, live));
                let b = if KIND == SINGLE { a } else { halves(two.some::<FORM>(k, live)) };
                for half in 0..2 {
                    let (at, tail) = (k + 8 * half, (live >> (8 * half)) as u8);
                    if tail == 0 {
                        break;
                    }
                    let mut difference = if KIND == SINGLE { a[half] } else { _mm512_sub_pd(a[half], b[half]) };
                    if KIND == CONJUGATE {
                        let before = _mm512_maskz_loadu_pd(tail, q.as_ptr().add(at));
                        difference = _mm512_add_pd(difference, _mm512_mul_pd(beta, before));
                        _mm512_mask_storeu_pd(q.as_mut_ptr().add(at), tail, difference);
                    }
                    let old = _mm512_maskz_loadu_pd(tail, f.as_ptr().add(at));
                    let value = _mm512_add_pd(old, _mm512_mul_pd(step, difference));
                    _mm512_mask_storeu_pd(f.as_mut_ptr().add(at), tail, value);
                    lowest[half] = _mm512_mask_min_pd(lowest[half], up[at / 8] & tail, lowest[half], value);
                    highest[half] = _mm512_mask_max_pd(highest[half], low[at / 8] & tail, highest[half], value);
                }
            }
        }
        let least = _mm512_reduce_min_pd(_mm512_min_pd(lowest[0], lowest[1]));
        let most = _mm512_reduce_max_pd(_mm512_max_pd(highest[0], highest[1]));
        if least < min_up {
            (min_up, chunk_up) = (least, start);
        }
        if most > max_low {
            (max_low, chunk_low) = (most, start);
        }
        start = end;
    }
    let (argmin_up, argmax_low) = (place(f, up, min_up, chunk_up), place(f, low, max_low, chunk_low));
    Extremes { min_up, argmin_up, max_low, argmax_low }
}

/// The first element of a chunk with this value that is in the set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn place(f: &[f64], set: &[u8], value: f64, chunk: usize) -> usize {
    let value = _mm512_set1_pd(value);
    for (k, eight) in (chunk..f.len().min(chunk + CHUNK)).step_by(8).zip(f[chunk..].chunks(8)) {
        let live = if eight.len() == 8 { !0 } else { (1 << eight.len()) - 1 };
        // SAFETY: the mask keeps the load inside these elements.
        let here = unsafe { _mm512_maskz_loadu_pd(live, eight.as_ptr()) };
        let found = _mm512_mask_cmp_pd_mask::<_CMP_EQ_OQ>(live & set[k / 8], here, value);
        if found != 0 {
            return k + found.trailing_zeros() as usize;
        }
    }
    usize::MAX
}

/// # Safety
///
/// Requires AVX-512 F, BW, DQ and VL; `ki` (and `q`, and a diagonal given for each element) as long
/// as `f`; a bit per element in `low`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn second_order(f: &[f64], ki: RowSlice, selection: &PartnerSelection, low: &[u8]) -> Partner {
    // SAFETY: as for this function, and the form is that of the row.
    unsafe {
        match (ki.form(), selection.along.is_some()) {
            (Form::Values, false) => select::<VALUES, false>(f, ki, selection, low),
            (Form::Few, false) => select::<FEW_CODES, false>(f, ki, selection, low),
            (Form::Many, false) => select::<MANY_CODES, false>(f, ki, selection, low),
            (Form::Values, true) => select::<VALUES, true>(f, ki, selection, low),
            (Form::Few, true) => select::<FEW_CODES, true>(f, ki, selection, low),
            (Form::Many, true) => select::<MANY_CODES, true>(f, ki, selection, low),
        }
    }
}

/// # Safety
///
/// As [`second_order`]; the row has the form `FORM`, and there is a direction where `CONJUGATE`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn select<const FORM: u8, const CONJUGATE: bool>(
    f: &[f64],
    ki: RowSlice,
    selection: &PartnerSelection,
    low: &[u8],
) -> Partner {
    let &PartnerSelection { diagonal, along, kii, fi, tau } = selection;
    let Along { q, qi, scale } = along.unwrap_or(Along { q: &[], qi: 0.0, scale: 0.0 });
    let (qi, scale) = (_mm512_set1_pd(qi), _mm512_set1_pd(scale));
    let full = f.len() / LANES * LANES;
    let (mut source, mut stretch) = (Source::of(&ki), Stretch::default());
    let (threshold, least) = (_mm512_set1_pd(fi), _mm512_set1_pd(tau));
    let (two, own) = (_mm512_set1_pd(2.0), _mm512_set1_pd(kii));
    let constant = match diagonal {
        Diagonal::Constant(d) => _mm512_set1_pd(kii + d),
        Diagonal::Each(_) => own,
    };
    let mut best = Best::new();
    let mut k = 0;
    while k < full {
        if k % CHUNK == 0 {
            // SAFETY: the row has f.len() ≥ full entries.
            unsafe { source.enter::<FORM>(&mut stretch, k, full.min(k + CHUNK)) };
        }
        let most = _mm512_set1_pd(best.gain);
        let (mut squares, mut curvatures, mut able) = ([_mm512_setzero_pd(); 2], [_mm512_setzero_pd(); 2], [0; 2]);
        source.prefetch::<FORM>(k + AHEAD);
        // SAFETY: k + 16 ≤ full ≤ n bounds every access; byte at / 8 holds the bits at … at + 7.
        unsafe {
            let row = halves(source.sixteen::<FORM>(k));
            for half in 0..2 {
                let at = k + 8 * half;
                let b = _mm512_sub_pd(_mm512_loadu_pd(f.as_ptr().add(at)), threshold);
                let candidate = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(*low.get_unchecked(at / 8), b, _mm512_setzero_pd());
                let sum = match diagonal {
                    Diagonal::Constant(_) => constant,
                    Diagonal::Each(d) => _mm512_add_pd(own, _mm512_loadu_pd(d.as_ptr().add(at))),
                };
                let mut a = _mm512_sub_pd(sum, _mm512_mul_pd(two, row[half]));
                if CONJUGATE {
                    let apart = _mm512_sub_pd(_mm512_loadu_pd(q.as_ptr().add(at)), qi);
                    a = _mm512_sub_pd(a, _mm512_mul_pd(scale, _mm512_mul_pd(apart, apart)));
                }
                curvatures[half] = _mm512_max_pd(a, least);
                squares[half] = _mm512_mul_pd(b, b);
                let bound = _mm512_mul_pd(most, curvatures[half]);
                able[half] = _mm512_mask_cmp_pd_mask::<_CMP_GE_OQ>(candidate, squares[half], bound);
            }
        }
        // Few blocks have a better candidate.
        if able != [0; 2] {
            best.offer(k, &sixteen(squares), &sixteen(curvatures), u16::from_le_bytes(able));
        }
        k += LANES;
    }
    best.scalar(full, f, ki, selection, low);
    best.partner()
}

/// The elements of two vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn sixteen(halves: [__m512d; 2]) -> [f64; LANES] {
    let mut values = [0.0; LANES];
    for (half, vector) in halves.into_iter().enumerate() {
        // SAFETY: the array has 16 elements; a half writes 8 of them.
        unsafe { _mm512_storeu_pd(values.as_mut_ptr().add(8 * half), vector) };
    }
    values
}
