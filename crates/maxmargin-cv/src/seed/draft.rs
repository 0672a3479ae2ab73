//! A point under repair: α and kernel sums of all samples, kept together as α moves.

use crate::problem::{Pool, Trained};
use maxmargin_kernel::Rows;
use maxmargin_simd::sums::add_scaled;
use std::ops::Range;

/// A point on the way to a feasible start.
#[derive(Clone)]
pub struct Draft<'a> {
    pool: &'a Pool,
    rows: &'a Rows<'a>,
    hidden: Range<usize>,
    alpha: Vec<f64>,
    /// `Σ_j y_j α_j K_ij`, up to date for every sample.
    sums: Vec<f64>,
    /// `Σ y_k α_k` of the training set.
    balance: f64,
}

impl<'a> Draft<'a> {
    /// The point of `from`, before anything is taken out of it.
    pub fn new(from: &Trained, pool: &'a Pool, hidden: Range<usize>, rows: &'a Rows<'a>) -> Self {
        let (alpha, sums) = (from.alpha.clone(), from.sums.clone());
        Self { pool, rows, hidden, alpha, sums, balance: 0.0 }
    }

    /// α of every sample.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Kernel sums of every sample.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The optimality indicator `f_i = Σ_j y_j α_j K_ij − y_i` (paper 1, section 2).
    pub fn indicator(&self, i: usize) -> f64 {
        self.sums[i] - self.pool.labels[i]
    }

    /// The rows of the kernel.
    pub fn rows(&self) -> &'a Rows<'a> {
        self.rows
    }

    /// Labels and bounds.
    pub fn pool(&self) -> &'a Pool {
        self.pool
    }

    /// Samples that may not carry α.
    pub fn hidden(&self) -> Range<usize> {
        self.hidden.clone()
    }

    /// Samples of the training set.
    pub fn seen(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.hidden.start).chain(self.hidden.end..self.alpha.len())
    }

    /// `Σ y_k α_k` over all samples: 0 when the point is feasible.
    pub fn balance(&self) -> f64 {
        self.balance
    }

    /// How far `y_i α_i` may move by `amount`'s sign.
    pub fn room(&self, i: usize, amount: f64) -> f64 {
        if (amount > 0.0) == (self.pool.labels[i] > 0.0) { self.pool.upper[i] - self.alpha[i] } else { self.alpha[i] }
    }

    /// Whether `0 < α_i < C_i`.
    pub fn is_free(&self, i: usize) -> bool {
        self.alpha[i] > 0.0 && self.alpha[i] < self.pool.upper[i]
    }

    /// Moves `y_i α_i` by as much of `amount` as the box allows, keeps the sums true, and returns what was moved.
    pub fn shift(&mut self, i: usize, amount: f64) -> f64 {
        let moved = self.move_alpha(i, amount);
        if moved != 0.0 {
            add_scaled(&mut self.sums, moved, &self.rows.row(i));
        }
        moved
    }

    fn move_alpha(&mut self, i: usize, amount: f64) -> f64 {
        let before = self.alpha[i];
        let after = (before + self.pool.labels[i] * amount).clamp(0.0, self.pool.upper[i]);
        self.alpha[i] = after;
        let moved = self.pool.labels[i] * (after - before);
        self.balance += moved;
        moved
    }

    /// Takes all α of sample `r` away; returns the `y_r α_r` that was there.
    pub fn take(&mut self, r: usize) -> f64 {
        -self.shift(r, -self.pool.labels[r] * self.alpha[r])
    }

    /// Samples of the hidden range that carry α.
    pub fn leaving(&self) -> Vec<usize> {
        self.hidden.clone().filter(|&i| self.alpha[i] > 0.0).collect()
    }

    /// Sets many α at once and brings the sums up to date.
    pub fn replace(&mut self, alpha: &[f64]) {
        let wanted: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] != self.alpha[i]).collect();
        for chunk in wanted.chunks(64) {
            self.rows.fetch(chunk);
            for &i in chunk {
                let amount = self.pool.labels[i] * (alpha[i] - self.alpha[i]);
                self.shift(i, amount);
                self.alpha[i] = alpha[i];
            }
        }
    }

    /// Moves the balance to 0: an equal amount on each free sample, clipped at the bounds, repeatedly; then on all others.
    ///
    /// Returns whether it succeeded.
    pub fn spread(&mut self) -> bool {
        let mut alpha = self.alpha.clone();
        let free: Vec<usize> = self.seen().filter(|&i| self.is_free(i)).collect();
        let all: Vec<usize> = self.seen().collect();
        let mut lack = -self.pool.labels.iter().zip(&alpha).map(|(y, a)| y * a).sum::<f64>();
        for candidates in [free, all] {
            lack = spread_over(self.pool, &mut alpha, &candidates, lack);
        }
        self.replace(&alpha);
        self.balance = self.pool.labels.iter().zip(&self.alpha).map(|(y, a)| y * a).sum();
        lack == 0.0
    }

    /// The dual objective `½ αᵀQα − Σα` (to be minimised) at this point.
    pub fn objective(&self) -> f64 {
        let term = |i: usize| self.alpha[i] * (0.5 * self.pool.labels[i] * self.sums[i] - 1.0);
        self.seen().map(term).sum()
    }
}

/// Adds an equal share of `lack` to `y_i α_i` of each candidate, clipped at its bounds, until the lack is gone or all are at a
/// bound; returns what is left.
pub(crate) fn spread_over(pool: &Pool, alpha: &mut [f64], candidates: &[usize], mut lack: f64) -> f64 {
    let scale = pool.upper.iter().copied().fold(0.0, f64::max);
    let mut open: Vec<usize> = candidates.to_vec();
    while lack.abs() > f64::EPSILON * scale && !open.is_empty() {
        let share = lack / open.len() as f64;
        let mut moved = 0.0;
        open.retain(|&i| {
            let before = alpha[i];
            alpha[i] = (before + pool.labels[i] * share).clamp(0.0, pool.upper[i]);
            moved += pool.labels[i] * (alpha[i] - before);
            if share * pool.labels[i] > 0.0 { alpha[i] < pool.upper[i] } else { alpha[i] > 0.0 }
        });
        if moved == 0.0 {
            break;
        }
        lack -= moved;
    }
    if lack.abs() <= 1e-12 * scale * candidates.len().max(1) as f64 { 0.0 } else { lack }
}
