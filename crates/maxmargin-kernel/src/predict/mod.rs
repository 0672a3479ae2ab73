//! Decision values for samples outside of the training set.

mod coefficients;
mod columns;
mod far;
mod integers;
mod linear;
mod lists;
mod panels;
mod precomputed;
mod predictor;
mod reals;
mod singles;

pub use linear::linear_values;
pub use predictor::{Labels, Predictor};

use crate::{Kernel, KernelError};
use maxmargin_data::{Par, Samples};

/// One of several decision functions over shared support vectors.
#[derive(Clone, Copy, Debug)]
pub struct Expansion<'a> {
    /// Positions among the shared support vectors, in ascending order.
    pub support: &'a [u32],
    /// One coefficient per position.
    pub coef: &'a [f64],
    /// The constant term.
    pub bias: f64,
}

/// Computes `Σ_k coef_k k(support_k, query) + bias` for every query, with kernel values in `f64`.
///
/// The numbers of features may differ: missing features are 0, and a query's additional features
/// count in its distance. A linear kernel is reduced to its weight vector first. With
/// [`Kernel::Precomputed`] a query `0:… 1:K(x,x1) …` is read at the serial numbers of the support
/// vectors. The value of a query depends on no other query, and not on `par`.
///
/// # Errors
///
/// When the kernel is invalid, the number of coefficients differs from that of the support vectors,
/// or the queries have no column for a serial number.
pub fn decision_values(
    kernel: &Kernel,
    support: &Samples,
    coef: &[f64],
    bias: f64,
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    if coef.len() != support.len() {
        return Err(KernelError::Coefficients { coefficients: coef.len(), samples: support.len() });
    }
    let all: Vec<u32> = (0..coef.len() as u32).collect();
    decision_table(kernel, support, &[Expansion { support: &all, coef, bias }], queries, par)
}

/// Computes several decision functions, row-major `queries × expansions`. Each kernel value is
/// computed once for all of them.
///
/// In all other respects it is like [`decision_values`].
///
/// # Errors
///
/// As [`decision_values`]. An expansion's positions must ascend and be less than the number of
/// support vectors.
pub fn decision_table(
    kernel: &Kernel,
    support: &Samples,
    expansions: &[Expansion],
    queries: &Samples,
    par: Par,
) -> Result<Vec<f64>, KernelError> {
    Predictor::new(kernel, support, expansions)?.decision_table(queries, par)
}
