//! One decision function of a model, a sum over vectors that machines share.

use maxmargin_kernel::Expansion;
use serde::{Deserialize, Serialize};

/// One decision function: `Σ coef_k K(x_k, x) + bias`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The support vectors of the machine: rows of [`super::Parts::support`], ascending.
    pub support: Vec<u32>,
    /// The coefficient `s α` of each support vector.
    pub coef: Vec<f64>,
    /// The bias, which is added to the weighted kernel sum.
    pub bias: f64,
}

impl Machine {
    /// The machine as a kernel expansion over the model's vectors.
    pub(crate) fn expansion(&self) -> Expansion<'_> {
        Expansion { support: &self.support, coef: &self.coef, bias: self.bias }
    }
}
