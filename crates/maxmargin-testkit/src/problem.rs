//! A named problem, and equivalent forms of it.

use crate::points::PointsGram;
use maxmargin_core::{Dual, EqualityConstraint};

/// A dual problem with its Gram matrix.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The name in reports of failures.
    pub name: String,
    /// The kernel.
    pub gram: PointsGram,
    /// The problem.
    pub dual: Dual,
    /// True if the kernel is positive semidefinite, so that every KKT point is the optimum.
    pub convex: bool,
}

impl Problem {
    /// Creates a convex problem.
    pub fn new(name: impl Into<String>, gram: PointsGram, dual: Dual) -> Self {
        Self { name: name.into(), gram, dual, convex: true }
    }

    /// Creates a C-SVC problem over all samples of a Gram matrix, with one C each.
    ///
    /// # Panics
    ///
    /// When it is not a problem.
    pub fn c_svc(name: impl Into<String>, gram: PointsGram, labels: Vec<f64>, c: Vec<f64>) -> Self {
        let dual = Dual::c_svc((0..labels.len()).collect(), labels, c).expect("a C-SVC problem");
        Self::new(name, gram, dual)
    }

    /// Returns `Q_kl`, from its definition.
    pub fn q(&self, k: usize, l: usize) -> f64 {
        let (ids, sign) = (self.dual.ids(), self.dual.sign());
        sign[k] * sign[l] * self.gram.at(ids[k], ids[l]) + if k == l { self.dual.ridge_of(k) } else { 0.0 }
    }

    /// Returns `Qα + lin`, from its definition.
    pub fn gradient(&self, alpha: &[f64]) -> Vec<f64> {
        let n = self.dual.len();
        (0..n).map(|k| self.dual.linear_term()[k] + (0..n).map(|l| self.q(k, l) * alpha[l]).sum::<f64>()).collect()
    }

    /// Returns `½ αᵀQα + linᵀα`, from its definition.
    pub fn objective(&self, alpha: &[f64]) -> f64 {
        let gradient = self.gradient(alpha);
        alpha.iter().zip(&gradient).zip(self.dual.linear_term()).map(|((a, g), p)| 0.5 * a * (g + p)).sum()
    }

    /// Returns the rounding error of the objective at α in `f64`: a few units of the sum of all
    /// absolute terms.
    pub fn rounding(&self, alpha: &[f64]) -> f64 {
        let n = self.dual.len();
        let term =
            |k: usize| alpha[k] * (self.dual.linear_term()[k].abs() + (0..n).map(|l| self.q(k, l).abs() * alpha[l]).sum::<f64>());
        64.0 * f64::EPSILON * (1.0 + (0..n).map(term).sum::<f64>())
    }

    /// Returns the variables in the order `order`, over the same Gram matrix.
    ///
    /// # Panics
    ///
    /// When `order` is not a permutation.
    #[must_use]
    pub fn permuted(&self, order: &[usize]) -> Self {
        assert_eq!(order.len(), self.dual.len(), "a permutation of the variables");
        let take = |values: &[f64]| order.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        let (ids, d) = (order.iter().map(|&k| self.dual.ids()[k]).collect(), &self.dual);
        self.variant("permuted", self.gram.clone(), ids, take(d.sign()), take(d.linear_term()), take(d.upper()), d.balance())
    }

    /// Returns the problem over a Gram matrix in which every second row belongs to no variable (a
    /// copy of sample 0): ids are scattered, and no two of them are consecutive.
    #[must_use]
    pub fn scattered(&self) -> Self {
        let d = &self.dual;
        let rows: Vec<usize> = d.ids().iter().flat_map(|&id| [0, id]).collect();
        let ids = (0..d.len()).map(|k| 2 * k + 1).collect();
        let parts = (d.sign().to_vec(), d.linear_term().to_vec(), d.upper().to_vec());
        self.variant("scattered", self.gram.select(&rows), ids, parts.0, parts.1, parts.2, d.balance())
    }

    /// Returns the problem with every sign and the sum negated: the same α solve it, with the
    /// negative bias.
    #[must_use]
    pub fn flipped(&self) -> Self {
        let d = &self.dual;
        let balance = match d.balance() {
            EqualityConstraint::Sum(wanted) => EqualityConstraint::Sum(-wanted),
            EqualityConstraint::PerSign(plus, minus) => EqualityConstraint::PerSign(minus, plus),
            other => other,
        };
        let sign = d.sign().iter().map(|s| -s).collect();
        self.variant("flipped", self.gram.clone(), d.ids().to_vec(), sign, d.linear_term().to_vec(), d.upper().to_vec(), balance)
    }

    /// Returns the problem with every variable split into two with half its upper bound: the same
    /// optimum (without ridge, which would act on the halves).
    #[must_use]
    pub fn doubled(&self) -> Self {
        let d = &self.dual;
        let twice = |values: &[f64], factor: f64| values.iter().flat_map(|v| [factor * v; 2]).collect::<Vec<f64>>();
        let ids = (0..2 * d.len()).collect();
        let rows: Vec<usize> = d.ids().iter().flat_map(|&id| [id; 2]).collect();
        let parts = (twice(d.sign(), 1.0), twice(d.linear_term(), 1.0), twice(d.upper(), 0.5));
        self.variant("doubled", self.gram.select(&rows), ids, parts.0, parts.1, parts.2, d.balance())
    }

    /// Returns the problem with the kernel times `factor` and every bound divided by it. α and the
    /// objective shrink by `factor`; decision values and the KKT violation stay. Without ridge.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let d = &self.dual;
        let upper = d.upper().iter().map(|u| u / factor).collect();
        let balance = match d.balance() {
            EqualityConstraint::Sum(wanted) => EqualityConstraint::Sum(wanted / factor),
            EqualityConstraint::PerSign(plus, minus) => EqualityConstraint::PerSign(plus / factor, minus / factor),
            other => other,
        };
        let gram = self.gram.scaled(factor);
        self.variant("scaled", gram, d.ids().to_vec(), d.sign().to_vec(), d.linear_term().to_vec(), upper, balance)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a problem, all replaced at once")]
    fn variant(
        &self,
        how: &str,
        gram: PointsGram,
        ids: Vec<usize>,
        sign: Vec<f64>,
        linear_term: Vec<f64>,
        upper: Vec<f64>,
        balance: EqualityConstraint,
    ) -> Self {
        assert!(self.dual.has_one_ridge(), "variants of problems with one ridge");
        let dual = Dual::new(ids, sign, linear_term, upper, self.dual.ridge(), balance).expect("a problem stays one");
        Self { name: format!("{}, {how}", self.name), gram, dual, convex: self.convex }
    }
}
