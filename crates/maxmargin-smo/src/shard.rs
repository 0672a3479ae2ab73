//! A range of places with everything that a pass over it reads and writes: the unit of work that
//! threads share.

use crate::layout::Piece;
use maxmargin_kernel::{Row, RowRef};
use maxmargin_simd::passes::{
    Along, Diagonal, Extremes, Partner, Selection, Update, add_and_scan, scan, second_order, turn_and_scan, update_and_scan,
};

/// Curvature of a pair below which it counts as flat (LIBSVM's tau).
pub(crate) const TAU: f64 = 1e-12;

/// A pass over all places.
#[derive(Clone, Debug)]
pub(crate) enum Pass {
    /// Find the extremes of `f`.
    Scan,
    /// Find the partner with the greatest second-order gain for a variable with this row, among
    /// those of a side.
    Partner(RowRef, Wanted, usize),
    /// `f += step (K_i − K_j)`, then scan.
    Pair(RowRef, RowRef, f64),
    /// `q = turn q + (K_i − K_j)` and `f += step q`, then scan.
    Turn(RowRef, RowRef, f64, f64),
    /// `f += step K_i`, then scan.
    Single(RowRef, f64),
}

/// What a variable looks for in a partner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// `K_ii`, less what rows leave out.
    pub(crate) own: f64,
    /// `f_i`.
    pub(crate) f: f64,
    /// `q_i` and `1 / pᵀ K p`, where there is a direction.
    pub(crate) along: Option<(f64, f64)>,
}

/// What a pass found in a shard; indices are places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Of [`Pass::Scan`], [`Pass::Pair`] and [`Pass::Single`], for each side; all variables are on
    /// the first where there is one sum.
    pub(crate) extremes: [Extremes; 2],
    /// Of [`Pass::Partner`].
    pub(crate) partner: Partner,
}

impl Found {
    /// Nothing.
    pub(crate) const NONE: Self = Self { extremes: [Extremes::NONE; 2], partner: Partner::NONE };

    /// Joins what was found at later places.
    pub(crate) fn join(&mut self, later: Self) {
        self.extremes.iter_mut().zip(later.extremes).for_each(|(own, later)| own.join(later, 0));
        self.partner.join(later.partner, 0);
    }
}

/// Packed index sets.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    pub(crate) up: Vec<u8>,
    pub(crate) low: Vec<u8>,
}

impl Sets {
    /// Empty sets of so many places.
    pub(crate) fn none(places: usize) -> Self {
        Self { up: vec![0; places / 8], low: vec![0; places / 8] }
    }
}

/// `f`, the index sets and the diagonal at the places from `at` on.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The first place.
    pub(crate) at: usize,
    /// Runs of columns; `Piece::at` counts from the shard's first place.
    pub(crate) pieces: Vec<Piece>,
    /// Gram indices of the places, when rows have to be gathered.
    pub(crate) gather: Option<Vec<usize>>,
    pub(crate) f: Vec<f64>,
    /// `K p` of the last direction; empty until there is one.
    pub(crate) q: Vec<f64>,
    /// The index sets of each side: one side, or the positive and the negative sign where each has
    /// a sum.
    pub(crate) sides: Vec<Sets>,
    /// `K_kk` and the ridge of each place, or the one value of all, less what rows leave out.
    pub(crate) diagonal: Result<f64, Vec<f64>>,
    pub(crate) gathered: [Vec<f32>; 2],
    /// A pass that nobody has made here yet.
    pub(crate) open: Option<Pass>,
    /// What the last pass found.
    pub(crate) found: Found,
}

impl Shard {
    /// Makes the open pass, if there is one.
    pub(crate) fn work(&mut self) {
        if let Some(pass) = self.open.take() {
            self.found = self.make(&pass);
        }
    }

    /// Makes a pass.
    pub(crate) fn make(&mut self, pass: &Pass) -> Found {
        let mut found = Found::NONE;
        if let Pass::Turn(..) = pass {
            self.q.resize(self.f.len(), 0.0);
        }
        let Self { at: first, pieces, gather, f, q, sides, diagonal, gathered: [one, two], .. } = self;
        for piece in pieces {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            let (up, low) = (&sides[0].up[at / 8..], &sides[0].low[at / 8..]);
            let f = &mut f[at..end];
            match pass {
                Pass::Scan => found.extremes[0].join(scan(f, up, low), *first + at),
                Pass::Partner(ki, Wanted { own, f: fi, along }, side) => {
                    let diagonal = match diagonal {
                        Ok(constant) => Diagonal::Constant(*constant),
                        Err(each) => Diagonal::Each(&each[at..end]),
                    };
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let low = &sides[*side].low[at / 8..];
                    let along = along.map(|(qi, scale)| Along { q: &q[at..end], qi, scale });
                    let selection = Selection { diagonal, along, kii: *own, fi: *fi, tau: TAU };
                    found.partner.join(second_order(f, ki, &selection, low), *first + at);
                }
                Pass::Pair(ki, kj, step) => {
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let kj = view(kj, gather.as_deref(), two).part(piece.columns.clone());
                    found.extremes[0].join(update_and_scan(f, ki, kj, *step, up, low), *first + at);
                }
                Pass::Turn(ki, kj, turn, step) => {
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let kj = view(kj, gather.as_deref(), two).part(piece.columns.clone());
                    let update = Update { ki, kj, turn: *turn, delta: *step };
                    found.extremes[0].join(turn_and_scan(f, &mut q[at..end], update, up, low), *first + at);
                }
                Pass::Single(ki, step) => {
                    ki.entries().add_base(f, *step);
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    found.extremes[0].join(add_and_scan(f, ki, *step, up, low), *first + at);
                }
            }
            // The row is in `f` by now: what is left is to look at the other side.
            if let (Some(Sets { up, low }), true) = (sides.get(1), !matches!(pass, Pass::Partner(..))) {
                found.extremes[1].join(scan(f, &up[at / 8..], &low[at / 8..]), *first + at);
            }
        }
        found
    }

    /// Writes the set bits of a place (counted from the shard's first) on a side.
    pub(crate) fn mark(&mut self, place: usize, side: usize, up: bool, low: bool) {
        let (byte, bit) = (place / 8, 1_u8 << (place % 8));
        let write = |set: &mut u8, on: bool| *set = if on { *set | bit } else { *set & !bit };
        write(&mut self.sides[side].up[byte], up);
        write(&mut self.sides[side].low[byte], low);
    }

    /// `K_kk`, less what rows leave out, at a place (counted from the shard's first).
    pub(crate) fn own(&self, place: usize) -> f64 {
        match &self.diagonal {
            Ok(constant) => *constant,
            Err(each) => each[place],
        }
    }

    /// Calls `each(place, f)` for the places of a side that may move towards `middle`, at least
    /// `least` away from it.
    pub(crate) fn violators(&self, side: usize, middle: f64, least: f64, mut each: impl FnMut(usize, f64)) {
        let Sets { up, low } = &self.sides[side];
        // Places that hold no variable have no bits.
        for ((group, f), (&up, &low)) in self.f.chunks_exact(8).enumerate().zip(up.iter().zip(low)) {
            let mut found = 0_u8;
            for (j, f) in f.iter().enumerate() {
                let away = f - middle;
                let (above, below) = (u8::from(away <= -least) & (up >> j), u8::from(away >= least) & (low >> j));
                found |= ((above | below) & 1) << j;
            }
            while found != 0 {
                let j = found.trailing_zeros() as usize;
                each(self.at + 8 * group + j, (f[j] - middle).abs());
                found &= found - 1;
            }
        }
    }
}

/// What is held of the row, in the order of the places: borrowed as it is, or gathered into
/// `buffer`.
fn view<'r>(row: &'r RowRef, gather: Option<&[usize]>, buffer: &'r mut Vec<f32>) -> Row<'r> {
    match gather {
        None => row.entries().held(),
        Some(ids) => {
            buffer.clear();
            let entries = row.entries().held();
            buffer.extend(ids.iter().map(|&id| entries.at(id)));
            Row::Values(buffer)
        }
    }
}
