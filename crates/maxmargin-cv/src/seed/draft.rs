//! A point under repair: α and kernel sums of all samples, kept together as α moves.

use crate::problem::{Fold, Pool, Trained};
use maxmargin_core::Solution;
use maxmargin_kernel::Rows;
use maxmargin_simd::sums::add_scaled;
use maxmargin_smo::Relaxed;

/// What counts as rounding in a balance, relative to the largest C.
const ROUNDING: f64 = 1e-9;

/// A point on the way to a feasible start.
pub struct Draft<'a> {
    fold: Fold<'a>,
    alpha: Vec<f64>,
    /// `Σ_j y_j α_j K_ij`, up to date for every sample.
    sums: Vec<f64>,
    /// Kernel rows read on the way, those of the α that leave included: the price of the seed.
    pub steps: u64,
    /// Breakpoints of the exact path on the way.
    pub breakpoints: u64,
}

impl<'a> Draft<'a> {
    /// The point of `from`, before anything is taken out of it.
    pub fn new(from: &Trained, fold: Fold<'a>) -> Self {
        Self { fold, alpha: from.alpha.clone(), sums: from.sums.clone(), steps: 0, breakpoints: 0 }
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
        self.sums[i] - self.fold.pool.labels[i]
    }

    /// The rows of the kernel.
    pub fn rows(&self) -> &'a Rows<'a> {
        self.fold.rows
    }

    /// Labels and bounds.
    pub fn pool(&self) -> &'a Pool {
        self.fold.pool
    }

    /// Samples of the training set.
    pub fn seen(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.fold.hidden.start).chain(self.fold.hidden.end..self.alpha.len())
    }

    /// `Σ y_k α_k` over all samples: 0 when the point is feasible.
    pub fn balance(&self) -> f64 {
        self.fold.pool.labels.iter().zip(&self.alpha).map(|(y, a)| y * a).sum()
    }

    /// How far `y_i α_i` may move by `amount`'s sign.
    pub fn room(&self, i: usize, amount: f64) -> f64 {
        if (amount > 0.0) == (self.fold.pool.labels[i] > 0.0) { self.fold.pool.upper[i] - self.alpha[i] } else { self.alpha[i] }
    }

    /// Whether `0 < α_i < C_i`.
    pub fn is_free(&self, i: usize) -> bool {
        self.alpha[i] > 0.0 && self.alpha[i] < self.fold.pool.upper[i]
    }

    /// Moves `y_i α_i` by as much of `amount` as the box allows, keeps the sums true, and returns what was moved.
    pub fn shift(&mut self, i: usize, amount: f64) -> f64 {
        let moved = self.move_alpha(i, amount);
        if moved != 0.0 {
            self.steps += 1;
            add_scaled(&mut self.sums, moved, &self.fold.rows.row(i));
        }
        moved
    }

    fn move_alpha(&mut self, i: usize, amount: f64) -> f64 {
        let before = self.alpha[i];
        let after = (before + self.fold.pool.labels[i] * amount).clamp(0.0, self.fold.pool.upper[i]);
        self.alpha[i] = after;
        self.fold.pool.labels[i] * (after - before)
    }

    /// Takes all α of sample `r` away; returns the `y_r α_r` that was there.
    pub fn take(&mut self, r: usize) -> f64 {
        -self.shift(r, -self.fold.pool.labels[r] * self.alpha[r])
    }

    /// Samples of the hidden range that carry α.
    pub fn leaving(&self) -> Vec<usize> {
        self.fold.hidden.clone().filter(|&i| self.alpha[i] > 0.0).collect()
    }

    /// Takes over α and sums of the training set from a solver's point; sums of hidden samples are no longer true.
    pub(super) fn adopt(&mut self, relaxed: &Relaxed) {
        for (k, &i) in self.fold.dual.ids().iter().enumerate() {
            self.alpha[i] = relaxed.alpha[k];
            self.sums[i] = self.fold.pool.labels[i] * (relaxed.gradient[k] + 1.0);
        }
        self.steps += relaxed.steps;
    }

    /// Takes over an exact solution of the training set; sums of hidden samples are no longer true.
    pub(super) fn adopt_exact(&mut self, solution: &Solution) {
        self.alpha[self.fold.hidden.clone()].fill(0.0);
        for (k, &i) in self.fold.dual.ids().iter().enumerate() {
            self.alpha[i] = solution.alpha[k];
            self.sums[i] = self.fold.pool.labels[i] * (solution.gradient[k] + 1.0);
        }
    }

    /// Moves `y α` of all of `samples` by `share`, given `Σ_j K_ij` over them. The caller has seen that the boxes allow it.
    pub(super) fn shift_together(&mut self, samples: &[usize], share: f64, kernel_sums: &[f64]) {
        samples.iter().for_each(|&i| self.alpha[i] += self.fold.pool.labels[i] * share);
        self.sums.iter_mut().zip(kernel_sums).for_each(|(s, k)| *s += share * k);
    }

    /// Sets many α at once and brings the sums up to date.
    pub fn replace(&mut self, alpha: &[f64]) {
        let wanted: Vec<usize> = (0..alpha.len()).filter(|&i| alpha[i] != self.alpha[i]).collect();
        for chunk in wanted.chunks(64) {
            self.fold.rows.fetch(chunk);
            for &i in chunk {
                let amount = self.fold.pool.labels[i] * (alpha[i] - self.alpha[i]);
                self.shift(i, amount);
                self.alpha[i] = alpha[i];
            }
        }
    }

    /// Moves the balance to 0: an equal amount on each free sample, clipped at the bounds, repeatedly; then on all others. What is
    /// only rounding goes to one sample.
    ///
    /// Returns whether it succeeded.
    pub fn spread(&mut self) -> bool {
        let scale = self.fold.pool.upper.iter().copied().fold(0.0, f64::max);
        let mut lack = -self.balance();
        if lack.abs() > ROUNDING * scale {
            let mut alpha = self.alpha.clone();
            let free: Vec<usize> = self.seen().filter(|&i| self.is_free(i)).collect();
            let all: Vec<usize> = self.seen().collect();
            for candidates in [free, all] {
                lack = spread_over(self.fold.pool, &mut alpha, &candidates, lack);
            }
            self.replace(&alpha);
            lack = -self.balance();
        }
        let roomiest = self.seen().max_by(|&i, &j| self.room(i, lack).total_cmp(&self.room(j, lack)).then(j.cmp(&i)));
        if let Some(i) = roomiest.filter(|_| lack != 0.0) {
            self.shift(i, lack);
        }
        self.balance().abs() <= ROUNDING * scale
    }
}

/// Adds an equal share of `lack` to `y_i α_i` of each candidate, clipped at its bounds, until the lack is gone or all are at a
/// bound; returns what is left.
pub(crate) fn spread_over(pool: &Pool, alpha: &mut [f64], candidates: &[usize], mut lack: f64) -> f64 {
    let scale = pool.upper.iter().copied().fold(0.0, f64::max);
    // The rounding of a sum over all candidates: no further round can do better.
    let rounding = 1e-12 * scale * candidates.len().max(1) as f64;
    let mut open: Vec<usize> = candidates.to_vec();
    while lack.abs() > rounding && !open.is_empty() {
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
    if lack.abs() <= rounding { 0.0 } else { lack }
}
