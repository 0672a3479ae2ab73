//! The dual problem: a box-constrained quadratic programme over a Gram matrix.

mod error;
mod made;
mod part;
#[cfg(test)]
mod tests;

pub use error::DualError;
pub use made::SideCosts;

use crate::problem::loss::BiasTerm;
use std::ops::Range;
use std::sync::Arc;

/// The linear constraint that couples the variables.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum EqualityConstraint {
    /// No constraint: the bias is regularised, or there is none.
    Free,
    /// `Σ s_k α_k = d`: C-SVC and ε-SVR (`d = 0`), one-class.
    Sum(f64),
    /// `Σ α_k = 1`: L2-loss SVM with regularised bias.
    Simplex,
    /// `Σ_{s_k=+1} α_k = p` and `Σ_{s_k=−1} α_k = m`: ν-SVC, ν-SVR.
    PerSign(f64, f64),
}

/// A maximal run of variables whose Gram indices are consecutive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The Gram indices.
    pub ids: Range<usize>,
    /// The position of the first of them among the variables.
    pub at: usize,
}

/// The part that problems over the same rows share: folds, values of C, leave-one-out.
#[derive(Debug, PartialEq)]
struct Shape {
    ids: Vec<usize>,
    segments: Vec<Segment>,
    sign: Vec<f64>,
    linear_term: Vec<f64>,
}

/// The constant that is added to the diagonal of Q.
#[derive(Clone, Debug, PartialEq)]
enum Ridge {
    /// The same for all variables.
    One(f64),
    /// One for each variable.
    Each(Vec<f64>),
}

/// The problem `min ½ αᵀQα + linᵀα` over `0 ≤ α ≤ upper` and the equality constraint, with `Q_kl =
/// s_k s_l K(id_k, id_l) + ridge δ_kl`.
///
/// Variable `k` belongs to row `ids[k]` of a Gram matrix; several variables may belong to one row.
/// Every solver family of maxmargin solves this type. A variable with an empty box (`upper = 0`)
/// does not take part. A fold is the problem of all samples with other boxes ([`Dual::with_upper`])
/// and shares everything else with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dual {
    shape: Arc<Shape>,
    upper: Vec<f64>,
    ridge: Ridge,
    balance: EqualityConstraint,
}

impl Dual {
    /// Creates a general problem.
    ///
    /// # Errors
    ///
    /// When lengths differ, there are no variables, a sign is not ±1, a number is not finite, or an
    /// id is `usize::MAX`. A solver refuses other ids that its matrix does not have.
    pub fn new(
        ids: Vec<usize>,
        sign: Vec<f64>,
        linear_term: Vec<f64>,
        upper: Vec<f64>,
        ridge: f64,
        balance: EqualityConstraint,
    ) -> Result<Self, DualError> {
        let expected = ids.len();
        if expected == 0 {
            return Err(DualError::Empty);
        }
        for (what, found) in [("sign", sign.len()), ("linear term", linear_term.len()), ("upper", upper.len())] {
            if found != expected {
                return Err(DualError::Length { what, found, expected });
            }
        }
        if let Some(variable) = ids.iter().position(|id| *id == usize::MAX) {
            return Err(DualError::Row { variable });
        }
        if let Some((variable, &value)) = sign.iter().enumerate().find(|(_, s)| s.abs() != 1.0) {
            return Err(DualError::Sign { variable, value });
        }
        check_upper(&upper)?;
        if let Some((variable, &value)) = linear_term.iter().enumerate().find(|(_, p)| !p.is_finite()) {
            return Err(DualError::NotFinite { what: "linear term", variable, value });
        }
        if !ridge.is_finite() || ridge < 0.0 {
            return Err(DualError::NotFinite { what: "ridge", variable: 0, value: ridge });
        }
        let wanted = match balance {
            EqualityConstraint::Free | EqualityConstraint::Simplex => [0.0; 2],
            EqualityConstraint::Sum(sum) => [sum; 2],
            EqualityConstraint::PerSign(plus, minus) => [plus, minus],
        };
        if let Some(&value) = wanted.iter().find(|w| !w.is_finite()) {
            return Err(DualError::NotFinite { what: "balance", variable: 0, value });
        }
        let segments = segments_of(&ids);
        Ok(Self { shape: Arc::new(Shape { ids, segments, sign, linear_term }), upper, ridge: Ridge::One(ridge), balance })
    }

    /// Creates the C-SVC dual: `lin = −1`, `Σ y_k α_k = 0`, `0 ≤ α_k ≤ C_k` (Cortes and Vapnik
    /// 1995; LIBSVM's C-SVC).
    ///
    /// `labels[k]` is ±1 and `upper[k]` the `C` of the sample `ids[k]`.
    ///
    /// # Errors
    ///
    /// As [`Dual::new`], and when only one class has positive `C`.
    pub fn c_svc(ids: Vec<usize>, labels: Vec<f64>, upper: Vec<f64>) -> Result<Self, DualError> {
        if let Some((variable, &value)) = upper.iter().enumerate().find(|(_, u)| !u.is_finite()) {
            return Err(DualError::Upper { variable, value });
        }
        let linear_term = vec![-1.0; ids.len()];
        let dual = Self::new(ids, labels, linear_term, upper, 0.0, EqualityConstraint::Sum(0.0))?;
        dual.check_signs()?;
        Ok(dual)
    }

    /// Creates the dual of the squared hinge loss `C_k ξ²` (LIBLINEAR's L2-loss SVC): no upper
    /// bound, the ridge `1 / 2C_k`.
    ///
    /// `labels[k]` is ±1 and `c[k]` the `C` of the sample `ids[k]`.
    ///
    /// # Errors
    ///
    /// As [`Dual::new`], when a `C` is not positive and finite, and with a free bias when there is
    /// one class only.
    pub fn squared_hinge(ids: Vec<usize>, labels: Vec<f64>, c: &[f64], bias_term: BiasTerm) -> Result<Self, DualError> {
        if c.len() != ids.len() {
            return Err(DualError::Length { what: "C", found: c.len(), expected: ids.len() });
        }
        if let Some((variable, &value)) = c.iter().enumerate().find(|(_, c)| !(c.is_finite() && **c >= 0.0)) {
            return Err(DualError::Upper { variable, value });
        }
        // A sample with C = 0 takes no part, so its ridge may have any value.
        let some = c.iter().copied().fold(0.0, f64::max);
        if some == 0.0 && !c.is_empty() {
            return Err(DualError::Upper { variable: 0, value: 0.0 });
        }
        let linear_term = vec![-1.0; ids.len()];
        let upper = c.iter().map(|c| if *c > 0.0 { f64::INFINITY } else { 0.0 }).collect();
        let dual = Self::new(ids, labels, linear_term, upper, 0.0, EqualityConstraint::of(bias_term))?;
        if bias_term == BiasTerm::Free {
            dual.check_signs()?;
        }
        dual.with_ridges(c.iter().map(|c| 0.5 / if *c > 0.0 { *c } else { some }).collect())
    }

    /// Returns the same problem with other boxes; everything else is shared, not copied. A variable
    /// with bound 0 does not take part.
    ///
    /// # Errors
    ///
    /// When there is not one bound per variable, or one is negative or not a number. With a sum of
    /// 0, when only one sign is left.
    pub fn with_upper(&self, upper: Vec<f64>) -> Result<Self, DualError> {
        if upper.len() != self.len() {
            return Err(DualError::Length { what: "upper", found: upper.len(), expected: self.len() });
        }
        check_upper(&upper)?;
        let dual = Self { upper, ..self.clone() };
        if dual.balance == EqualityConstraint::Sum(0.0) {
            dual.check_signs()?;
        }
        Ok(dual)
    }

    /// Returns the same problem with a ridge for each variable.
    ///
    /// # Errors
    ///
    /// When there is not one per variable, or one is negative or not finite.
    pub fn with_ridges(&self, ridges: Vec<f64>) -> Result<Self, DualError> {
        if ridges.len() != self.len() {
            return Err(DualError::Length { what: "ridge", found: ridges.len(), expected: self.len() });
        }
        if let Some((variable, &value)) = ridges.iter().enumerate().find(|(_, r)| !r.is_finite() || **r < 0.0) {
            return Err(DualError::NotFinite { what: "ridge", variable, value });
        }
        let common = ridges.iter().all(|r| *r == ridges[0]);
        Ok(Self { ridge: if common { Ridge::One(ridges[0]) } else { Ridge::Each(ridges) }, ..self.clone() })
    }

    /// Returns the same problem with another equality constraint.
    pub(crate) fn with_balance(self, balance: EqualityConstraint) -> Self {
        Self { balance, ..self }
    }

    /// Checks that both signs have a variable that may move.
    fn check_signs(&self) -> Result<(), DualError> {
        let has = |sign: f64| self.sign().iter().zip(&self.upper).any(|(s, u)| *s == sign && *u > 0.0);
        if has(1.0) && has(-1.0) { Ok(()) } else { Err(DualError::OneClass) }
    }

    /// Returns the number of variables.
    pub fn len(&self) -> usize {
        self.shape.ids.len()
    }

    /// Always returns false: a problem has at least one variable.
    pub fn is_empty(&self) -> bool {
        self.shape.ids.is_empty()
    }

    /// Returns the Gram index of each variable.
    pub fn ids(&self) -> &[usize] {
        &self.shape.ids
    }

    /// Returns the variables as maximal runs of consecutive Gram indices.
    pub fn segments(&self) -> &[Segment] {
        &self.shape.segments
    }

    /// Returns the sign `s_k` of each variable (the label, for classification).
    pub fn sign(&self) -> &[f64] {
        &self.shape.sign
    }

    /// Returns the linear term of each variable.
    pub fn linear_term(&self) -> &[f64] {
        &self.shape.linear_term
    }

    /// Returns the upper bound of each variable (`C_k`).
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Returns the constant on the diagonal of Q if it is the same for all variables
    /// ([`Dual::has_one_ridge`]), otherwise that of the first variable.
    pub fn ridge(&self) -> f64 {
        self.ridge_of(0)
    }

    /// Returns the constant on the diagonal of Q for variable `k`.
    pub fn ridge_of(&self, k: usize) -> f64 {
        match &self.ridge {
            Ridge::One(ridge) => *ridge,
            Ridge::Each(ridges) => ridges[k],
        }
    }

    /// Returns a number that no objective `½ αᵀQα + linᵀα` over a positive semidefinite kernel
    /// matrix is below, if every variable has a ridge and no bound: the minimum of
    /// `½ αᵀDα + linᵀα`, with `D` the ridges. Otherwise `-∞`.
    pub fn lowest_objective(&self) -> f64 {
        let has_minimum = |k: usize| self.upper()[k] == f64::INFINITY && self.ridge_of(k) > 0.0;
        if !(0..self.len()).all(has_minimum) {
            return f64::NEG_INFINITY;
        }
        -(0..self.len()).map(|k| self.linear_term()[k].powi(2) / (2.0 * self.ridge_of(k))).sum::<f64>()
    }

    /// Returns true if all variables have the same ridge.
    pub fn has_one_ridge(&self) -> bool {
        matches!(self.ridge, Ridge::One(_))
    }

    /// Returns whether `other` is the same problem but for its bounds.
    pub fn differs_in_bounds_only(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.shape, &other.shape) || self.shape == other.shape)
            && self.ridge == other.ridge
            && self.balance == other.balance
    }

    /// Returns the equality constraint.
    pub fn balance(&self) -> EqualityConstraint {
        self.balance
    }
}

fn check_upper(upper: &[f64]) -> Result<(), DualError> {
    match upper.iter().enumerate().find(|(_, u)| u.is_nan() || **u < 0.0) {
        Some((variable, &value)) => Err(DualError::Upper { variable, value }),
        None => Ok(()),
    }
}

fn segments_of(ids: &[usize]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (at, &id) in ids.iter().enumerate() {
        match segments.last_mut() {
            Some(last) if last.ids.end == id => last.ids.end += 1,
            _ => segments.push(Segment { ids: id..id + 1, at }),
        }
    }
    segments
}
