//! Decision functions: gaps, scaling, and sums over support vectors or weights.

use super::inputs::Scale;
use crate::error::ExportError;
use maxmargin_data::{Encoder, Samples, Scaler};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Machine, Model};
use serde::{Serialize, Serializer};

/// The most numbers of vectors in one file: half a gigabyte of doubles, which is near what one ONNX
/// file may have.
const MOST_NUMBERS: usize = 1 << 26;

/// A matrix, row-major. In JSON it is an array of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The length of a row.
    pub columns: usize,
    /// The rows, one after the other.
    pub values: Vec<f64>,
}

impl Matrix {
    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        // Rows without columns have no values: there are none of them.
        self.values.chunks_exact(self.columns.max(1))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows().len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Serialize for Matrix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

/// A kernel as a formula of a row `x` and a vector `z`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum KernelFunction {
    /// `exp(−gamma ‖x − z‖²)`
    Rbf {
        /// The factor of the squared distance.
        gamma: f64,
    },
    /// `(gamma xᵀz + coef0)^degree`
    Poly {
        /// The factor of the product.
        gamma: f64,
        /// The summand.
        coef0: f64,
        /// The exponent.
        degree: u32,
    },
    /// `tanh(gamma xᵀz + coef0)`
    Sigmoid {
        /// The factor of the product.
        gamma: f64,
        /// The summand.
        coef0: f64,
    },
}

impl KernelFunction {
    /// The kernel of the workspace with this formula.
    pub fn kernel(&self) -> Kernel {
        match *self {
            Self::Rbf { gamma } => Kernel::Rbf { gamma },
            Self::Poly { gamma, coef0, degree } => Kernel::Poly { gamma, coef0, degree },
            Self::Sigmoid { gamma, coef0 } => Kernel::Sigmoid { gamma, coef0 },
        }
    }
}

/// The terms of one decision function over the vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Terms {
    /// The rows of the vectors, ascending.
    pub vectors: Vec<u32>,
    /// The factor of each kernel value.
    pub coefficients: Vec<f64>,
}

/// The sums of all decision functions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Expansion {
    /// `wᵀx` for each row `w` of the weights.
    Linear {
        /// One row for each function.
        weights: Matrix,
    },
    /// `Σ coefficient · kernel(z, x)` over vectors `z`.
    Kernel {
        /// The kernel.
        kernel: KernelFunction,
        /// The vectors, scaled.
        vectors: Matrix,
        /// The terms of each function.
        machines: Vec<Terms>,
    },
}

/// Decision functions over the same features.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Functions {
    /// The value that replaces a gap of each column: a number, or the place of a word. `None` if
    /// gaps were errors in the training: they make all results NaN.
    pub fills: Vec<Option<f64>>,
    /// The scaling of the features; `None` if they stay.
    pub scale: Option<Scale>,
    /// The sums.
    #[serde(flatten)]
    pub expansion: Expansion,
    /// The summand of each function.
    pub bias: Vec<f64>,
}

impl Functions {
    /// Returns the decision functions of a model.
    pub(super) fn of_model(model: &Model) -> Result<Self, ExportError> {
        let parts = model.parts();
        Self::new(&parts.kernel, parts.encoder.as_ref(), parts.scaler.as_ref(), &parts.support, &parts.machines)
    }

    /// Returns decision functions over vectors that are prepared by an encoder and a scaler.
    ///
    /// # Errors
    ///
    /// As [`super::Program::new`].
    pub fn new(
        kernel: &Kernel,
        encoder: Option<&Encoder>,
        scaler: Option<&Scaler>,
        support: &Samples,
        machines: &[Machine],
    ) -> Result<Self, ExportError> {
        let features = support.features().max(1);
        let expansion = Expansion::of(kernel, support, machines)?;
        let fills = encoder
            .map_or_else(Vec::new, |encoder| (0..encoder.columns().features().len()).map(|c| encoder.fill_value(c)).collect());
        let scale = Scale::of(features, encoder, scaler);
        Ok(Self { fills, scale, expansion, bias: machines.iter().map(|machine| machine.bias).collect() })
    }

    /// The number of constants.
    pub fn numbers(&self) -> usize {
        let scale = self.scale.as_ref().map_or(0, |scale| 4 * scale.shift.len());
        let sums = match &self.expansion {
            Expansion::Linear { weights } => weights.values.len(),
            Expansion::Kernel { vectors, machines, .. } => {
                vectors.values.len() + machines.iter().map(|terms| terms.vectors.len()).sum::<usize>()
            }
        };
        scale + sums + self.bias.len()
    }
}

impl Expansion {
    fn of(kernel: &Kernel, support: &Samples, machines: &[Machine]) -> Result<Self, ExportError> {
        let features = support.features().max(1);
        let check = |vectors: usize| match vectors.checked_mul(features) {
            Some(numbers) if numbers <= MOST_NUMBERS => Ok(()),
            _ => Err(ExportError::TooLarge { vectors, features, most: MOST_NUMBERS }),
        };
        let kernel = match *kernel {
            Kernel::Linear => {
                check(machines.len())?;
                return Ok(Self::linear(features, machines.iter().map(|machine| machine.weights(support))));
            }
            ref kernel if support.is_empty() && kernel.is_of_products() => {
                return Ok(Self::linear(features, machines.iter().map(|_| Vec::new())));
            }
            Kernel::Rbf { gamma } => KernelFunction::Rbf { gamma },
            Kernel::Poly { gamma, coef0, degree } => KernelFunction::Poly { gamma, coef0, degree },
            Kernel::Sigmoid { gamma, coef0 } => KernelFunction::Sigmoid { gamma, coef0 },
            ref other => return Err(ExportError::Kernel(other.name())),
        };
        check(support.len())?;
        let mut values = support.dense_rows(0..support.len());
        if support.features() == 0 {
            values.resize(support.len(), 0.0);
        }
        let vectors = Matrix { columns: features, values };
        let terms = |machine: &Machine| Terms { vectors: machine.support.clone(), coefficients: machine.coef.clone() };
        Ok(Self::Kernel { kernel, vectors, machines: machines.iter().map(terms).collect() })
    }

    /// Returns linear functions. Short weights are padded with zeros.
    fn linear(features: usize, weights: impl Iterator<Item = Vec<f64>>) -> Self {
        let padded = weights.flat_map(|mut weights| {
            weights.resize(features, 0.0);
            weights
        });
        Self::Linear { weights: Matrix { columns: features, values: padded.collect() } }
    }
}
