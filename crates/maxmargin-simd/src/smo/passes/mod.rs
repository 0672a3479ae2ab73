//! The passes of sequential minimal optimisation over kernel rows: fused gradient update and scan,
//! second-order selection.
//!
//! All dispatch levels return the same bits: no fused multiply-add is used, and the lowest index
//! wins among equal minima and equal gains.

use crate::dispatch::lengths::bits;
use crate::dispatch::level::{Level, level};
use crate::rows::row::RowSlice;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// Elements that the second-order selection compares at once, and plain scans test at once.
pub(crate) const LANES: usize = 16;

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

    /// The violation of the optimality conditions; −∞ where a set is empty.
    pub fn violation(&self) -> f64 {
        self.max_low - self.min_up
    }

    /// Merges the extremes of a later slice that begins at `offset`. The earlier index wins among
    /// equal values.
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
    /// Twice the gain in the objective: `(f_j − f_i)² / (K_ii + K_jj − 2 K_ij)`; −∞ when there is
    /// no partner.
    pub gain: f64,
    /// Index of the partner (`usize::MAX` when there is none).
    pub index: usize,
}

impl Partner {
    /// No partner.
    pub const NONE: Self = Self { gain: f64::NEG_INFINITY, index: usize::MAX };

    /// Merges the winner of a later slice that begins at `offset`. The earlier index wins among
    /// equal gains.
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

/// The last direction `p`, with `K p = q`, to which steps on pairs are made conjugate.
#[derive(Clone, Copy, Debug)]
pub struct Along<'a> {
    /// `(K p)_k` of the candidates.
    pub q: &'a [f64],
    /// `(K p)_i` of the variable whose partner is selected.
    pub qi: f64,
    /// `1 / pᵀ K p`.
    pub scale: f64,
}

/// The parameters of a partner selection.
#[derive(Clone, Copy, Debug)]
pub struct PartnerSelection<'a> {
    /// `K_jj` of the candidates.
    pub diagonal: Diagonal<'a>,
    /// The direction to which the step is made conjugate, if there is one.
    pub along: Option<Along<'a>>,
    /// `K_ii`.
    pub kii: f64,
    /// The gradient of the variable: candidates have a greater `f`.
    pub fi: f64,
    /// Smallest curvature.
    pub tau: f64,
}

/// A step on a pair, along its own direction plus a multiple of the last one.
#[derive(Clone, Copy, Debug)]
pub struct PairUpdate<'a> {
    /// The row of the variable that increases.
    pub ki: RowSlice<'a>,
    /// The row of the variable that decreases.
    pub kj: RowSlice<'a>,
    /// The factor of the last direction.
    pub beta: f64,
    /// The length of the step.
    pub delta: f64,
}

/// Returns whether bit `k` of a packed set is 1.
#[inline]
pub fn bit(set: &[u8], k: usize) -> bool {
    set[k / 8] >> (k % 8) & 1 == 1
}

fn check(n: usize, row_lengths: &[usize], up: &[u8], low: &[u8]) {
    assert!(row_lengths.iter().all(|&l| l == n), "rows and gradient have one length");
    assert!(bits(up.len(), n) && bits(low.len(), n), "one bit per element");
}

/// Computes `f_k += delta (ki_k − kj_k)` for every `k`, and the extremes of the new `f` over the
/// sets `up` and `low` (packed bits).
///
/// # Panics
///
/// When slices differ in length, rows in form or table, or a set has fewer bits than elements.
pub fn update_and_scan(f: &mut [f64], ki: RowSlice, kj: RowSlice, delta: f64, up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[ki.len(), kj.len()], up, low);
    check_alike(ki, kj);
    dispatch_update::<PAIR>(f, &mut [], PairUpdate { ki, kj, beta: 0.0, delta }, up, low)
}

/// Computes `q_k = beta q_k + (ki_k − kj_k)`, then `f_k += delta q_k`, for every `k`, and the
/// extremes of the new `f` as in [`update_and_scan`].
///
/// # Panics
///
/// When slices differ in length, rows in form or table, or a set has fewer bits than elements.
pub fn conjugate_and_scan(f: &mut [f64], q: &mut [f64], update: PairUpdate, up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[update.ki.len(), update.kj.len(), q.len()], up, low);
    check_alike(update.ki, update.kj);
    dispatch_update::<CONJUGATE>(f, q, update, up, low)
}

fn check_alike(ki: RowSlice, kj: RowSlice) {
    let alike = match (ki, kj) {
        (RowSlice::Values(_), RowSlice::Values(_)) => true,
        (RowSlice::Codes(_, one), RowSlice::Codes(_, other)) => std::ptr::eq(one, other),
        _ => false,
    };
    assert!(alike, "rows of one store have one form");
}

/// Computes `f_k += delta · ki_k` for every `k`, and the extremes of the new `f` as in
/// [`update_and_scan`].
///
/// # Panics
///
/// When slices differ in length, or a set has fewer bits than elements.
pub fn add_and_scan(f: &mut [f64], ki: RowSlice, delta: f64, up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[ki.len()], up, low);
    dispatch_update::<SINGLE>(f, &mut [], PairUpdate { ki, kj: ki, beta: 0.0, delta }, up, low)
}

/// The kinds of updates: one row (the other is not read), the difference of two rows, or this
/// difference plus a multiple of `q`, which is updated as well.
pub(crate) const SINGLE: u8 = 0;
pub(crate) const PAIR: u8 = 1;
pub(crate) const CONJUGATE: u8 = 2;

/// Runs an update at the level in use. `q` is as long as `f` for [`CONJUGATE`], and is not read
/// otherwise.
fn dispatch_update<const KIND: u8>(f: &mut [f64], q: &mut [f64], update: PairUpdate, up: &[u8], low: &[u8]) -> Extremes {
    match level() {
        // SAFETY: `level` found these instructions on this machine; the callers checked the
        // lengths.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::update_and_scan::<KIND>(f, q, update, up, low) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::update_and_scan::<KIND>(f, q, update, up, low) },
        _ => portable::update_and_scan::<KIND>(f, q, update, up, low),
    }
}

/// Updates the elements from `from` on, one at a time.
pub(crate) fn update_each<const KIND: u8>(from: usize, f: &mut [f64], q: &mut [f64], update: PairUpdate) {
    let PairUpdate { ki, kj, beta, delta } = update;
    for (k, f) in f.iter_mut().enumerate().skip(from) {
        let mut moved = f64::from(ki.at(k));
        if KIND != SINGLE {
            moved -= f64::from(kj.at(k));
        }
        if KIND == CONJUGATE {
            moved += beta * q[k];
            q[k] = moved;
        }
        *f += delta * moved;
    }
}

/// The extremes of `f` over the sets `up` and `low` (packed bits).
///
/// # Panics
///
/// When a set has fewer bits than elements.
pub fn scan(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    check(f.len(), &[], up, low);
    match level() {
        // SAFETY: `level` found these instructions, or more, on this machine; the sets were checked
        // above. The scan reads `f` once, and wider vectors read it no faster.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { avx2::scan(f, up, low) },
        _ => portable::scan(f, up, low),
    }
}

/// The partner `j` in `low` with `f_j > f_i` (`fi` of the selection) that maximises `(f_j − f_i)² /
/// max(K_ii + K_jj − 2 K_ij, tau)` (Fan, Chen and Lin 2005, working set selection 2). For steps
/// conjugate to a direction `along`, `(q_j − q_i)² / pᵀ K p` is subtracted from the curvature
/// (Torres-Barrán, Alaíz and Dorronsoro 2021).
///
/// # Panics
///
/// When slices differ in length, or the set has fewer bits than elements.
pub fn second_order(f: &[f64], ki: RowSlice, selection: &PartnerSelection, low: &[u8]) -> Partner {
    let each = if let Diagonal::Each(d) = selection.diagonal { d.len() } else { f.len() };
    check(f.len(), &[ki.len(), each, selection.along.map_or(f.len(), |along| along.q.len())], low, low);
    match level() {
        // SAFETY: `level` found these instructions on this machine; lengths were checked above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::second_order(f, ki, selection, low) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::second_order(f, ki, selection, low) },
        _ => portable::second_order(f, ki, selection, low),
    }
}

/// The best partner so far.
///
/// A gain is a square over a curvature. Most elements are rejected without a division: where the
/// rounded quotient is larger than a gain, the square is at least the rounded product of this gain
/// and the curvature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    /// The gain of the partner, 0 until there is one.
    pub(crate) gain: f64,
    index: usize,
}

impl Best {
    pub(crate) fn new() -> Self {
        Self { gain: 0.0, index: usize::MAX }
    }

    /// Takes a gain if it is larger.
    #[inline(always)]
    pub(crate) fn improve(&mut self, gain: f64, index: usize) {
        if gain > self.gain {
            *self = Self { gain, index };
        }
    }

    /// Compares the elements of the block from `at` on that `able` has a bit for. It contains all
    /// candidates whose gain may be larger.
    #[inline(always)]
    pub(crate) fn offer(&mut self, at: usize, squares: &[f64; LANES], curvatures: &[f64; LANES], able: u16) {
        let gains: [f64; LANES] = std::array::from_fn(|lane| {
            let gain = squares[lane] / curvatures[lane];
            if able >> lane & 1 == 1 { gain } else { f64::NEG_INFINITY }
        });
        // In halves, without a branch for each lane.
        let mut most = gains;
        for half in [8, 4, 2, 1] {
            for lane in 0..half {
                most[lane] = f64::max(most[lane], most[lane + half]);
            }
        }
        let equal = (0..LANES).fold(0_u32, |equal, lane| equal | u32::from(gains[lane] == most[0]) << lane);
        self.improve(most[0], at + equal.trailing_zeros() as usize);
    }

    /// Compares the elements from `from` on, one at a time.
    #[inline(always)]
    pub(crate) fn scalar(
        &mut self,
        from: usize,
        f: &[f64],
        ki: RowSlice,
        &PartnerSelection { diagonal, along, kii, fi, tau }: &PartnerSelection,
        low: &[u8],
    ) {
        for k in from..f.len() {
            let b = f[k] - fi;
            if bit(low, k) && b > 0.0 {
                let kjj = match diagonal {
                    Diagonal::Constant(d) => d,
                    Diagonal::Each(d) => d[k],
                };
                let mut a = (kii + kjj) - 2.0 * f64::from(ki.at(k));
                if let Some(Along { q, qi, scale }) = along {
                    let apart = q[k] - qi;
                    a -= scale * (apart * apart);
                }
                self.improve(b * b / a.max(tau), k);
            }
        }
    }

    pub(crate) fn partner(&self) -> Partner {
        if self.index == usize::MAX { Partner::NONE } else { Partner { gain: self.gain, index: self.index } }
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
