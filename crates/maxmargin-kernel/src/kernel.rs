//! Kernel functions and their parameters.

use maxmargin_data::Samples;
use serde::{Deserialize, Serialize};

/// A kernel function `k(x, z)`, with LIBSVM's parametrisation.
///
/// Fields are public for reading and matching; [`Kernel::checked`] is the gate that every problem passes through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kernel {
    /// `xᵀz`
    Linear,
    /// `exp(−gamma ‖x − z‖²)`
    Rbf {
        /// Width parameter, > 0.
        gamma: f64,
    },
    /// `(gamma xᵀz + coef0)^degree`
    Poly {
        /// Factor of the dot product, > 0.
        gamma: f64,
        /// Constant term.
        coef0: f64,
        /// Exponent, ≥ 1.
        degree: u32,
    },
    /// `tanh(gamma xᵀz + coef0)`; not positive semidefinite in general.
    Sigmoid {
        /// Factor of the dot product, > 0.
        gamma: f64,
        /// Constant term.
        coef0: f64,
    },
    /// The data holds kernel values: column 0 is the serial number (1…n), column `j` is `K(x, x_j)` (LIBSVM's `0:serial` form).
    Precomputed,
}

/// Why a kernel or its data cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// gamma must be positive and finite.
    #[error("gamma is {0}: it must be a positive finite number")]
    Gamma(f64),
    /// coef0 must be finite.
    #[error("coef0 is {0}: it must be a finite number")]
    Coef0(f64),
    /// degree must be at least 1.
    #[error("degree is {0}: it must be at least 1")]
    Degree(u32),
    /// Serial number or kernel value missing in a precomputed kernel.
    #[error("row {row}: {reason}; a precomputed kernel has rows `label 0:serial 1:K(x,x1) 2:K(x,x2) …`")]
    Precomputed {
        /// Row, from 1.
        row: usize,
        /// What is wrong.
        reason: String,
    },
    /// A kernel value does not fit in `f32`.
    #[error(
        "row {row}: its kernel values reach {value:e}, more than single precision holds; scale the data or lower degree and gamma"
    )]
    TooLarge {
        /// Row, from 1.
        row: usize,
        /// The bound on its values.
        value: f64,
    },
    /// Coefficients and samples do not belong together.
    #[error("{coefficients} coefficients for {samples} support vectors")]
    Coefficients {
        /// Coefficients given.
        coefficients: usize,
        /// Support vectors given.
        samples: usize,
    },
    /// A precomputed kernel was given feature vectors or the other way round.
    #[error("{0}")]
    Samples(String),
}

impl Kernel {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// When gamma ≤ 0, degree is 0 or a parameter is not finite.
    pub fn checked(self) -> Result<Self, KernelError> {
        let gamma_ok = |gamma: f64| if gamma > 0.0 && gamma.is_finite() { Ok(()) } else { Err(KernelError::Gamma(gamma)) };
        let coef0_ok = |coef0: f64| if coef0.is_finite() { Ok(()) } else { Err(KernelError::Coef0(coef0)) };
        match self {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } => gamma_ok(gamma)?,
            Kernel::Poly { gamma, coef0, degree } => {
                gamma_ok(gamma)?;
                coef0_ok(coef0)?;
                if degree == 0 {
                    return Err(KernelError::Degree(degree));
                }
            }
            Kernel::Sigmoid { gamma, coef0 } => {
                gamma_ok(gamma)?;
                coef0_ok(coef0)?;
            }
        }
        Ok(self)
    }

    /// The kernel value from `dot = xᵀz` and the squared norms `‖x‖²`, `‖z‖²`, in `f64` (not for [`Kernel::Precomputed`]).
    pub fn of_dot(&self, dot: f64, norm_x: f64, norm_z: f64) -> f64 {
        match *self {
            Kernel::Linear | Kernel::Precomputed => dot,
            Kernel::Rbf { gamma } => (-gamma * (norm_x + norm_z - 2.0 * dot).max(0.0)).exp(),
            Kernel::Poly { gamma, coef0, degree } => degree.try_into().map_or(f64::NAN, |d: i32| (gamma * dot + coef0).powi(d)),
            Kernel::Sigmoid { gamma, coef0 } => (gamma * dot + coef0).tanh(),
        }
    }
}

/// `gamma = 1 / (features · variance of all values)`, scikit-learn's `scale`.
pub fn gamma_scale(samples: &Samples) -> f64 {
    let count = samples.len() as f64 * samples.features() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..samples.len() {
        samples.row(i).for_each(|_, v| {
            sum += v;
            squares += v * v;
        });
    }
    let variance = squares / count - (sum / count) * (sum / count);
    if variance > 0.0 { 1.0 / (samples.features() as f64 * variance) } else { 1.0 }
}

/// `gamma = 1 / features`, LIBSVM's default.
pub fn gamma_auto(samples: &Samples) -> f64 {
    1.0 / samples.features().max(1) as f64
}
