//! One decision function of a model.

use maxmargin_kernel::Expansion;
use serde::{Deserialize, Serialize};

/// One decision function: `Σ coef_k K(x_k, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Which of the model's vectors it uses: places in [`super::Parts::support`], ascending.
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
