//! Kernel rows as seeds read them.

use maxmargin_core::Dual;
use maxmargin_data::{Asking, Halted};
use maxmargin_kernel::{DistinctRows, RowRef, Rows, apply_asking};
use maxmargin_smo::Shrinking;
use maxmargin_solvers::MergedRows;

/// One row for each different sample where the solver reads those, else one for each sample; sums
/// over kernel rows have as many entries.
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

    /// One row for each sample, whoever is equal.
    pub(crate) fn all(self) -> &'a Rows<'a> {
        self.all
    }

    fn rows(self) -> &'a Rows<'a> {
        match self.merged {
            Some(merged) => merged.rows(),
            None => self.all,
        }
    }

    /// Number of rows, and of entries of one.
    pub(crate) fn count(self) -> usize {
        self.rows().gram().len()
    }

    /// The row of sample `i`, and its place in others.
    pub(crate) fn place(self, i: usize) -> usize {
        self.merged.map_or(i, |merged| merged.distinct().of[i] as usize)
    }

    /// The row of sample `i`.
    pub(crate) fn row(self, i: usize) -> RowRef {
        self.rows().row(self.place(i))
    }

    /// The row of sample `i`, unless nobody wants it any more.
    pub(crate) fn row_asking(self, i: usize, asking: &Asking) -> Result<RowRef, Halted> {
        let (rows, at) = (self.rows(), self.place(i));
        asking.spend(if rows.contains(at) { 1 } else { rows.gram().value_operations() } * self.count() as u64)?;
        Ok(rows.row(at))
    }

    /// [`SeedRows::fetch_asking`] nobody.
    pub(crate) fn fetch(self, samples: &[usize]) {
        // Nobody calls it off.
        let _ = self.fetch_asking(samples, &Asking::nobody());
    }

    /// Computes the rows of `samples` that are missing, in blocks.
    pub(crate) fn fetch_asking(self, samples: &[usize], asking: &Asking) -> Result<(), Halted> {
        let wanted: Vec<usize> = samples.iter().map(|&i| self.place(i)).collect();
        self.rows().fetch_asking(&wanted, asking)
    }

    /// The problem of a fold with one variable for all copies, as the solver has it.
    pub(crate) fn joined(self, dual: &Dual) -> Option<MergedRows<'a>> {
        // They have been compared: nothing is left to call off.
        self.merged.and_then(|_| MergedRows::new(dual, self.all, &Asking::nobody()).ok().flatten())
    }

    /// Whether solvers of `dual` go by parts of the rows and hold none as they are: sums over rows
    /// are then cheaper than rows that are kept for nobody else. `joined` is [`SeedRows::joined`]
    /// of it.
    pub(crate) fn are_passed_by(self, dual: &Dual, joined: Option<&MergedRows>) -> bool {
        let (dual, rows) = joined.map_or((dual, self.all), |joined| (joined.dual(), joined.rows()));
        Shrinking::default().pays(dual, rows)
    }

    /// `Σ_j coef_j K_ij` over `samples` of every row, none of which is kept.
    pub(crate) fn sums(self, samples: &[usize], coef: &[f64], asking: &Asking) -> Result<Vec<f64>, Halted> {
        let places: Vec<usize> = samples.iter().map(|&i| self.place(i)).collect();
        apply_asking(self.rows().gram(), &places, coef, 0..self.count(), self.all.par(), asking)
    }

    /// What all samples of a row have together.
    pub(crate) fn together(self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count()];
        values.iter().enumerate().for_each(|(i, value)| sums[self.place(i)] += value);
        sums
    }
}
