//! The SMO passes with AVX2: vectors of 4 doubles, sets expanded from bits to lane masks.

use super::{
    Along, Best, CONJUGATE, Diagonal, Extremes, LANES, PairUpdate, Partner, PartnerSelection, SINGLE, bit, scan_chunk,
    update_each,
};
use crate::rows::row::{CHUNK, RowSlice, Stretch};
use std::arch::x86_64::*;

/// Vectors that hold a block.
const PARTS: usize = LANES / 4;

/// The shifts that move bit `4 part + lane` of a lane to its sign bit, for each part. Blends and
/// `movemask` look at sign bits alone.
const TO_SIGN: [[i64; 4]; PARTS] = {
    let mut shifts = [[0; 4]; PARTS];
    let mut bit = 0;
    while bit < LANES {
        shifts[bit / 4][bit % 4] = 63 - bit as i64;
        bit += 1;
    }
    shifts
};

/// Lanes whose sign bit is bit `4 part + lane` of `bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes_of(bits: __m256i, part: usize) -> __m256d {
    // SAFETY: four numbers of 64 bits.
    let shifts = unsafe { _mm256_loadu_si256(TO_SIGN[part].as_ptr().cast()) };
    _mm256_castsi256_pd(_mm256_sllv_epi64(bits, shifts))
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

/// The extremes of the elements of a chunk, lane by lane. There are two of each: a minimum of one
/// would wait for the last.
#[derive(Clone, Copy)]
struct LaneExtremes {
    least: [__m256d; 2],
    most: [__m256d; 2],
}

impl LaneExtremes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn none() -> Self {
        Self { least: [_mm256_set1_pd(f64::INFINITY); 2], most: [_mm256_set1_pd(f64::NEG_INFINITY); 2] }
    }

    /// Adds a half of eight elements, whose sets are the bits of these numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, part: usize, value: __m256d, ups: __m256i, lows: __m256i) {
        let (inf, neg) = (_mm256_set1_pd(f64::INFINITY), _mm256_set1_pd(f64::NEG_INFINITY));
        self.least[part] = _mm256_min_pd(_mm256_blendv_pd(inf, value, lanes_of(ups, part)), self.least[part]);
        self.most[part] = _mm256_max_pd(_mm256_blendv_pd(neg, value, lanes_of(lows, part)), self.most[part]);
    }
}

/// The extremes of all chunks so far, and the chunks that they are in.
struct ChunkExtremes {
    min_up: f64,
    chunk_up: usize,
    max_low: f64,
    chunk_low: usize,
}

impl ChunkExtremes {
    const NONE: Self = Self { min_up: f64::INFINITY, chunk_up: 0, max_low: f64::NEG_INFINITY, chunk_low: 0 };

    /// Merges those of the chunk `start..f.len()`: the lanes' up to `full`, and the elements after
    /// it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn merge(&mut self, start: usize, full: usize, lanes: LaneExtremes, f: &[f64], up: &[u8], low: &[u8]) {
        // The tail starts inside a byte of the sets: scan from the start of this byte.
        let byte = full / 8 * 8;
        let tail = if full < f.len() { scan_chunk(&f[byte..], &up[byte / 8..], &low[byte / 8..]) } else { Extremes::NONE };
        let least = array(_mm256_min_pd(lanes.least[0], lanes.least[1])).into_iter().fold(tail.min_up, f64::min);
        let most = array(_mm256_max_pd(lanes.most[0], lanes.most[1])).into_iter().fold(tail.max_low, f64::max);
        if least < self.min_up {
            (self.min_up, self.chunk_up) = (least, start);
        }
        if most > self.max_low {
            (self.max_low, self.chunk_low) = (most, start);
        }
    }

    /// The extremes with their places.
    #[target_feature(enable = "avx2")]
    fn placed(self, f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
        let Self { min_up, chunk_up, max_low, chunk_low } = self;
        let (argmin_up, argmax_low) = (place(f, up, min_up, chunk_up), place(f, low, max_low, chunk_low));
        Extremes { min_up, argmin_up, max_low, argmax_low }
    }
}

/// # Safety
///
/// Requires AVX2; a bit per element in `up` and `low`.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn scan(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    let mut found = ChunkExtremes::NONE;
    for start in (0..f.len()).step_by(CHUNK) {
        let end = (start + CHUNK).min(f.len());
        let full = start + (end - start) / 8 * 8;
        let mut lanes = LaneExtremes::none();
        for k in (start..full).step_by(8) {
            let set = |set: &[u8]| _mm256_set1_epi64x(i64::from(set[k / 8]));
            let (ups, lows) = (set(up), set(low));
            for part in 0..2 {
                // SAFETY: k + 8 ≤ full ≤ n.
                let value = unsafe { _mm256_loadu_pd(f.as_ptr().add(k + 4 * part)) };
                lanes.add(part, value, ups, lows);
            }
        }
        found.merge(start, full, lanes, &f[..end], up, low);
    }
    found.placed(f, up, low)
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
    let mut found = ChunkExtremes::NONE;
    for start in (0..n).step_by(CHUNK) {
        let end = (start + CHUNK).min(n);
        let full = start + (end - start) / 8 * 8;
        let mut lanes = LaneExtremes::none();
        // SAFETY: as for this function; a chunk is no longer than a stretch.
        let (first, second) =
            unsafe { (one.values(&ki, start, end), if KIND == SINGLE { &[] } else { two.values(&kj, start, end) }) };
        for k in (start..full).step_by(8) {
            let set = |set: &[u8]| _mm256_set1_epi64x(i64::from(set[k / 8]));
            let (ups, lows) = (set(up), set(low));
            for part in 0..2 {
                let k = k + 4 * part;
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
                lanes.add(part, value, ups, lows);
            }
        }
        update_each::<KIND>(full, &mut f[..end], q, PairUpdate { ki, kj, beta, delta });
        found.merge(start, full, lanes, &f[..end], up, low);
    }
    found.placed(f, up, low)
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
pub(super) unsafe fn second_order(f: &[f64], ki: RowSlice, selection: &PartnerSelection, low: &[u8]) -> Partner {
    // SAFETY: as for this function.
    unsafe {
        match (selection.diagonal, selection.along) {
            (Diagonal::Constant(_), None) => select::<false, false>(f, ki, selection, low),
            (Diagonal::Constant(_), Some(_)) => select::<false, true>(f, ki, selection, low),
            (Diagonal::Each(_), None) => select::<true, false>(f, ki, selection, low),
            (Diagonal::Each(_), Some(_)) => select::<true, true>(f, ki, selection, low),
        }
    }
}

/// The selection as vectors.
struct Candidates<'a> {
    f: &'a [f64],
    low: &'a [u8],
    /// `K_jj` of each element, if they differ.
    diagonal: &'a [f64],
    q: &'a [f64],
    /// `K_ii`, or the sum of `K_ii` and the constant `K_jj`.
    own: __m256d,
    fi: __m256d,
    qi: __m256d,
    scale: __m256d,
    tau: __m256d,
}

impl Candidates<'_> {
    /// The numerators and denominators of the gains of the four elements from `at` on, whose kernel
    /// values begin at `row`, and lanes with a sign bit for those that are candidates.
    ///
    /// # Safety
    ///
    /// Requires AVX2, four elements from `at` on and four values at `row`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn gains<const EACH: bool, const ALONG: bool>(&self, at: usize, row: *const f32, lows: __m256d) -> [__m256d; 3] {
        // SAFETY: as for this function; `diagonal` and `q` are as long as `f` where they are read.
        unsafe {
            let b = _mm256_sub_pd(_mm256_loadu_pd(self.f.as_ptr().add(at)), self.fi);
            let kij = _mm256_cvtps_pd(_mm_loadu_ps(row));
            let sum = if EACH { _mm256_add_pd(self.own, _mm256_loadu_pd(self.diagonal.as_ptr().add(at))) } else { self.own };
            let mut a = _mm256_sub_pd(sum, _mm256_add_pd(kij, kij));
            if ALONG {
                let apart = _mm256_sub_pd(_mm256_loadu_pd(self.q.as_ptr().add(at)), self.qi);
                a = _mm256_sub_pd(a, _mm256_mul_pd(self.scale, _mm256_mul_pd(apart, apart)));
            }
            let candidate = _mm256_and_pd(lows, _mm256_cmp_pd::<_CMP_GT_OQ>(b, _mm256_setzero_pd()));
            [_mm256_mul_pd(b, b), _mm256_max_pd(a, self.tau), candidate]
        }
    }

    /// Compares the block of lanes from `k` on, whose kernel values begin at `row`. It is computed
    /// again, so that blocks without a better candidate keep nothing in registers.
    ///
    /// # Safety
    ///
    /// As [`Candidates::gains`], for a whole block.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    unsafe fn offer<const EACH: bool, const ALONG: bool>(&self, k: usize, row: *const f32, best: &mut Best) {
        let lows = self.lows(k);
        let none = _mm256_set1_pd(f64::NEG_INFINITY);
        let gains: [__m256d; PARTS] = std::array::from_fn(|part| {
            // SAFETY: as for this function.
            let [square, curvature, candidate] =
                unsafe { self.gains::<EACH, ALONG>(k + 4 * part, row.add(4 * part), lanes_of(lows, part)) };
            _mm256_blendv_pd(none, _mm256_div_pd(square, curvature), candidate)
        });
        let most = _mm256_max_pd(_mm256_max_pd(gains[0], gains[1]), _mm256_max_pd(gains[2], gains[3]));
        let most = _mm256_max_pd(most, _mm256_permute4x64_pd::<0b0100_1110>(most));
        let most = _mm256_max_pd(most, _mm256_permute_pd::<0b0101>(most));
        let equal = |part: usize| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(gains[part], most)) << (4 * part);
        let first = (equal(0) | equal(1) | equal(2) | equal(3)).trailing_zeros();
        best.improve(_mm256_cvtsd_f64(most), k + first as usize);
    }

    /// The sets of the block of lanes from `k` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lows(&self, k: usize) -> __m256i {
        _mm256_set1_epi64x(i64::from(u16::from_le_bytes([self.low[k / 8], self.low[k / 8 + 1]])))
    }
}

/// # Safety
///
/// As [`second_order`]; the diagonal is given for each element where `EACH`, and there is a
/// direction where `ALONG`.
#[target_feature(enable = "avx2")]
unsafe fn select<const EACH: bool, const ALONG: bool>(
    f: &[f64],
    ki: RowSlice,
    selection: &PartnerSelection,
    low: &[u8],
) -> Partner {
    let &PartnerSelection { diagonal, along, kii, fi, tau } = selection;
    let Along { q, qi, scale } = along.unwrap_or(Along { q: &[], qi: 0.0, scale: 0.0 });
    let (own, diagonal) = match diagonal {
        Diagonal::Constant(d) => (kii + d, &[][..]),
        Diagonal::Each(each) => (kii, each),
    };
    let all = |value: f64| _mm256_set1_pd(value);
    let candidates =
        Candidates { f, low, diagonal, q, own: all(own), fi: all(fi), qi: all(qi), scale: all(scale), tau: all(tau) };
    let mut stretch = Stretch::default();
    let full = f.len() / LANES * LANES;
    let mut best = Best::new();
    for start in (0..full).step_by(CHUNK) {
        let end = (start + CHUNK).min(full);
        // SAFETY: as for this function; a chunk is no longer than a stretch.
        let row = unsafe { stretch.values(&ki, start, end) };
        for k in (start..end).step_by(LANES) {
            let lows = candidates.lows(k);
            let most = _mm256_set1_pd(best.gain);
            let mut any = _mm256_setzero_pd();
            for part in 0..PARTS {
                // SAFETY: the block ends at `end` or before, which bounds every access.
                let [square, curvature, candidate] = unsafe {
                    candidates.gains::<EACH, ALONG>(k + 4 * part, row.as_ptr().add(k + 4 * part - start), lanes_of(lows, part))
                };
                let able = _mm256_cmp_pd::<_CMP_GE_OQ>(square, _mm256_mul_pd(most, curvature));
                any = _mm256_or_pd(any, _mm256_and_pd(candidate, able));
            }
            // Few blocks have a better candidate.
            if _mm256_movemask_pd(any) != 0 {
                // SAFETY: as above.
                unsafe { candidates.offer::<EACH, ALONG>(k, row.as_ptr().add(k - start), &mut best) };
            }
        }
    }
    best.scalar(full, f, ki, selection, low);
    best.partner()
}
