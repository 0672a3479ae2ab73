//! Kernel values from a user kernel, one pair of samples at a time.

use crate::function::UserKernel;
use maxmargin_data::{Cancelled, RunControl, Samples};
use std::ops::Range;

/// Samples and the user kernel that is called for each pair of them.
#[derive(Debug)]
pub(crate) struct PairwiseKernel {
    samples: Samples,
    kernel: UserKernel,
    diagonal: Vec<f64>,
}

impl PairwiseKernel {
    /// Keeps a copy of the samples and computes the diagonal.
    pub(crate) fn new(samples: &Samples, kernel: &UserKernel, control: &RunControl) -> Result<Self, Cancelled> {
        let mut diagonal = Vec::with_capacity(samples.len());
        samples.each_row(control, |_, row| diagonal.push(kernel.value(row, row)))?;
        Ok(Self { samples: samples.clone(), kernel: kernel.clone(), diagonal })
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.samples.bytes() + 8 * self.diagonal.len()
    }

    /// `K_ii`.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// `K_ij`, with the earlier sample as the first argument.
    fn at(&self, i: usize, j: usize) -> f64 {
        self.kernel.value(self.samples.row(i.min(j)), self.samples.row(i.max(j)))
    }

    /// Computes `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        for (out, &i) in out.iter_mut().zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j) as f32);
        }
    }

    /// Computes `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        for (out, &i) in out.chunks_exact_mut(columns.len().max(1)).zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j));
        }
    }
}
