//! A Gram matrix computed entry by entry in `f64`, in the plainest way.

use maxmargin_kernel::{Gram, Kernel};
use std::ops::Range;

/// A stored symmetric matrix of kernel values.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsGram {
    n: usize,
    matrix: Vec<f64>,
    diagonal: Vec<f64>,
}

impl PointsGram {
    /// Returns the kernel between all pairs of `points`.
    ///
    /// # Panics
    ///
    /// When the points differ in dimension.
    pub fn new(points: &[Vec<f64>], kernel: &Kernel) -> Self {
        let n = points.len();
        let dot = |x: &[f64], z: &[f64]| -> f64 {
            assert_eq!(x.len(), z.len(), "points of one dimension");
            x.iter().zip(z).map(|(a, b)| a * b).sum()
        };
        let norms: Vec<f64> = points.iter().map(|x| dot(x, x)).collect();
        let entry = |i: usize, j: usize| kernel.of_dot(dot(&points[i], &points[j]), norms[i], norms[j]);
        Self::from_matrix(n, (0..n * n).map(|at| entry(at / n, at % n)).collect())
    }

    /// Returns a Gram matrix with these entries, row-major.
    ///
    /// # Panics
    ///
    /// When it is not `n × n` or not symmetric to the last bit.
    pub fn from_matrix(n: usize, matrix: Vec<f64>) -> Self {
        assert_eq!(matrix.len(), n * n, "an n × n matrix");
        assert!((0..n * n).all(|at| matrix[at] == matrix[at % n * n + at / n]), "a symmetric matrix");
        let diagonal = (0..n).map(|i| matrix[i * n + i]).collect();
        Self { n, matrix, diagonal }
    }

    /// Returns `K_ij`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.matrix[i * self.n + j]
    }

    /// Returns the matrix with every entry times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_matrix(self.n, self.matrix.iter().map(|k| factor * k).collect())
    }

    /// Returns the matrix of the samples `order[0], order[1], …`, which may repeat and leave out
    /// samples.
    #[must_use]
    pub fn select(&self, order: &[usize]) -> Self {
        let matrix = order.iter().flat_map(|&i| order.iter().map(move |&j| self.at(i, j))).collect();
        Self::from_matrix(order.len(), matrix)
    }
}

impl Gram for PointsGram {
    fn len(&self) -> usize {
        self.n
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        let entries = rows.iter().flat_map(|&i| columns.clone().map(move |j| self.at(i, j)));
        out.iter_mut().zip(entries).for_each(|(out, k)| *out = k as f32);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        let entries = rows.iter().flat_map(|&i| columns.clone().map(move |j| self.at(i, j)));
        out.iter_mut().zip(entries).for_each(|(out, k)| *out = k);
    }

    /// Values are cheap enough to be computed twice, so that solvers use all their strategies.
    fn value_cost(&self) -> f64 {
        1.0
    }
}
