//! What a model is made of: decision functions that share vectors, and the rule by which they elect a label.

use maxmargin_core::Needs;
use maxmargin_data::ClassLabels;
use maxmargin_data::classes::elected;
use maxmargin_kernel::Expansion;
use serde::{Deserialize, Serialize};

/// One decision function: `Σ coef_k K(x_k, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Which of the model's vectors it uses: places in [`crate::Parts::support`], ascending.
    pub support: Vec<u32>,
    /// `s α` of each.
    pub coef: Vec<f64>,
    /// Added to the weighted kernel sum.
    pub bias: f64,
}

impl Machine {
    /// The sum over the model's vectors.
    pub(crate) fn expansion(&self) -> Expansion<'_> {
        Expansion { support: &self.support, coef: &self.coef, bias: self.bias }
    }
}

/// How the decision values of one row become its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decide {
    /// One machine for each pair of classes, in the order of [`maxmargin_data::classes::pairs`]; it votes for the later class at 0 and above, and of
    /// classes with equally many votes the earliest wins. Two classes are one machine.
    Vote,
    /// One machine whose decision value is what it says: regression. There are no classes.
    Value,
    /// One machine that says 1 above 0 and −1 otherwise: one class (LIBSVM's rule). There are no classes.
    Inlier,
}

impl Decide {
    /// The rule for formulations with these needs.
    pub fn of(needs: Needs) -> Self {
        match needs {
            Needs::Classes => Self::Vote,
            Needs::Values => Self::Value,
            Needs::Nothing => Self::Inlier,
        }
    }

    /// Number of machines that `classes` classes need; 0 where there can be no such model.
    pub(crate) fn machines(self, classes: usize) -> u128 {
        match self {
            Decide::Vote => classes as u128 * (classes as u128).saturating_sub(1) / 2,
            Decide::Value | Decide::Inlier => u128::from(classes == 0),
        }
    }
}

/// How decision values become predictions: the rule and the labels that it chooses from.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule.
    pub decide: Decide,
    /// The labels, where it knows any.
    pub classes: Vec<f64>,
}

impl Rule {
    /// That of regression.
    pub const VALUE: Self = Self { decide: Decide::Value, classes: Vec::new() };

    /// That of one class.
    pub const INLIER: Self = Self { decide: Decide::Inlier, classes: Vec::new() };

    /// What one value per machine says.
    ///
    /// # Panics
    ///
    /// When there is not one value per machine.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        label(self.decide, &self.classes, decisions)
    }
}

impl From<&ClassLabels> for Rule {
    fn from(classes: &ClassLabels) -> Self {
        Self { decide: Decide::Vote, classes: classes.labels().to_vec() }
    }
}

pub(crate) fn label(decide: Decide, classes: &[f64], decisions: &[f64]) -> f64 {
    match decide {
        Decide::Vote => classes[elected(classes.len(), decisions)],
        Decide::Value => decisions[0],
        Decide::Inlier if decisions[0] > 0.0 => 1.0,
        Decide::Inlier => -1.0,
    }
}
