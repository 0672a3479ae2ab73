//! The draft of a start: coefficients and kernel sums of all rows, kept consistent as they change.

use super::problem::{FoldProblem, Trained};
use super::row_boxes::{RowBoxes, sum_of};
use super::rows::SeedRows;
use maxmargin_core::{Cancelled, Dual, EqualityConstraint, Solution};
use maxmargin_data::Par;
use maxmargin_kernel::RowRef;
use maxmargin_path::PathError;
use maxmargin_smo::Relaxed;

/// The residual of the equality constraint that counts as rounding, relative to the largest C.
const ROUNDING: f64 = 1e-9;

/// The result of a seeding: a feasible start, or `None` if it has none.
pub(crate) type SeedResult<'a> = Result<Option<StartDraft<'a>>, PathError>;

/// A point that becomes a feasible start.
pub(crate) struct StartDraft<'a> {
    fold: FoldProblem<'a>,
    /// `β_i = y_i α_i` of every row.
    beta: Vec<f64>,
    /// `Σ_j β_j K_ij`, up to date for every kernel row.
    sums: Vec<f64>,
    /// Kernel rows read, including those of the leaving α: the price of the seed.
    pub(crate) steps: u64,
    /// Breakpoints of the exact path.
    pub(crate) breakpoints: u64,
    /// Set if changes of many coefficients are added by kernel sums, without keeping rows.
    pub(crate) by_sums: bool,
}

impl<'a> StartDraft<'a> {
    /// The point of `from`, unchanged.
    pub(crate) fn new(from: &Trained, fold: FoldProblem<'a>) -> Self {
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

    /// The boxes of the coefficients.
    pub(crate) fn boxes(&self) -> &'a RowBoxes<'a> {
        self.fold.boxes
    }

    /// Rows of the training set.
    pub(crate) fn seen(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.fold.seen(self.beta.len())
    }

    /// The residual of the equality constraint on `Σ β_k` over all rows: 0 if the point is
    /// feasible.
    pub(crate) fn lack(&self) -> f64 {
        let wanted = if let EqualityConstraint::Sum(wanted) = self.fold.dual.balance() { wanted } else { 0.0 };
        wanted - self.beta.iter().sum::<f64>()
    }

    /// The distance that `β_i` may move in the direction of `amount`.
    pub(crate) fn room(&self, i: usize, amount: f64) -> f64 {
        self.fold.boxes.room(i, self.beta[i], amount)
    }

    /// Returns true if `0 < α_i < C_i`.
    pub(crate) fn is_free(&self, i: usize) -> bool {
        self.fold.boxes.is_free(i, self.beta[i])
    }

    /// The kernel row of row `i`, unless the run was cancelled.
    pub(crate) fn row(&self, i: usize) -> Result<RowRef, Cancelled> {
        self.fold.control.check(self.fold.rows.operations(i))?;
        Ok(self.fold.rows.row(i))
    }

    /// Row `i` of the kernel with an entry for every sample, equal or not.
    pub(crate) fn whole_row(&self, i: usize) -> Result<RowRef, Cancelled> {
        let rows = self.fold.rows.all();
        self.fold.control.check(if rows.contains(i) { 1 } else { rows.gram().value_operations() } * self.beta.len() as u64)?;
        Ok(rows.row(i))
    }

    /// Moves `β_i` by the part of `amount` that the box allows, and updates the sums. Returns the
    /// move.
    pub(crate) fn shift(&mut self, i: usize, amount: f64) -> Result<f64, Cancelled> {
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

    /// Sets `β_r` to 0. Returns its previous value.
    pub(crate) fn take(&mut self, r: usize) -> Result<f64, Cancelled> {
        Ok(-self.shift(r, -self.beta[r])?)
    }

    /// Sets `β` of each of `rows`, those that the fold holds out, to 0.
    pub(crate) fn take_all(&mut self, rows: &[usize]) -> Result<(), Cancelled> {
        if let Some((bounded, fold)) = self.fold.bounded {
            bounded.take_from(&mut self.sums, fold, self.fold.boxes.scale());
            rows.iter().filter(|&&r| bounded.holds(r)).for_each(|&r| self.beta[r] = 0.0);
        }
        let mut beta = self.beta.clone();
        rows.iter().for_each(|&r| beta[r] = 0.0);
        self.replace(&beta)
    }

    /// Hidden rows that carry a coefficient.
    pub(crate) fn leaving(&self) -> Vec<usize> {
        self.fold.hidden.iter().copied().filter(|&i| self.beta[i] != 0.0).collect()
    }

    /// Replaces the training set's part by a solver's point. Sums of hidden rows are no longer
    /// valid.
    pub(crate) fn adopt(&mut self, relaxed: &Relaxed) {
        self.adopt_point(self.fold.dual, &relaxed.alpha, &relaxed.gradient);
        self.steps += relaxed.steps;
    }

    /// Replaces the point by an exact solution of the training set. Sums of hidden rows are no
    /// longer valid.
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

    /// Moves `β` of all of `rows` by `share`, given `Σ_j K_ij` over them. The caller has checked
    /// the boxes.
    pub(crate) fn shift_together(&mut self, rows: &[usize], share: f64, kernel_sums: &[f64]) {
        rows.iter().for_each(|&i| self.beta[i] += share);
        self.sums.iter_mut().zip(kernel_sums).for_each(|(s, k)| *s += share * k);
    }

    /// Sets many coefficients at once, and updates the sums.
    pub(crate) fn replace(&mut self, beta: &[f64]) -> Result<(), Cancelled> {
        let wanted: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != self.beta[i]).collect();
        let coef: Vec<f64> = wanted.iter().map(|&i| beta[i] - self.beta[i]).collect();
        let FoldProblem { rows, control, .. } = self.fold;
        if self.by_sums {
            let moved = rows.sums(&wanted, &coef, control)?;
            self.sums.iter_mut().zip(moved).for_each(|(sum, moved)| *sum += moved);
        } else {
            rows.add_to(&mut self.sums, &wanted, &coef, Par::Seq, control)?;
        }
        self.beta.copy_from_slice(beta);
        self.steps += wanted.len() as u64;
        Ok(())
    }

    /// Removes the residual of the equality constraint: repeatedly an equal amount on each free
    /// row, clipped at the bounds; then on all rows. A residual that is only rounding goes to one
    /// row, except if every row is at a bound. The bias is then the middle of an interval, and one
    /// row that rounding made free would move it to an end of that interval.
    ///
    /// Returns whether it succeeded.
    pub(crate) fn spread(&mut self) -> Result<bool, Cancelled> {
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
/// is gone or all candidates are at a bound. Returns the rest.
pub(crate) fn spread_over(boxes: &RowBoxes, beta: &mut [f64], candidates: &[usize], mut lack: f64) -> f64 {
    // The rounding error of a sum over all candidates. A further round cannot reduce it.
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
