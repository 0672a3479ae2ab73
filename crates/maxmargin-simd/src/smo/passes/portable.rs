//! The SMO passes in plain Rust: a fixed number of lanes without branches, which compilers turn
//! into vectors of any width.

use super::{Along, Best, CONJUGATE, Diagonal, Extremes, LANES, PairUpdate, Partner, PartnerSelection, SINGLE, scan_chunk};
use crate::rows::row::{CHUNK, RowSlice};

/// All-ones lanes where the bits of a number below 16 are set.
pub(super) static MASKS: [[u64; 4]; 16] = {
    let mut masks = [[0; 4]; 16];
    let mut k = 0;
    while k < 64 {
        masks[k / 4][k % 4] = if ((k / 4) >> (k % 4)) & 1 == 1 { u64::MAX } else { 0 };
        k += 1;
    }
    masks
};

/// The entries of a row from `start` to `end`, at most a chunk; codes are decoded into `room`.
#[inline(always)]
fn values<'a>(row: &RowSlice<'a>, start: usize, end: usize, room: &'a mut [f32; CHUNK]) -> &'a [f32] {
    match row {
        RowSlice::Values(values) => &values[start..end],
        RowSlice::Codes(codes, table) => {
            let room = &mut room[..end - start];
            room.iter_mut().zip(&codes[start..end]).for_each(|(value, &code)| *value = table.value(code));
            room
        }
    }
}

/// See [`super::update_and_scan`].
pub(super) fn update_and_scan<const KIND: u8>(
    f: &mut [f64],
    q: &mut [f64],
    PairUpdate { ki, kj, beta, delta }: PairUpdate,
    up: &[u8],
    low: &[u8],
) -> Extremes {
    let (mut one, mut two) = ([0.0; CHUNK], [0.0; CHUNK]);
    let mut found = Extremes::NONE;
    for start in (0..f.len()).step_by(CHUNK) {
        let end = (start + CHUNK).min(f.len());
        let first = values(&ki, start, end, &mut one);
        let f = &mut f[start..end];
        match KIND {
            SINGLE => f.iter_mut().zip(first).for_each(|(f, &k)| *f += delta * f64::from(k)),
            CONJUGATE => {
                let rows = first.iter().zip(values(&kj, start, end, &mut two));
                for ((f, q), (&k, &other)) in f.iter_mut().zip(&mut q[start..end]).zip(rows) {
                    *q = (f64::from(k) - f64::from(other)) + beta * *q;
                    *f += delta * *q;
                }
            }
            _ => {
                let rows = first.iter().zip(values(&kj, start, end, &mut two));
                f.iter_mut().zip(rows).for_each(|(f, (&k, &other))| *f += delta * (f64::from(k) - f64::from(other)));
            }
        }
        look(start, f, &up[start / 8..], &low[start / 8..], &mut found);
    }
    found
}

/// See [`super::scan`].
pub(super) fn scan(f: &[f64], up: &[u8], low: &[u8]) -> Extremes {
    let mut found = Extremes::NONE;
    look(0, f, up, low, &mut found);
    found
}

/// Merges the extremes of the elements from `start` on, with their sets. Few blocks contain one:
/// the test has no branch, only the search has.
fn look(start: usize, f: &[f64], up: &[u8], low: &[u8], found: &mut Extremes) {
    for (n, block) in f.chunks(LANES).enumerate() {
        let (at, byte) = (n * LANES, n * LANES / 8);
        let (up, low) = (&up[byte..], &low[byte..]);
        let whole = <&[f64; LANES]>::try_from(block);
        if whole.is_ok_and(|block| !beyond(block, [up[0], up[1]], [low[0], low[1]], found.min_up, found.max_low)) {
            continue;
        }
        found.join(scan_chunk(block, up, low), start + at);
    }
}

/// Returns whether an element of `up` is below `least` or one of `low` above `most`.
#[inline(always)]
fn beyond(f: &[f64; LANES], up: [u8; 2], low: [u8; 2], least: f64, most: f64) -> bool {
    let mut any = [0; LANES];
    for part in 0..LANES / 4 {
        let [up, low] = [up, low].map(|set| masks(set, part));
        for (lane, (up, low)) in (4 * part..).zip(up.iter().zip(low)) {
            any[lane] = u64::from(f[lane] < least).wrapping_neg() & up | u64::from(f[lane] > most).wrapping_neg() & low;
        }
    }
    any.iter().fold(0, |any, lane| any | lane) != 0
}

/// The masks of the four elements of a block that form its `part`.
#[inline(always)]
fn masks(set: [u8; 2], part: usize) -> &'static [u64; 4] {
    &MASKS[usize::from(set[part / 2] >> (4 * (part % 2)) & 15)]
}

/// See [`super::second_order`].
pub(super) fn second_order(f: &[f64], ki: RowSlice, selection: &PartnerSelection, low: &[u8]) -> Partner {
    let &PartnerSelection { diagonal, along, kii, .. } = selection;
    let (mut best, mut room) = (Best::new(), [0.0; CHUNK]);
    let full = f.len() / LANES * LANES;
    for start in (0..full).step_by(CHUNK) {
        let end = (start + CHUNK).min(full);
        let row = values(&ki, start, end, &mut room);
        for (row, k) in row.chunks_exact(LANES).zip((start..end).step_by(LANES)) {
            let mut curvature = match diagonal {
                Diagonal::Constant(d) => [kii + d; LANES],
                Diagonal::Each(d) => {
                    let d = &d[k..k + LANES];
                    std::array::from_fn(|lane| kii + d[lane])
                }
            };
            (0..LANES).for_each(|lane| curvature[lane] -= 2.0 * f64::from(row[lane]));
            if let Some(Along { q, qi, scale }) = along {
                let q = &q[k..k + LANES];
                for lane in 0..LANES {
                    let apart = q[lane] - qi;
                    curvature[lane] -= scale * (apart * apart);
                }
            }
            offer(&mut best, k, &f[k..k + LANES], selection, &mut curvature, [low[k / 8], low[k / 8 + 1]]);
        }
    }
    best.scalar(full, f, ki, selection, low);
    best.partner()
}

/// Compares the block of elements from `at` on. Few blocks have a better candidate: the test has no
/// branch, only the comparison has.
#[inline(always)]
fn offer(
    best: &mut Best,
    at: usize,
    f: &[f64],
    &PartnerSelection { fi, tau, .. }: &PartnerSelection,
    curvature: &mut [f64; LANES],
    low: [u8; 2],
) {
    let (mut squares, mut able) = ([0.0; LANES], [0; LANES]);
    for part in 0..LANES / 4 {
        for (lane, mask) in (4 * part..).zip(masks(low, part)) {
            let b = f[lane] - fi;
            curvature[lane] = if curvature[lane] > tau { curvature[lane] } else { tau };
            squares[lane] = b * b;
            let gains = squares[lane] >= best.gain * curvature[lane];
            able[lane] = u64::from((b > 0.0) & gains).wrapping_neg() & mask;
        }
    }
    if able.iter().fold(0, |any, lane| any | lane) != 0 {
        let bits = (0..LANES).fold(0, |bits, lane| bits | u16::from(able[lane] != 0) << lane);
        best.offer(at, &squares, curvature, bits);
    }
}
