//! Problems over some of the variables.

use super::{Dual, EqualityConstraint, Ridge, Shape, segments_of};
use std::sync::Arc;

impl Dual {
    /// Returns the first Gram index that a matrix of so many rows does not have. Solvers refuse
    /// such a problem.
    pub fn missing_row(&self, rows: usize) -> Option<usize> {
        self.shape.ids.iter().copied().find(|id| *id >= rows)
    }

    /// Returns the problem of the variables that take part, with their indices in this problem;
    /// `None` if all do.
    pub fn taking_part(&self) -> Option<(Self, Vec<usize>)> {
        let kept: Vec<usize> = (0..self.len()).filter(|&k| self.upper[k] > 0.0).collect();
        if kept.len() == self.len() || kept.is_empty() {
            return None;
        }
        let ids = kept.iter().map(|&k| self.shape.ids[k]).collect();
        Some((self.some(&kept, ids, &self.shape.linear_term, self.balance), kept))
    }

    /// Returns the problem of some variables with the others fixed. Its variable `k` is
    /// `variables[k]` of this problem and belongs to row `rows[k]` of the matrix of their rows.
    /// `alpha` and `gradient` are those of this problem. The linear term is the gradient at
    /// `alpha`, for solvers that begin there with that gradient: the part of the fixed variables in
    /// it never changes.
    ///
    /// # Panics
    ///
    /// When a variable is out of range, there are none, or the vectors have another length than
    /// this problem.
    #[must_use]
    pub fn among(&self, variables: &[usize], rows: Vec<usize>, alpha: &[f64], gradient: &[f64]) -> Self {
        assert!(!variables.is_empty(), "a problem has variables");
        assert_eq!(variables.len(), rows.len(), "each has a row");
        assert!(alpha.len() == self.len() && gradient.len() == self.len(), "one entry per variable");
        let sum = |of: f64| -> f64 { variables.iter().filter(|&&k| self.shape.sign[k] == of).map(|&k| alpha[k]).sum() };
        let balance = match self.balance {
            EqualityConstraint::Free => EqualityConstraint::Free,
            EqualityConstraint::Sum(_) => EqualityConstraint::Sum(sum(1.0) - sum(-1.0)),
            EqualityConstraint::Simplex => EqualityConstraint::Simplex,
            EqualityConstraint::PerSign(..) => EqualityConstraint::PerSign(sum(1.0), sum(-1.0)),
        };
        self.some(variables, rows, gradient, balance)
    }

    /// Returns the problem of `variables` over the rows `ids`, with their entries of the linear
    /// term.
    fn some(&self, variables: &[usize], ids: Vec<usize>, linear_term: &[f64], balance: EqualityConstraint) -> Self {
        let pick = |values: &[f64]| variables.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        let shape = Shape { segments: segments_of(&ids), ids, sign: pick(&self.shape.sign), linear_term: pick(linear_term) };
        let ridge = match &self.ridge {
            Ridge::One(ridge) => Ridge::One(*ridge),
            Ridge::Each(ridges) => Ridge::Each(pick(ridges)),
        };
        Self { shape: Arc::new(shape), upper: pick(&self.upper), ridge, balance }
    }
}
