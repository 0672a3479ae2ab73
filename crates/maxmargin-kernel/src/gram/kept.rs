//! Exact values that a matrix keeps, and those of a part of it.

use maxmargin_simd::sums::BLOCK;
use std::ops::Range;

/// All exact values of a matrix, or of a part of a matrix, in memory.
#[derive(Clone, Copy, Debug)]
pub struct KeptValues<'a> {
    /// Row-major.
    values: &'a [f64],
    /// Distance of rows.
    stride: usize,
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
    /// The values of a whole matrix, row-major with rows `stride` apart: whole blocks of sums
    /// ([`add_sums_of_rows`](maxmargin_simd::sums::add_sums_of_rows)).
    ///
    /// # Panics
    ///
    /// When rows do not begin at blocks, or the last row is not whole.
    pub fn new(values: &'a [f64], stride: usize) -> Self {
        assert!(stride.is_multiple_of(BLOCK) && values.len().is_multiple_of(stride.max(1)), "rows of whole blocks");
        Self { values, stride, part: None }
    }

    /// The values of a part of a whole matrix.
    pub(crate) fn part(self, ids: &'a [usize], runs: &'a [(usize, Range<usize>)]) -> Option<Self> {
        self.part.is_none().then_some(Self { part: Some(Part { ids, runs }), ..self })
    }

    /// Number of samples of a whole matrix.
    pub(crate) fn len(&self) -> usize {
        self.values.len() / self.stride.max(1)
    }

    /// Returns whether these are all values of a whole matrix.
    pub(crate) fn is_whole(&self) -> bool {
        self.part.is_none()
    }

    /// All values of the whole matrix, row-major.
    pub(crate) fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Distance of rows.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The row of the whole matrix with the values of a sample.
    pub(crate) fn row(&self, sample: usize) -> usize {
        self.part.map_or(sample, |part| part.ids[sample])
    }

    /// The parts of `columns` that are consecutive in memory: the position of each within
    /// `columns`, and its columns in a row.
    pub(crate) fn pieces(&self, columns: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<'a> {
        let whole = self.part.is_none().then(|| (0, columns.clone()));
        let parts = self.part.into_iter().flat_map(move |part| pieces_of(part.runs, columns.clone()));
        whole.into_iter().chain(parts)
    }

    /// Writes `K[rows, columns]`, row-major.
    pub(crate) fn copy(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        let width = columns.len();
        if width == 0 {
            return;
        }
        for (at, run) in self.pieces(columns) {
            for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
                out[at..at + run.len()].copy_from_slice(&self.values[self.row(row) * self.stride..][run.clone()]);
            }
        }
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
