//! The passes of sequential minimal optimisation over kernel rows: fused gradient update and scan, second-order selection.
//!
//! All dispatch levels return the same bits: no fused multiply-add, minima broken by the lowest index, and the selection runs on
//! [`LANES`] virtual lanes whatever the width of the machine's vectors.

use crate::lengths::bits;
use crate::level::{Level, level};
use crate::row::Row;

#[cfg(target_arch = "x86_64")]
#[path = "passes_avx2.rs"]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[path = "passes_avx512.rs"]
mod avx512;

/// Virtual lanes of the second-order selection.
pub const LANES: usize = 16;

/// Elements per chunk of a scan: an extreme is located by re-reading its chunk only.
pub(crate) const CHUNK: usize = 512;

/// Extremes of the optimality indicator `f` over two index sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// Smallest `f` over the `up` set (+∞ when it is empty).
    pub min_up: f64,
    /// Lowest index that attains it (`usize::MAX` when the set is empty).
    pub argmin_up: usize,
    /// Largest `f` over the `low` set (−∞ when it is empty).
    pub max_low: f64,
    /// Lowest index that attains it (`usize::MAX` when the set is empty).
    pub argmax_low: usize,
}

impl Extremes {
    /// The extremes of empty sets.
    pub const NONE: Self =
        Self { min_up: f64::INFINITY, argmin_up: usize::MAX, max_low: f64::NEG_INFINITY, argmax_low: usize::MAX };

    /// How far the conditions of optimality are from holding: −∞ where a set is empty.
    pub fn violation(&self) -> f64 {
        self.max_low - self.min_up
    }

    /// Joins the extremes of a later slice that begins at `offset`; equal values keep the earlier index.
    pub fn join(&mut self, later: Self, offset: usize) {
        if later.min_up < self.min_up {
            self.min_up = later.min_up;
            self.argmin_up = offset + later.argmin_up;
        }
        if later.max_low > self.max_low {
            self.max_low = later.max_low;
            self.argmax_low = offset + later.argmax_low;
        }
    }
}

/// The winner of a second-order selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partner {
    /// Twice the gain in the objective: `(f_j − f_i)² / (K_ii + K_jj − 2 K_ij)`; −∞ when there is no partner.
    pub gain: f64,
    /// Index of the partner (`usize::MAX` when there is none).
    pub index: usize,
}

impl Partner {
    /// No partner.
    pub const NONE: Self = Self { gain: f64::NEG_INFINITY, index: usize::MAX };

    /// Joins the winner of a later slice that begins at `offset`; equal gains keep the earlier index.
    pub fn join(&mut self, later: Self, offset: usize) {
        if later.gain > self.gain {
            *self = Self { gain: later.gain, index: offset + later.index };
        }
    }
}

/// `K_jj` of the candidates of a selection.
#[derive(Clone, Copy, Debug)]
pub enum Diagonal<'a> {
    /// The same for all (RBF kernels).
    Constant(f64),
    /// One per element.
    Each(&'a [f64]),
}

/// Whether bit `k` of a packed set is on.
#[inline]
pub fn bit(set: &[u8], k: usize) -> bool {
    set[k / 8] >> (k % 8) & 1 == 1
}

fn check(n: usize, row_lengths: &[usize], up: &[u8], low: &[u8]) {
    assert!(row_lengths.iter().all(|&l| l == n), "rows and gradient have one length");
    assert!(bits(up.len(), n) && bits(low.len(), n), "one bit per element");
}

/// `f_k += delta (ki_k − kj_k)` for every `k`, and the extremes of the new `f` over the sets `up` and `low` (packed bits).
///
/// # Panics
///
/// When slices differ in length, rows in form or table, or a set has fewer bits than elements.
pub fn update_and_scan(f: &mut [f64], ki: Row, kj: Row, delta: f64, up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[ki.len(), kj.len()], up, low);
    let alike = match (ki, kj) {
        (Row::Values(_), Row::Values(_)) => true,
        (Row::Codes(_, one), Row::Codes(_, other)) => std::ptr::eq(one, other),
        _ => false,
    };
    assert!(alike, "rows of one store have one form");
    dispatch_update::<true>(f, ki, kj, delta, up, low)
}

/// `f_k += delta · ki_k` for every `k`, and the extremes of the new `f` as in [`update_and_scan`].
///
/// # Panics
///
/// When slices differ in length, or a set has fewer bits than elements.
pub fn add_and_scan(f: &mut [f64], ki: Row, delta: f64, up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[ki.len()], up, low);
    dispatch_update::<false>(f, ki, ki, delta, up, low)
}

/// With `PAIR` the row `kj` is subtracted; without, it is not read.
fn dispatch_update<const PAIR: bool>(f: &mut [f64], ki: Row, kj: Row, delta: f64, up: &[u8], low: &[u8]) -> Extremes {
    match level() {
        // SAFETY: `level` found these instructions on this machine; the callers checked the lengths.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::update_and_scan::<PAIR>(f, ki, kj, delta, up, low) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::update_and_scan::<PAIR>(f, ki, kj, delta, up, low) },
        _ => {
            for (k, f) in f.iter_mut().enumerate() {
                let other = if PAIR { f64::from(kj.at(k)) } else { 0.0 };
                *f += delta * (f64::from(ki.at(k)) - other);
            }
            scan(f, up, low)
        }
    }
}

/// The extremes of `f` over the sets `up` and `low` (packed bits).
///
/// # Panics
///
/// When a set has fewer bits than elements.
pub fn scan(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[], up, low);
    let mut found = Extremes::NONE;
    for start in (0..f.len()).step_by(CHUNK) {
        let end = (start + CHUNK).min(f.len());
        found.join(scan_chunk(&f[start..end], &up[start / 8..], &low[start / 8..]), start);
    }
    found
}

/// The partner `j` in `low` with `f_j > f_i` that maximises `(f_j − f_i)² / max(K_ii + K_jj − 2 K_ij, tau)` (Fan, Chen and Lin
/// 2005, working set selection 2).
///
/// # Panics
///
/// When slices differ in length, or the set has fewer bits than elements.
pub fn second_order(f: &[f64], ki: Row, diagonal: Diagonal, kii: f64, fi: f64, tau: f64, low: &[u8]) -> Partner {
    let each = if let Diagonal::Each(d) = diagonal { d.len() } else { f.len() };
    check(f.len(), &[ki.len(), each], low, low);
    let lanes = match level() {
        // SAFETY: `level` found these instructions on this machine; lengths were checked above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::second_order(f, ki, diagonal, kii, fi, tau, low) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::second_order(f, ki, diagonal, kii, fi, tau, low) },
        _ => {
            let mut lanes = Lanes::new();
            lanes.scalar(0, f, ki, diagonal, kii, fi, tau, low);
            lanes
        }
    };
    lanes.best()
}

/// Best fraction `num / den` of each virtual lane, compared by cross multiplication: no division in the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    pub(crate) num: [f64; LANES],
    pub(crate) den: [f64; LANES],
    /// Block of [`LANES`] elements that the winner of a lane is in, as `f64` bits travel badly: plain integers.
    pub(crate) block: [i64; LANES],
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self { num: [0.0; LANES], den: [1.0; LANES], block: [-1; LANES] }
    }

    /// Feeds the elements from `from` on, one by one.
    #[expect(clippy::too_many_arguments, reason = "one pass over the arrays of the solver; a struct would be built per call")]
    pub(crate) fn scalar(
        &mut self,
        from: usize,
        f: &[f64],
        ki: Row,
        diagonal: Diagonal,
        kii: f64,
        fi: f64,
        tau: f64,
        low: &[u8],
    ) {
        for k in from..f.len() {
            let b = f[k] - fi;
            if bit(low, k) && b > 0.0 {
                let kjj = match diagonal {
                    Diagonal::Constant(d) => d,
                    Diagonal::Each(d) => d[k],
                };
                let a = ((kii + kjj) - 2.0 * f64::from(ki.at(k))).max(tau);
                let lane = k % LANES;
                let square = b * b;
                if square * self.den[lane] > self.num[lane] * a {
                    self.num[lane] = square;
                    self.den[lane] = a;
                    self.block[lane] = (k / LANES) as i64;
                }
            }
        }
    }

    fn best(&self) -> Partner {
        let mut best = Partner::NONE;
        for lane in (0..LANES).filter(|&l| self.block[l] >= 0) {
            let (gain, index) = (self.num[lane] / self.den[lane], self.block[lane] as usize * LANES + lane);
            if gain > best.gain || (gain == best.gain && index < best.index) {
                best = Partner { gain, index };
            }
        }
        best
    }
}

/// Extremes of one chunk, element by element.
pub(crate) fn scan_chunk(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    let mut found = Extremes::NONE;
    for (k, &value) in f.iter().enumerate() {
        if value < found.min_up && bit(up, k) {
            found.min_up = value;
            found.argmin_up = k;
        }
        if value > found.max_low && bit(low, k) {
            found.max_low = value;
            found.argmax_low = k;
        }
    }
    found
}

/// Completes the extremes whose values and chunks are known: finds the lowest index in each chunk.
pub(crate) fn locate(
    f: &[f64],
    up: &[u8],
    low: &[u8],
    (min_up, chunk_up): (f64, usize),
    (max_low, chunk_low): (f64, usize),
) -> Extremes {
    let find = |value: f64, chunk: usize, set: &[u8]| {
        let end = (chunk + CHUNK).min(f.len());
        (chunk..end).find(|&k| f[k] == value && bit(set, k)).unwrap_or(usize::MAX)
    };
    Extremes { min_up, argmin_up: find(min_up, chunk_up, up), max_low, argmax_low: find(max_low, chunk_low, low) }
}
