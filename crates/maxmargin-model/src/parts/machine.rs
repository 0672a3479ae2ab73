//! One decision function of a model, a sum over vectors that machines share.

use maxmargin_data::Samples;
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
    /// Returns the weights `w = Σ coef_k x_k` of a linear machine over these vectors, one for each
    /// feature.
    ///
    /// # Panics
    ///
    /// When a support vector is out of range.
    pub fn weights(&self, support: &Samples) -> Vec<f64> {
        // Summed in row order, so that the same machine always has the same bits.
        let mut w = vec![0.0; support.features()];
        for (&k, c) in self.support.iter().zip(&self.coef) {
            support.row(k as usize).for_each(|j, v| w[j] += c * v);
        }
        w
    }

    /// The machine as a kernel expansion over the model's vectors.
    pub(crate) fn expansion(&self) -> Expansion<'_> {
        Expansion { support: &self.support, coef: &self.coef, bias: self.bias }
    }
}
