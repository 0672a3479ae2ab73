//! Kernel matrices that are mostly zero: for each sample, the samples at which its kernel values
//! are not negligible.
//!
//! At a large γ most values of a Gaussian kernel are below the rounding of a sum that contains a
//! diagonal entry. A matrix that keeps only the others needs a small part of the memory, and a
//! solver visits only the neighbours of a sample. What is left out enters certificates as a bound
//! ([`Neighbours::left_out`]). A matrix finds them (`kernel_gram/search.rs`).

mod boxes;
mod differing;
mod pairs;

use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

pub(crate) use boxes::{BoxTree, Coordinates};
pub(crate) use differing::{BitRows, Differing};
pub(crate) use pairs::Pair;

/// Values up to this are left out: 2⁻⁵⁶, an eighth of the rounding of a diagonal entry.
pub(crate) const LEFT_OUT: f64 = 1.387_778_780_781_445_7e-17;

/// The number of samples from which on neighbours are searched: rows of fewer samples are short.
pub(crate) const FEWEST: usize = 2048;

/// Right-hand sides that one pass over the values multiplies.
const TOGETHER: usize = 8;

/// Columns of a tile, the unit of parallel work.
const COLUMNS: usize = 1024;

/// The values of a symmetric matrix that are not negligible, in `f64`, by sample.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// The place of the first value of each sample, and their number at the end.
    offsets: Vec<usize>,
    /// The other sample of each value, ascending within a sample. A sample is its own neighbour.
    samples: Vec<u32>,
    /// The values of [`Gram::fill_exact`](crate::Gram::fill_exact).
    values: Vec<f64>,
}

/// The neighbours of one sample, ascending, with the kernel values.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourRow<'a> {
    /// The neighbours; the sample itself is one of them.
    pub samples: &'a [u32],
    /// The kernel values.
    pub values: &'a [f64],
}

impl NeighbourRow<'_> {
    /// `Σ_l coef_l K_il` over the neighbours `l`, with a coefficient for each sample.
    pub fn dot(self, coef: &[f64]) -> f64 {
        self.samples.iter().zip(self.values).map(|(&sample, value)| coef[sample as usize] * value).sum()
    }
}

impl Neighbours {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values that are kept, both `K_ij` and `K_ji`.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// A bound on every value that is left out.
    pub fn left_out(&self) -> f64 {
        LEFT_OUT
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        (8 * self.offsets.len() + 12 * self.count()) as u64
    }

    /// The neighbours of a sample.
    pub fn of(&self, sample: usize) -> NeighbourRow<'_> {
        let range = self.offsets[sample]..self.offsets[sample + 1];
        NeighbourRow { samples: &self.samples[range.clone()], values: &self.values[range] }
    }

    /// The neighbours among some samples, if they take at most so many bytes; none where a sample
    /// occurs twice.
    pub(crate) fn part(&self, ids: &[usize], bytes: u64) -> Option<Self> {
        let mut place = vec![u32::MAX; self.len()];
        for (at, &id) in ids.iter().enumerate() {
            if std::mem::replace(&mut place[id], at as u32) != u32::MAX {
                return None;
            }
        }
        let ascending = ids.is_sorted();
        let mut part = Self { offsets: vec![0], samples: Vec::new(), values: Vec::new() };
        let mut row: Vec<(u32, f64)> = Vec::new();
        for &id in ids {
            let NeighbourRow { samples, values } = self.of(id);
            let there = samples.iter().zip(values).map(|(&sample, &value)| (place[sample as usize], value));
            row.clear();
            row.extend(there.filter(|(at, _)| *at != u32::MAX));
            if !ascending {
                row.sort_unstable_by_key(|(at, _)| *at);
            }
            part.samples.extend(row.iter().map(|(at, _)| *at));
            part.values.extend(row.iter().map(|(_, value)| *value));
            part.offsets.push(part.values.len());
        }
        (part.bytes() <= bytes).then_some(part)
    }

    /// Computes `Σ_l c_l K(l, column)` for each point and the columns of `runs`; the sums of a
    /// point follow each other. The order of the terms is that of the samples, so the bits do not
    /// depend on `par`.
    ///
    /// # Errors
    ///
    /// When `control` ends the run.
    pub(crate) fn sums_of(
        &self,
        points: &[&[(usize, f64)]],
        runs: &[Range<usize>],
        par: Par,
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        let columns: usize = runs.iter().map(Range::len).sum();
        let mut result = Vec::with_capacity(points.len() * columns);
        for points in points.chunks(TOGETHER) {
            control.check((self.count() * points.len()) as u64)?;
            if let [point] = points {
                result.extend(self.sums::<1>(&[point], runs, columns, par));
            } else {
                result.extend(self.sums::<TOGETHER>(points, runs, columns, par));
            }
        }
        Ok(result)
    }

    /// The sums of at most `H` points.
    fn sums<const H: usize>(&self, points: &[&[(usize, f64)]], runs: &[Range<usize>], columns: usize, par: Par) -> Vec<f64> {
        let mut coef = vec![[0.0; H]; self.len()];
        for (p, point) in points.iter().enumerate() {
            point.iter().for_each(|&(sample, c)| coef[sample][p] += c);
        }
        let tiles: Vec<Range<usize>> =
            runs.iter().flat_map(|run| run.clone().step_by(COLUMNS).map(|at| at..run.end.min(at + COLUMNS))).collect();
        let of_column = |column: usize| {
            let NeighbourRow { samples, values } = self.of(column);
            let mut sums = [0.0; H];
            for (&sample, value) in samples.iter().zip(values) {
                sums.iter_mut().zip(&coef[sample as usize]).for_each(|(sum, c)| *sum += c * value);
            }
            sums
        };
        let tiles = par.map(tiles.len(), |t| tiles[t].clone().map(of_column).collect::<Vec<[f64; H]>>());
        let mut result = Vec::with_capacity(points.len() * columns);
        for p in 0..points.len() {
            result.extend(tiles.iter().flatten().map(|sums| sums[p]));
        }
        result
    }
}
