//! What a model is made of: decision functions that share vectors, and the rule by which they elect a label.

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
}

impl Decide {
    /// Number of machines that `classes` classes need; 0 where there can be no such model.
    pub(crate) fn machines(self, classes: usize) -> u128 {
        match self {
            Decide::Vote => classes as u128 * (classes as u128).saturating_sub(1) / 2,
        }
    }

    /// The label that one value per machine elects.
    pub(crate) fn label(self, classes: &[f64], decisions: &[f64]) -> f64 {
        match self {
            Decide::Vote => classes[elected(classes.len(), decisions)],
        }
    }
}
