//! A point under repair: coefficients and kernel sums of all rows, kept together as they move.

use crate::seed::SeedRows;
use crate::seed::problem::{Fold, Trained};
use crate::seed::row_boxes::{RowBoxes, sum_of};
use maxmargin_core::{Dual, EqualityConstraint, Halted, Solution};
use maxmargin_kernel::RowRef;
use maxmargin_smo::Relaxed;

/// What counts as rounding in a balance, relative to the largest C.
const ROUNDING: f64 = 1e-9;

/// A point on the way to a feasible start.
pub(crate) struct StartDraft<'a> {
    fold: Fold<'a>,
    /// `β_i = y_i α_i` of every row.
    beta: Vec<f64>,
    /// `Σ_j β_j K_ij`, up to date for every kernel row.
    sums: Vec<f64>,
    /// Kernel rows read on the way, those of the α that leave included: the price of the seed.
    pub(crate) steps: u64,
    /// Breakpoints of the exact path on the way.
    pub(crate) breakpoints: u64,
    /// Whether what many rows add is computed without keeping any of them.
    pub(crate) by_sums: bool,
}

impl<'a> StartDraft<'a> {
    /// The point of `from`, before anything is taken out of it.
    pub(crate) fn new(from: &Trained, fold: Fold<'a>) -> Self {
        Self { fold, beta: from.beta.clone(), sums: from.sums.clone(), steps: 0, breakpoints: 0, by_sums: false }
    }

    /// `β` of every row.
    pub(crate) fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// The kernel sum of row `i`.
    pub(crate) fn sum(&self, i: usize) -> f64 {
        self.sums[self.fold.rows.place(i)]
    }

    /// The optimality indicator `f_i = Σ_j y_j α_j K_ij − y_i` (paper 1, section 2).
    pub(crate) fn indicator(&self, i: usize) -> f64 {
        self.sum(i) - self.fold.boxes.target(i)
    }

    /// The kernel rows that are read.
    pub(crate) fn rows(&self) -> SeedRows<'a> {
        self.fold.rows
    }

    /// What coefficients may be.
    pub(crate) fn boxes(&self) -> &'a RowBoxes<'a> {
        self.fold.boxes
    }

    /// Rows of the training set.
    pub(crate) fn seen(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.fold.seen(self.beta.len())
    }

    /// What `Σ β_k` over all rows lacks: 0 when the point is feasible.
    pub(crate) fn lack(&self) -> f64 {
        let wanted = if let EqualityConstraint::Sum(wanted) = self.fold.dual.balance() { wanted } else { 0.0 };
        wanted - self.beta.iter().sum::<f64>()
    }

    /// How far `β_i` may move in the direction of `amount`.
    pub(crate) fn room(&self, i: usize, amount: f64) -> f64 {
        self.fold.boxes.room(i, self.beta[i], amount)
    }

    /// Whether `0 < α_i < C_i`.
    pub(crate) fn is_free(&self, i: usize) -> bool {
        self.fold.boxes.is_free(i, self.beta[i])
    }

    /// The kernel row of row `i`, unless nobody wants it any more.
    pub(crate) fn row(&self, i: usize) -> Result<RowRef, Halted> {
        self.fold.rows.row_asking(i, self.fold.asking)
    }

    /// Row `i` of the kernel with an entry for every row, whoever is equal.
    pub(crate) fn whole_row(&self, i: usize) -> Result<RowRef, Halted> {
        let rows = self.fold.rows.all();
        self.fold.asking.spend(if rows.contains(i) { 1 } else { rows.gram().value_operations() } * self.beta.len() as u64)?;
        Ok(rows.row(i))
    }

    /// Moves `β_i` by as much of `amount` as the box allows, keeps the sums true, and returns what
    /// was moved.
    pub(crate) fn shift(&mut self, i: usize, amount: f64) -> Result<f64, Halted> {
        let before = self.beta[i];
        self.beta[i] = self.fold.boxes.clamp(i, before + amount);
        let moved = self.beta[i] - before;
        if moved != 0.0 {
            self.steps += 1;
            let row = self.row(i)?;
            row.entries().add_to(&mut self.sums, moved);
        }
        Ok(moved)
    }

    /// Takes all of `β_r` away; returns what was there.
    pub(crate) fn take(&mut self, r: usize) -> Result<f64, Halted> {
        Ok(-self.shift(r, -self.beta[r])?)
    }

    /// Takes all of `β` of each of `rows` away.
    pub(crate) fn take_all(&mut self, rows: &[usize]) -> Result<(), Halted> {
        let mut beta = self.beta.clone();
        rows.iter().for_each(|&r| beta[r] = 0.0);
        self.replace(&beta)
    }

    /// Hidden rows that carry a coefficient.
    pub(crate) fn leaving(&self) -> Vec<usize> {
        self.fold.hidden.iter().copied().filter(|&i| self.beta[i] != 0.0).collect()
    }

    /// Takes over the training set's part of a solver's point; sums of hidden rows are no longer
    /// true.
    pub(crate) fn adopt(&mut self, relaxed: &Relaxed) {
        self.adopt_point(self.fold.dual, &relaxed.alpha, &relaxed.gradient);
        self.steps += relaxed.steps;
    }

    /// Takes over an exact solution of the training set; sums of hidden rows are no longer true.
    pub(crate) fn adopt_exact(&mut self, solution: &Solution) {
        self.fold.hidden.iter().for_each(|&i| self.beta[i] = 0.0);
        self.adopt_point(self.fold.dual, &solution.alpha, &solution.gradient);
    }

    fn adopt_point(&mut self, dual: &Dual, alpha: &[f64], gradient: &[f64]) {
        dual.ids().iter().for_each(|&i| self.beta[i] = 0.0);
        for (k, &i) in dual.ids().iter().enumerate() {
            self.beta[i] += dual.sign()[k] * alpha[k];
            self.sums[self.fold.rows.place(i)] = sum_of(dual, k, alpha[k], gradient[k]);
        }
    }

    /// Moves `β` of all of `rows` by `share`, given `Σ_j K_ij` over them. The caller has seen that
    /// the boxes allow it.
    pub(crate) fn shift_together(&mut self, rows: &[usize], share: f64, kernel_sums: &[f64]) {
        rows.iter().for_each(|&i| self.beta[i] += share);
        self.sums.iter_mut().zip(kernel_sums).for_each(|(s, k)| *s += share * k);
    }

    /// Sets many coefficients at once and brings the sums up to date.
    pub(crate) fn replace(&mut self, beta: &[f64]) -> Result<(), Halted> {
        let wanted: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != self.beta[i]).collect();
        if self.by_sums {
            let coef: Vec<f64> = wanted.iter().map(|&i| beta[i] - self.beta[i]).collect();
            let moved = self.fold.rows.sums(&wanted, &coef, self.fold.asking)?;
            self.sums.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += moved);
            self.beta.copy_from_slice(beta);
            self.steps += wanted.len() as u64;
            return Ok(());
        }
        for chunk in wanted.chunks(64) {
            self.fold.rows.fetch_asking(chunk, self.fold.asking)?;
            for &i in chunk {
                self.shift(i, beta[i] - self.beta[i])?;
                self.beta[i] = beta[i];
            }
        }
        Ok(())
    }

    /// Moves the balance to 0: an equal amount on each free row, clipped at the bounds, repeatedly;
    /// then on all others. What is only rounding goes to one row, but not where every row is at a
    /// bound: one that rounding sets free would take the bias to an end of the interval that those
    /// leave, whose middle it is.
    ///
    /// Returns whether it succeeded.
    pub(crate) fn spread(&mut self) -> Result<bool, Halted> {
        let scale = self.fold.boxes.scale();
        let mut lack = self.lack();
        if lack.abs() > ROUNDING * scale {
            let mut beta = self.beta.clone();
            let free: Vec<usize> = self.seen().filter(|&i| self.is_free(i)).collect();
            let all: Vec<usize> = self.seen().collect();
            for candidates in [free, all] {
                lack = spread_over(self.fold.boxes, &mut beta, &candidates, lack);
            }
            self.replace(&beta)?;
            lack = self.lack();
        }
        let roomiest = self.seen().max_by(|&i, &j| self.room(i, lack).total_cmp(&self.room(j, lack)).then(j.cmp(&i)));
        let settled = lack.abs() <= ROUNDING * scale && !self.seen().any(|i| self.is_free(i));
        if let Some(i) = roomiest.filter(|_| lack != 0.0 && !settled) {
            self.shift(i, lack)?;
        }
        Ok(self.lack().abs() <= ROUNDING * scale)
    }
}

/// Adds an equal share of `lack` to `β_i` of each candidate, clipped at its bounds, until the lack
/// is gone or all are at a bound; returns what is left.
pub(crate) fn spread_over(boxes: &RowBoxes, beta: &mut [f64], candidates: &[usize], mut lack: f64) -> f64 {
    // The rounding of a sum over all candidates: no further round can do better.
    let rounding = 1e-12 * boxes.scale() * candidates.len().max(1) as f64;
    let mut open: Vec<usize> = candidates.to_vec();
    while lack.abs() > rounding && !open.is_empty() {
        let share = lack / open.len() as f64;
        let mut moved = 0.0;
        open.retain(|&i| {
            let before = beta[i];
            beta[i] = boxes.clamp(i, before + share);
            moved += beta[i] - before;
            boxes.room(i, beta[i], share) > 0.0
        });
        if moved == 0.0 {
            break;
        }
        lack -= moved;
    }
    if lack.abs() <= rounding { 0.0 } else { lack }
}
