//! The Gram matrix as solvers and certificates see it.

use std::ops::Range;

/// A symmetric matrix `K_ij = k(x_i, x_j)` that is computed on demand, in blocks.
///
/// Implement this to bring a kernel of your own: two methods decide everything, and every solver, the certificate and the
/// cross-validation engine work on it.
///
/// An entry must have the same bits whatever block it is asked for in, and `K_ij` the same as `K_ji`.
pub trait Gram: Sync {
    /// Number of samples `n`.
    fn len(&self) -> usize;

    /// Whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `n` exact diagonal entries `K_ii`.
    fn diagonal(&self) -> &[f64];

    /// Writes `K[rows, columns]` in `f32`, row-major (`rows.len() × columns.len()`), into `out`. Runs on the calling thread.
    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]);

    /// The same in `f64`, evaluated in `f64` from the original data: what certificates and refinement are made of.
    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]);
}
