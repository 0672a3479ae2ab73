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
    let f = &f[..f.len().min(chunk + CHUNK)];
    let mut k = chunk;
    // Four vectors at once: their comparisons do not wait for a branch each.
    while k + 32 <= f.len() {
        // SAFETY: 32 elements from `k` on.
        let equal = |v: usize| unsafe { _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(_mm512_loadu_pd(f.as_ptr().add(k + 8 * v)), value) };
        let found = u32::from_le_bytes([equal(0), equal(1), equal(2), equal(3)]);
        let found = found & u32::from_le_bytes([set[k / 8], set[k / 8 + 1], set[k / 8 + 2], set[k / 8 + 3]]);
        if found != 0 {
            return k + found.trailing_zeros() as usize;
        }
        k += 32;
    }
    while k < f.len() {
        let live = if f.len() - k >= 8 { !0 } else { (1 << (f.len() - k)) - 1 };
        // SAFETY: the mask keeps the load inside these elements.
        let here = unsafe { _mm512_maskz_loadu_pd(live, f.as_ptr().add(k)) };
        let found = _mm512_mask_cmp_pd_mask::<_CMP_EQ_OQ>(live & set[k / 8], here, value);
        if found != 0 {
            return k + found.trailing_zeros() as usize;
        }
        k += 8;
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
    let candidates = Candidates::of(f, selection, low);
    let (n, full) = (f.len(), f.len() / LANES * LANES);
    let (mut source, mut stretch) = (Source::of(&ki), Stretch::default());
    let mut best = Best::new();
    let mut k = 0;
    while k < n {
        if k % CHUNK == 0 {
            // SAFETY: the row has n entries.
            unsafe { source.enter::<FORM>(&mut stretch, k, n.min(k + CHUNK)) };
        }
        source.prefetch::<FORM>(k + AHEAD);
        // SAFETY: sixteen elements from `k` on, or the n − k elements that are left.
        let block = unsafe {
            if k < full {
                candidates.block::<CONJUGATE, true>(k, !0, source.sixteen::<FORM>(k), best.gain)
            } else {
                let live = (1 << (n - k)) - 1;
                candidates.block::<CONJUGATE, false>(k, live, source.some::<FORM>(k, live), best.gain)
            }
        };
        // Few blocks have a better candidate.
        if block.able != [0; 2] {
            block.offer(k, &mut best);
        }
        k += LANES;
    }
    best.partner()
}

/// The elements of a selection, with its numbers in all lanes of vectors.
struct Candidates<'a> {
    f: &'a [f64],
    low: &'a [u8],
    diagonal: Diagonal<'a>,
    q: &'a [f64],
    qi: __m512d,
    scale: __m512d,
    threshold: __m512d,
    least: __m512d,
    own: __m512d,
    /// `K_ii + K_jj`, if it is the same for all.
    constant: __m512d,
}

impl<'a> Candidates<'a> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn of(f: &'a [f64], selection: &PartnerSelection<'a>, low: &'a [u8]) -> Self {
        let &PartnerSelection { diagonal, along, kii, fi, tau } = selection;
        let Along { q, qi, scale } = along.unwrap_or(Along { q: &[], qi: 0.0, scale: 0.0 });
        let [qi, scale, threshold, least, own] = [qi, scale, fi, tau, kii].map(|x| _mm512_set1_pd(x));
        let constant = match diagonal {
            Diagonal::Constant(d) => _mm512_set1_pd(kii + d),
            Diagonal::Each(_) => own,
        };
        Self { f, low, diagonal, q, qi, scale, threshold, least, own, constant }
    }

    /// The block of the elements from `k` on, with these kernel values.
    ///
    /// # Safety
    ///
    /// Sixteen elements from `k` on if the block is `WHOLE`, and else those of `live`; `k` is a
    /// multiple of sixteen.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn block<const CONJUGATE: bool, const WHOLE: bool>(&self, k: usize, live: u16, row: __m512, gain: f64) -> Block {
        let (row, most, two) = (halves(row), _mm512_set1_pd(gain), _mm512_set1_pd(2.0));
        let mut block = Block { squares: [_mm512_setzero_pd(); 2], curvatures: [_mm512_setzero_pd(); 2], able: [0; 2] };
        for (half, row) in row.into_iter().enumerate() {
            let (at, own_live) = (k + 8 * half, (live >> (8 * half)) as u8);
            if !WHOLE && own_live == 0 {
                break;
            }
            // SAFETY: the caller vouches for the elements that are loaded.
            let load = |of: &[f64]| unsafe {
                let address = of.as_ptr().add(at);
                if WHOLE { _mm512_loadu_pd(address) } else { _mm512_maskz_loadu_pd(own_live, address) }
            };
            // SAFETY: byte at / 8 holds the bits at … at + 7, of which one is an element.
            let allowed = unsafe { *self.low.get_unchecked(at / 8) } & own_live;
            let b = _mm512_sub_pd(load(self.f), self.threshold);
            let candidate = _mm512_mask_cmp_pd_mask::<_CMP_GT_OQ>(allowed, b, _mm512_setzero_pd());
            let sum = match self.diagonal {
                Diagonal::Constant(_) => self.constant,
                Diagonal::Each(d) => _mm512_add_pd(self.own, load(d)),
            };
            let mut a = _mm512_sub_pd(sum, _mm512_mul_pd(two, row));
            if CONJUGATE {
                let apart = _mm512_sub_pd(load(self.q), self.qi);
                a = _mm512_sub_pd(a, _mm512_mul_pd(self.scale, _mm512_mul_pd(apart, apart)));
            }
            block.curvatures[half] = _mm512_max_pd(a, self.least);
            block.squares[half] = _mm512_mul_pd(b, b);
            let bound = _mm512_mul_pd(most, block.curvatures[half]);
            block.able[half] = _mm512_mask_cmp_pd_mask::<_CMP_GE_OQ>(candidate, block.squares[half], bound);
        }
        block
    }
}

/// Sixteen elements: squares and curvatures, and those whose gain may be larger than the best one.
struct Block {
    squares: [__m512d; 2],
    curvatures: [__m512d; 2],
    able: [__mmask8; 2],
}

impl Block {
    /// Takes the largest gain of the block, which begins at `at`, if it is larger.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn offer(&self, at: usize, best: &mut Best) {
        // Gains are positive, and 0 stands for what is not able.
        let gain = |half: usize| _mm512_maskz_div_pd(self.able[half], self.squares[half], self.curvatures[half]);
        let gains = [gain(0), gain(1)];
        let most = _mm512_reduce_max_pd(_mm512_max_pd(gains[0], gains[1]));
        let equal = |half: usize| _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(gains[half], _mm512_set1_pd(most));
        best.improve(most, at + u16::from_le_bytes([equal(0), equal(1)]).trailing_zeros() as usize);
    }
}
