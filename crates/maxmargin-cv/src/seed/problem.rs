//! The inputs of seeds: a known solution, and the problem that needs a start.

use super::bounded::BoundedSums;
use super::row_boxes::RowBoxes;
use super::rows::SeedRows;
use maxmargin_core::{Dual, RunControl};
use maxmargin_path::Path;

/// A trained solution over all rows of a machine, from which seeds start.
#[derive(Clone)]
pub(crate) struct Trained<'g> {
    /// The problem that it solves, over all rows.
    pub(crate) dual: Dual,
    /// `y α` of every row, 0 outside the training set.
    pub(crate) beta: Vec<f64>,
    /// `Σ_j y_j α_j K_ij` of every kernel row `i` that seeds read, inside and outside the training
    /// set.
    pub(crate) sums: Vec<f64>,
    /// The kernel rows of the sums, if the problem has seeds.
    pub(crate) rows: Option<SeedRows<'g>>,
    /// The bias.
    pub(crate) bias: f64,
    /// Rows that were not in the training set, ascending.
    pub(crate) hidden: &'g [usize],
    /// `Σ_j K_ij` over the free `j` (`0 < α_j < C_j`) of every such row, if the seeding needs it.
    pub(crate) free_sums: Option<Vec<f64>>,
    /// The same solution as the exact start of a path, if the seeding needs it.
    pub(crate) path: Option<Path<'g>>,
}

/// The training problem of one fold, as seeds see it.
#[derive(Clone, Copy)]
pub(crate) struct FoldProblem<'a> {
    /// The problem of the samples that take part.
    pub(crate) dual: &'a Dual,
    /// Rows that are not in the training set, ascending.
    pub(crate) hidden: &'a [usize],
    /// The boxes of the coefficients of all rows.
    pub(crate) boxes: &'a RowBoxes<'a>,
    /// The kernel rows that seeds read.
    pub(crate) rows: SeedRows<'a>,
    /// The tolerance at which the solver will stop.
    pub(crate) tol: f64,
    /// The control of long work.
    pub(crate) control: &'a RunControl<'a>,
    /// Bytes that an exact path may take.
    pub(crate) memory: u64,
    /// The kernel sums of bounded samples, and the fold whose own they are.
    pub(crate) bounded: Option<(&'a BoundedSums, usize)>,
}

impl<'a> FoldProblem<'a> {
    /// Rows of the training set.
    pub(crate) fn seen(self, rows: usize) -> impl Iterator<Item = usize> + use<'a> {
        without(0..rows, self.hidden)
    }

    /// Rows that were not in the training set of `from` and are in this one.
    pub(crate) fn entering(self, from: &Trained) -> Vec<usize> {
        without(from.hidden.iter().copied(), self.hidden).collect()
    }

    /// Rows that were in the training set of `from` and are not in this one.
    pub(crate) fn leaving(self, from: &Trained) -> Vec<usize> {
        without(self.hidden.iter().copied(), from.hidden).collect()
    }
}

/// The rows that are not in `others`. Both must ascend.
pub(crate) fn without(rows: impl Iterator<Item = usize>, others: &[usize]) -> impl Iterator<Item = usize> {
    let mut others = others.iter().copied().peekable();
    rows.filter(move |row| {
        while others.next_if(|other| other < row).is_some() {}
        others.next_if_eq(row).is_none()
    })
}
