//! The kernel rows that seeds read.

use super::row_boxes::alpha_of;
use maxmargin_core::Dual;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::{DistinctRows, Exact, Gram, Neighbours, RowRef, Rows, apply};
use maxmargin_smo::Shrinking;
use maxmargin_solvers::MergedRows;

/// Rows that are added together, and columns whose sums stay in the first-level cache meanwhile.
const TOGETHER: usize = 64;
const COLUMNS: usize = 2048;

/// Kernel rows: one for each different sample if the solver merges equal rows, otherwise one for
/// each sample. Kernel sums have one entry for each of these rows.
#[derive(Clone, Copy)]
pub(crate) struct SeedRows<'a> {
    all: &'a Rows<'a>,
    merged: Option<&'a DistinctRows>,
}

impl<'a> SeedRows<'a> {
    /// The rows that solvers over `all` have read so far.
    pub(crate) fn of(all: &'a Rows<'a>) -> Self {
        Self { all, merged: all.merged_so_far() }
    }

    /// The rows with one row for each sample, equal or not.
    pub(crate) fn all(self) -> &'a Rows<'a> {
        self.all
    }

    fn rows(self) -> &'a Rows<'a> {
        match self.merged {
            Some(merged) => merged.rows(),
            None => self.all,
        }
    }

    /// The matrix of the rows.
    pub(crate) fn gram(self) -> &'a dyn Gram {
        self.rows().gram()
    }

    /// Number of rows, which is also the number of entries of a row.
    pub(crate) fn count(self) -> usize {
        self.rows().gram().len()
    }

    /// The index of the row of sample `i`, and of its entry in other rows.
    pub(crate) fn place(self, i: usize) -> usize {
        self.merged.map_or(i, |merged| merged.distinct().of[i] as usize)
    }

    /// The row of sample `i`, for callers that check for cancellation themselves.
    pub(crate) fn row(self, i: usize) -> RowRef {
        self.rows().row(self.place(i))
    }

    /// Operations that the row of sample `i` still costs.
    pub(crate) fn operations(self, i: usize) -> u64 {
        let rows = self.rows();
        let per_value = if rows.contains(self.place(i)) { 1 } else { rows.gram().value_operations() };
        per_value * self.count() as u64
    }

    /// Computes the rows of `samples` that are missing, in blocks.
    pub(crate) fn fetch(self, samples: &[usize], control: &RunControl) -> Result<(), Cancelled> {
        let wanted: Vec<usize> = samples.iter().map(|&i| self.place(i)).collect();
        self.rows().fetch(&wanted, control)
    }

    /// The problem of a fold with one variable for all copies, as the solver has it.
    pub(crate) fn joined(self, dual: &Dual) -> Option<MergedRows<'a>> {
        // The rows have been compared already, so this takes no time and needs no cancellation.
        self.merged.and_then(|_| MergedRows::new(dual, self.all, &RunControl::unlimited()).ok().flatten())
    }

    /// The neighbours of each row, where solvers read these alone.
    fn neighbours(self) -> Option<&'a Neighbours> {
        self.rows().gram().neighbours()
    }

    /// Returns true if solvers of `dual` read parts of rows only and keep no whole row. Kernel sums
    /// are then cheaper than rows that only the seed would use. `joined` is [`SeedRows::joined`] of
    /// `dual`, and `beta` a nearby solution.
    pub(crate) fn are_passed_by(self, dual: &Dual, joined: Option<&MergedRows>, beta: &[f64]) -> bool {
        if self.neighbours().is_some() {
            return true;
        }
        let (alpha, shrinking) = (alpha_of(dual, beta), Shrinking::default());
        match joined {
            Some(joined) => shrinking.pays(joined.dual(), joined.rows(), &joined.merge(&alpha)),
            None => shrinking.pays(dual, self.all, &alpha),
        }
    }

    /// `Σ_j coef_j K_ij` over `samples` for every row `i`. No kernel row is kept.
    pub(crate) fn sums(self, samples: &[usize], coef: &[f64], control: &RunControl) -> Result<Vec<f64>, Cancelled> {
        let gram = self.rows().gram();
        if self.neighbours().is_some() {
            let mut sums = vec![0.0; self.count()];
            samples.iter().zip(coef).for_each(|(&i, c)| sums[self.place(i)] += c);
            let places: Vec<usize> = (0..sums.len()).filter(|&place| sums[place] != 0.0).collect();
            let coef: Vec<f64> = places.iter().map(|&place| sums[place]).collect();
            return Exact::from(gram).sums(&places, &coef, 1, 0..sums.len(), self.all.par(), control);
        }
        let places: Vec<usize> = samples.iter().map(|&i| self.place(i)).collect();
        apply(gram, &places, coef, 0..self.count(), self.all.par(), control)
    }

    /// Adds `Σ_j coef_j K_ij` over `samples` to every entry `i` of `sums`, from rows that are kept.
    /// The order of additions does not depend on `par`.
    pub(crate) fn add_to(
        self,
        sums: &mut [f64],
        samples: &[usize],
        coef: &[f64],
        par: Par,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        for (samples, coef) in samples.chunks(TOGETHER).zip(coef.chunks(TOGETHER)) {
            control.check_now()?;
            self.fetch(samples, control)?;
            let rows: Vec<_> = samples.iter().map(|&i| self.row(i)).collect();
            par.for_chunks(sums, COLUMNS, |chunk, sums| {
                let columns = chunk * COLUMNS..chunk * COLUMNS + sums.len();
                rows.iter().zip(coef).for_each(|(row, c)| row.entries().part(columns.clone()).add_to(sums, *c));
            });
        }
        Ok(())
    }

    /// The sums of `samples` alone, with a coefficient for each row: `Σ_j coef_j K_ij` for the row
    /// of each sample `i`.
    pub(crate) fn sums_at(self, samples: &[usize], coef: &[f64], control: &RunControl) -> Result<Vec<f64>, Cancelled> {
        if let Some(neighbours) = self.neighbours() {
            return Ok(samples.iter().map(|&i| neighbours.of(self.place(i)).dot(coef)).collect());
        }
        self.fetch(samples, control)?;
        Ok(samples.iter().map(|&i| self.row(i).entries().dot(coef)).collect())
    }

    /// The sum of `values` over the samples of each row.
    pub(crate) fn together(self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count()];
        values.iter().enumerate().for_each(|(i, value)| sums[self.place(i)] += value);
        sums
    }
}
