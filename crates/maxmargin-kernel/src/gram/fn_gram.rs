//! A Gram matrix from a function of two sample numbers.

use super::matrix::{Gram, indefiniteness};
use std::ops::Range;
use std::sync::OnceLock;

/// A Gram matrix from a function `k(i, j)` in `f64`.
///
/// The function is called with `i ≤ j` only, so the matrix is always symmetric. Certificates need a
/// positive semidefinite matrix, which is proved for few samples ([`Gram::indefiniteness`]).
///
/// ```
/// use maxmargin_kernel::{FnGram, Gram};
///
/// // Strings compared by the length of their common beginning.
/// let words = ["margin", "marginal", "maximum"];
/// let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
/// let gram = FnGram::new(words.len(), |i, j| common(words[i], words[j]) as f64);
///
/// let mut row = [0.0; 3];
/// gram.fill(&[1], 0..3, &mut row);
/// assert_eq!(row, [6.0, 8.0, 2.0]);
/// assert_eq!(gram.diagonal(), [6.0, 8.0, 7.0]);
/// ```
pub struct FnGram<F> {
    diagonal: Vec<f64>,
    function: F,
    indefiniteness: OnceLock<f64>,
}

impl<F: Fn(usize, usize) -> f64 + Sync> FnGram<F> {
    /// The matrix of `len` samples whose entries are `function(i, j)`, `i ≤ j < len`.
    pub fn new(len: usize, function: F) -> Self {
        Self { diagonal: (0..len).map(|i| function(i, i)).collect(), function, indefiniteness: OnceLock::new() }
    }

    /// `K_ij`.
    fn at(&self, i: usize, j: usize) -> f64 {
        (self.function)(i.min(j), i.max(j))
    }
}

impl<F: Fn(usize, usize) -> f64 + Sync> Gram for FnGram<F> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        for (out, &i) in out.chunks_exact_mut(columns.len().max(1)).zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j) as f32);
        }
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        for (out, &i) in out.chunks_exact_mut(columns.len().max(1)).zip(rows) {
            out.iter_mut().zip(columns.clone()).for_each(|(o, j)| *o = self.at(i, j));
        }
    }

    fn indefiniteness(&self) -> f64 {
        *self.indefiniteness.get_or_init(|| indefiniteness(self))
    }
}
