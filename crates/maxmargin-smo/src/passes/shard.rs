//! A range of places with all data that a pass reads and writes: the unit of work that threads
//! share.

use crate::passes::layout::Piece;
use maxmargin_kernel::{RowRef, RowSlice};
use maxmargin_simd::passes::{
    Along, Diagonal, Extremes, PairUpdate, Partner, PartnerSelection, add_and_scan, conjugate_and_scan, scan, second_order,
    update_and_scan,
};

/// The least curvature of a pair; smaller ones count as flat (LIBSVM's tau).
pub(crate) const TAU: f64 = 1e-12;

/// A pass over all places, with the kernel rows that it reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass<R> {
    /// Finds the extremes of `f`.
    Scan,
    /// Finds the partner with the greatest second-order gain for the variable of this row, on a
    /// side.
    Partner(R, PartnerQuery, usize),
    /// Adds `step (K_i − K_j)` to `f`, then scans.
    Pair(R, R, f64),
    /// Sets `q ← β q + (K_i − K_j)` and `f += step q`, then scans.
    Conjugate(R, R, f64, f64),
    /// Adds `step K_i` to `f`, then scans.
    Single(R, f64),
}

impl<R> Pass<R> {
    /// Converts the rows.
    pub(crate) fn map<'r, T>(&'r self, row: impl Fn(&'r R) -> T) -> Pass<T> {
        match self {
            Self::Scan => Pass::Scan,
            Self::Partner(i, query, side) => Pass::Partner(row(i), *query, *side),
            Self::Pair(i, j, step) => Pass::Pair(row(i), row(j), *step),
            Self::Conjugate(i, j, beta, step) => Pass::Conjugate(row(i), row(j), *beta, *step),
            Self::Single(i, step) => Pass::Single(row(i), *step),
        }
    }
}

/// The values of variable `i` in the search for its partner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartnerQuery {
    /// `K_ii`, without the constant that rows leave out.
    pub(crate) own: f64,
    /// The indicator `f_i`.
    pub(crate) f: f64,
    /// `q_i` and `1 / pᵀ K p`, if there is a direction.
    pub(crate) along: Option<(f64, f64)>,
}

/// The result of a pass over a shard; indices are places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassResult {
    /// The extremes of each side, from every pass but [`Pass::Partner`]. With one sum all variables
    /// are on the first side.
    pub(crate) extremes: [Extremes; 2],
    /// The partner, from [`Pass::Partner`].
    pub(crate) partner: Partner,
}

impl PassResult {
    /// An empty result.
    pub(crate) const NONE: Self = Self { extremes: [Extremes::NONE; 2], partner: Partner::NONE };

    /// Merges the result of later places.
    pub(crate) fn join(&mut self, later: Self) {
        self.extremes.iter_mut().zip(later.extremes).for_each(|(own, later)| own.join(later, 0));
        self.partner.join(later.partner, 0);
    }
}

/// The index sets as packed bits.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    pub(crate) up: Vec<u8>,
    pub(crate) low: Vec<u8>,
}

impl Sets {
    /// Creates empty sets of so many places.
    pub(crate) fn none(places: usize) -> Self {
        Self { up: vec![0; places / 8], low: vec![0; places / 8] }
    }
}

/// The data of the places from `at` on: `f`, the index sets and the diagonal.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The first place.
    pub(crate) at: usize,
    /// The runs of columns; `Piece::at` counts from the shard's first place.
    pub(crate) pieces: Vec<Piece>,
    /// The Gram indices of the places, if rows have to be gathered.
    pub(crate) gather: Option<Vec<usize>>,
    pub(crate) f: Vec<f64>,
    /// `K p` of the last direction; empty until there is one.
    pub(crate) q: Vec<f64>,
    /// The index sets of each side: one side, or the positive and the negative sign if each has a
    /// sum.
    pub(crate) sides: Vec<Sets>,
    /// `K_kk` plus the ridge of each place, or one value for all, without the constant that rows
    /// leave out.
    pub(crate) diagonal: Result<f64, Vec<f64>>,
    pub(crate) gathered: [Vec<f32>; 2],
    /// The result of the last pass.
    pub(crate) result: PassResult,
}

impl Shard {
    /// Makes a pass.
    pub(crate) fn make(&mut self, pass: &Pass<&RowRef>) -> PassResult {
        let mut result = PassResult::NONE;
        if let Pass::Conjugate(..) = pass {
            self.q.resize(self.f.len(), 0.0);
        }
        let Self { at: first, pieces, gather, f, q, sides, diagonal, gathered: [one, two], .. } = self;
        for piece in pieces {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            let (up, low) = (&sides[0].up[at / 8..], &sides[0].low[at / 8..]);
            let f = &mut f[at..end];
            match pass {
                Pass::Scan => result.extremes[0].join(scan(f, up, low), *first + at),
                Pass::Partner(ki, PartnerQuery { own, f: fi, along }, side) => {
                    let diagonal = match diagonal {
                        Ok(constant) => Diagonal::Constant(*constant),
                        Err(each) => Diagonal::Each(&each[at..end]),
                    };
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let low = &sides[*side].low[at / 8..];
                    let along = along.map(|(qi, scale)| Along { q: &q[at..end], qi, scale });
                    let selection = PartnerSelection { diagonal, along, kii: *own, fi: *fi, tau: TAU };
                    result.partner.join(second_order(f, ki, &selection, low), *first + at);
                }
                Pass::Pair(ki, kj, step) => {
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let kj = view(kj, gather.as_deref(), two).part(piece.columns.clone());
                    result.extremes[0].join(update_and_scan(f, ki, kj, *step, up, low), *first + at);
                }
                Pass::Conjugate(ki, kj, beta, step) => {
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    let kj = view(kj, gather.as_deref(), two).part(piece.columns.clone());
                    let update = PairUpdate { ki, kj, beta: *beta, delta: *step };
                    result.extremes[0].join(conjugate_and_scan(f, &mut q[at..end], update, up, low), *first + at);
                }
                Pass::Single(ki, step) => {
                    ki.entries().add_base(f, *step);
                    let ki = view(ki, gather.as_deref(), one).part(piece.columns.clone());
                    result.extremes[0].join(add_and_scan(f, ki, *step, up, low), *first + at);
                }
            }
            // `f` is up to date; only the extremes of the other side are missing.
            if let (Some(Sets { up, low }), true) = (sides.get(1), !matches!(pass, Pass::Partner(..))) {
                result.extremes[1].join(scan(f, &up[at / 8..], &low[at / 8..]), *first + at);
            }
        }
        result
    }

    /// Sets the bits of all variables, given α, upper bounds and signs by place. Sign and bound of
    /// a place without a variable are 0, so it gets no bit.
    pub(crate) fn mark_all(&mut self, alpha: &[f64], upper: &[f64], sign: &[f64]) {
        let (places, last) = (self.at..self.at + self.f.len(), self.sides.len() - 1);
        let bytes = alpha[places.clone()].chunks(8).zip(upper[places.clone()].chunks(8)).zip(sign[places].chunks(8));
        for (byte, ((alpha, upper), sign)) in bytes.enumerate() {
            let (mut up, mut low) = ([0_u8; 2], [0_u8; 2]);
            for (bit, ((a, upper), sign)) in alpha.iter().zip(upper).zip(sign).enumerate() {
                let (rises, falls, side) = (u8::from(a < upper), u8::from(*a > 0.0), usize::from(*sign < 0.0));
                let (of_up, of_low) = if *sign > 0.0 { (rises, falls) } else { (falls, rises) };
                up[side] |= of_up << bit;
                low[side] |= of_low << bit;
            }
            for side in 0..2 {
                self.sides[side.min(last)].up[byte] |= up[side];
                self.sides[side.min(last)].low[byte] |= low[side];
            }
        }
    }

    /// Writes the set bits of a place (counted from the shard's first) on a side.
    pub(crate) fn mark(&mut self, place: usize, side: usize, up: bool, low: bool) {
        let (byte, bit) = (place / 8, 1_u8 << (place % 8));
        let write = |set: &mut u8, on: bool| *set = if on { *set | bit } else { *set & !bit };
        write(&mut self.sides[side].up[byte], up);
        write(&mut self.sides[side].low[byte], low);
    }

    /// Returns `K_kk` at a place (counted from the shard's first), without the constant that rows
    /// leave out.
    pub(crate) fn own(&self, place: usize) -> f64 {
        match &self.diagonal {
            Ok(constant) => *constant,
            Err(each) => each[place],
        }
    }

    /// Calls `each(place, violation)` for the places of a side that may move towards `middle` and
    /// lie at least `least` away from it.
    pub(crate) fn violators(&self, side: usize, middle: f64, least: f64, mut each: impl FnMut(usize, f64)) {
        let Sets { up, low } = &self.sides[side];
        // Places without a variable have no bits.
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

/// Returns the stored row in the order of the places: borrowed, or gathered into `buffer`.
fn view<'r>(row: &'r RowRef, gather: Option<&[usize]>, buffer: &'r mut Vec<f32>) -> RowSlice<'r> {
    match gather {
        None => row.entries().held(),
        Some(ids) => {
            buffer.clear();
            let entries = row.entries().held();
            buffer.extend(ids.iter().map(|&id| entries.at(id)));
            RowSlice::Values(buffer)
        }
    }
}
