//! The running state of SMO: α, the optimality indicator `f`, and the index sets as packed bits.

use crate::layout::Layout;
use maxmargin_core::Dual;
use maxmargin_kernel::{Gram, RowRef};
use maxmargin_simd::passes::{Diagonal, Extremes, Partner, add_and_scan, scan, second_order, update_and_scan};

/// Curvature of a pair below which it counts as flat (LIBSVM's tau).
pub(crate) const TAU: f64 = 1e-12;

/// `f_k = s_k (Qα + lin)_k`; `up` holds the variables whose `s_k α_k` may grow, `low` those whose `s_k α_k` may fall.
///
/// Optimal within ε when `max f over low − min f over up ≤ ε`.
pub(crate) struct State {
    pub(crate) layout: Layout,
    pub(crate) f: Vec<f64>,
    alpha: Vec<f64>,
    upper: Vec<f64>,
    sign: Vec<f64>,
    up: Vec<u8>,
    low: Vec<u8>,
    /// `K_kk` in place order, or the one value of all.
    diagonal: Result<f64, Vec<f64>>,
    ridge: f64,
    gathered: [Vec<f32>; 2],
}

/// One step on a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Decrease of the objective.
    pub(crate) gain: f64,
    /// Extremes of `f` afterwards.
    pub(crate) extremes: Extremes,
}

impl State {
    /// The state at `alpha` with its gradient (one entry per variable).
    pub(crate) fn new(dual: &Dual, gram: &dyn Gram, alpha: &[f64], gradient: &[f64]) -> Self {
        let layout = Layout::new(dual);
        let f = layout.spread(dual.sign().iter().zip(gradient).map(|(s, g)| s * g));
        let alpha = layout.spread(alpha.iter().copied());
        let upper = layout.spread(dual.upper().iter().copied());
        let sign = layout.spread(dual.sign().iter().copied());
        let all = gram.diagonal();
        let first = all[dual.ids()[0]];
        let diagonal = if dual.ids().iter().all(|&id| all[id] == first) {
            Ok(first)
        } else {
            Err(layout.spread(dual.ids().iter().map(|&id| all[id])))
        };
        let bytes = layout.padded() / 8;
        let mut state = Self {
            layout,
            f,
            alpha,
            upper,
            sign,
            up: vec![0; bytes],
            low: vec![0; bytes],
            diagonal,
            ridge: dual.ridge(),
            gathered: [vec![], vec![]],
        };
        for k in 0..dual.len() {
            state.mark(state.layout.place(k));
        }
        state
    }

    /// α, one entry per variable.
    pub(crate) fn alpha(&self) -> Vec<f64> {
        self.layout.collect(&self.alpha)
    }

    /// The gradient `Qα + lin`, one entry per variable.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        let signed: Vec<f64> = self.f.iter().zip(&self.sign).map(|(f, s)| f * s).collect();
        self.layout.collect(&signed)
    }

    /// Replaces the gradient by a better one.
    pub(crate) fn refresh(&mut self, dual: &Dual, gradient: &[f64]) {
        self.f = self.layout.spread(dual.sign().iter().zip(gradient).map(|(s, g)| s * g));
    }

    /// The sets `up` and `low` as packed bits over places.
    pub(crate) fn sets(&self) -> (&[u8], &[u8]) {
        (&self.up, &self.low)
    }

    /// How far `s α` may grow and fall at a place.
    fn rooms(&self, place: usize) -> (f64, f64) {
        let (a, u) = (self.alpha[place], self.upper[place]);
        if self.sign[place] > 0.0 { (u - a, a) } else { (a, u - a) }
    }

    /// Writes the set bits of a place from its α.
    fn mark(&mut self, place: usize) {
        let (grow, fall) = self.rooms(place);
        let (byte, bit) = (place / 8, 1_u8 << (place % 8));
        let write = |set: &mut u8, on: bool| *set = if on { *set | bit } else { *set & !bit };
        write(&mut self.up[byte], grow > 0.0);
        write(&mut self.low[byte], fall > 0.0);
    }

    /// The extremes of `f` now.
    pub(crate) fn extremes(&self) -> Extremes {
        let mut found = Extremes::NONE;
        for piece in self.layout.pieces() {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            found.join(scan(&self.f[at..end], &self.up[at / 8..], &self.low[at / 8..]), at);
        }
        found
    }

    /// The partner of `i` with the greatest second-order gain.
    pub(crate) fn partner(&mut self, i: usize, row: &RowRef) -> Partner {
        let (kii, fi) = (self.own(i) + 2.0 * self.ridge, self.f[i]);
        let ki = self.layout.view(row, &mut self.gathered[0]);
        let mut best = Partner::NONE;
        for piece in self.layout.pieces() {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            let diagonal = match &self.diagonal {
                Ok(constant) => Diagonal::Constant(*constant),
                Err(each) => Diagonal::Each(&each[at..end]),
            };
            let low = &self.low[at / 8..];
            best.join(second_order(&self.f[at..end], &ki[piece.columns.clone()], diagonal, kii, fi, TAU, low), at);
        }
        best
    }

    fn own(&self, place: usize) -> f64 {
        match &self.diagonal {
            Ok(constant) => *constant,
            Err(each) => each[place],
        }
    }

    /// Moves `s α` of `i` up and of `j` down by the best common amount, and updates `f`.
    pub(crate) fn step(&mut self, i: usize, j: usize, row_i: &RowRef, row_j: &RowRef) -> Step {
        let kij = f64::from(row_i[self.layout.id(j)]);
        let a = (self.own(i) + self.own(j) + 2.0 * self.ridge - 2.0 * kij).max(TAU);
        let b = self.f[j] - self.f[i];
        let ((grow, _), (_, fall)) = (self.rooms(i), self.rooms(j));
        let step = (b / a).min(grow).min(fall);
        self.shift(i, step, step == grow);
        self.shift(j, -step, step == fall);
        if self.ridge > 0.0 {
            self.f[i] += step * self.ridge;
            self.f[j] -= step * self.ridge;
        }
        let [buffer_i, buffer_j] = &mut self.gathered;
        let (ki, kj) = (self.layout.view(row_i, buffer_i), self.layout.view(row_j, buffer_j));
        let mut extremes = Extremes::NONE;
        for piece in self.layout.pieces() {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            let (ki, kj) = (&ki[piece.columns.clone()], &kj[piece.columns.clone()]);
            let (up, low) = (&self.up[at / 8..], &self.low[at / 8..]);
            extremes.join(update_and_scan(&mut self.f[at..end], ki, kj, step, up, low), at);
        }
        Step { gain: step * (b - 0.5 * step * a), extremes }
    }

    /// Moves `s α` of `i` alone to where its `f` would meet `threshold`, as far as the box allows, and updates `f`.
    pub(crate) fn single(&mut self, i: usize, threshold: f64, row: &RowRef) -> Extremes {
        let wanted = (threshold - self.f[i]) / (self.own(i) + self.ridge).max(TAU);
        let (grow, fall) = self.rooms(i);
        let step = wanted.clamp(-fall, grow);
        self.shift(i, step, step == grow || step == -fall);
        self.f[i] += step * self.ridge;
        let ki = self.layout.view(row, &mut self.gathered[0]);
        let mut extremes = Extremes::NONE;
        for piece in self.layout.pieces() {
            let (at, end) = (piece.at, piece.at + piece.columns.len());
            let (up, low) = (&self.up[at / 8..], &self.low[at / 8..]);
            extremes.join(add_and_scan(&mut self.f[at..end], &ki[piece.columns.clone()], step, up, low), at);
        }
        extremes
    }

    /// Moves `s α` at a place by `amount`; to the bound exactly when that is where it goes.
    fn shift(&mut self, place: usize, amount: f64, to_bound: bool) {
        let rises = (amount > 0.0) == (self.sign[place] > 0.0);
        self.alpha[place] = match (to_bound, rises) {
            (true, true) => self.upper[place],
            (true, false) => 0.0,
            (false, _) => (self.alpha[place] + self.sign[place] * amount).clamp(0.0, self.upper[place]),
        };
        self.mark(place);
    }
}
