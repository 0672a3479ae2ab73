//! Exact values that a matrix keeps, and those of a part of it.

use super::exact_values::{ComputeExact, ExactValues};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// The exact values that a matrix keeps, or those of a part of the matrix: the rows of samples that
/// sums have needed.
#[derive(Clone, Copy)]
pub struct KeptValues<'a> {
    values: &'a ExactValues,
    source: &'a dyn ComputeExact,
    part: Option<Part<'a>>,
}

/// The samples of a part of a kept matrix.
#[derive(Clone, Copy, Debug)]
struct Part<'a> {
    ids: &'a [usize],
    /// Runs of consecutive ids: the position of the first id, and the ids.
    runs: &'a [(usize, Range<usize>)],
}

impl<'a> KeptValues<'a> {
    /// The values of a whole matrix.
    pub(crate) fn new(values: &'a ExactValues, source: &'a dyn ComputeExact) -> Self {
        Self { values, source, part: None }
    }

    /// The values of a part of a whole matrix.
    pub(crate) fn part(self, ids: &'a [usize], runs: &'a [(usize, Range<usize>)]) -> Option<Self> {
        self.part.is_none().then_some(Self { part: Some(Part { ids, runs }), ..self })
    }

    /// The sample of the whole matrix.
    fn whole(&self, sample: usize) -> usize {
        self.part.map_or(sample, |part| part.ids[sample])
    }

    /// Computes the rows of `samples` that are not kept.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation.
    pub(crate) fn keep(&self, samples: impl Iterator<Item = usize>, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        self.values.keep(samples.map(|sample| self.whole(sample)), self.source, par, control)
    }

    /// The values of a sample with all samples of the whole matrix, if they are kept.
    #[inline]
    pub(crate) fn row(&self, sample: usize) -> Option<&'a [f64]> {
        self.values.row(self.whole(sample))
    }

    /// The parts of `columns` that are consecutive in memory: the position of each within
    /// `columns`, and its columns in a row.
    pub(crate) fn pieces(&self, columns: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<'a> {
        let whole = self.part.is_none().then(|| (0, columns.clone()));
        let parts = self.part.into_iter().flat_map(move |part| pieces_of(part.runs, columns.clone()));
        whole.into_iter().chain(parts)
    }

    /// Writes `K[rows, columns]`, row-major, if all rows are kept; else returns false.
    pub(crate) fn copy(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) -> bool {
        let width = columns.len().max(1);
        rows.iter().zip(out.chunks_exact_mut(width)).all(|(&sample, out)| {
            let Some(row) = self.row(sample) else { return false };
            self.pieces(columns.clone()).for_each(|(at, run)| out[at..at + run.len()].copy_from_slice(&row[run]));
            true
        })
    }
}

/// The parts of `columns` that are consecutive in a whole matrix: the position of each within
/// `columns`, and its columns in the whole matrix.
pub(crate) fn pieces_of(
    runs: &[(usize, Range<usize>)],
    columns: Range<usize>,
) -> impl Iterator<Item = (usize, Range<usize>)> + use<'_> {
    let first = runs.partition_point(|(at, run)| at + run.len() <= columns.start);
    runs[first..].iter().take_while(move |(at, _)| *at < columns.end).map(move |(at, run)| {
        let (start, end) = (columns.start.max(*at), columns.end.min(at + run.len()));
        (start - columns.start, run.start + start - at..run.start + end - at)
    })
}
