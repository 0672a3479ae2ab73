//! Kernel functions and their parameters.

use super::error::KernelError;
use super::gamma::Gamma;
use super::user::UserKernel;
use maxmargin_data::{Row, Samples};
use maxmargin_simd::power::Power;
use serde::{Deserialize, Serialize};

/// A kernel function `k(x, z)`, with LIBSVM's parametrisation.
///
/// Fields are public for reading and matching. Every problem validates its kernel by
/// [`Kernel::checked`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kernel {
    /// `xᵀz`
    Linear,
    /// `exp(−gamma ‖x − z‖²)`
    Rbf {
        /// Width parameter, ≥ 0; at 0 all values are 1.
        gamma: f64,
    },
    /// `(gamma xᵀz + coef0)^degree`
    Poly {
        /// Factor of the dot product, ≥ 0.
        gamma: f64,
        /// Constant term.
        coef0: f64,
        /// Exponent; at 0 all values are 1.
        degree: u32,
    },
    /// `tanh(gamma xᵀz + coef0)`; not positive semidefinite in general.
    Sigmoid {
        /// Factor of the dot product, ≥ 0.
        gamma: f64,
        /// Constant term.
        coef0: f64,
    },
    /// The data holds kernel values: column 0 is the serial number (1…n), column `j` is `K(x, x_j)`
    /// (LIBSVM's `0:serial` form).
    Precomputed,
    /// A function of the caller, stored by name.
    User(UserKernel),
}

impl Kernel {
    /// `exp(−gamma ‖x − z‖²)`
    pub const fn rbf(gamma: f64) -> Self {
        Kernel::Rbf { gamma }
    }

    /// `(gamma xᵀz + coef0)^degree`
    pub const fn poly(gamma: f64, coef0: f64, degree: u32) -> Self {
        Kernel::Poly { gamma, coef0, degree }
    }

    /// `tanh(gamma xᵀz + coef0)`
    pub const fn sigmoid(gamma: f64, coef0: f64) -> Self {
        Kernel::Sigmoid { gamma, coef0 }
    }

    /// A kernel that the caller implements: see [`UserKernel`].
    ///
    /// ```
    /// use maxmargin_data::{Par, Samples};
    /// use maxmargin_kernel::{Kernel, decision_values};
    ///
    /// let cosine = Kernel::user("cosine", |x, z| x.dot(z) / (x.dot(x) * z.dot(z)).sqrt());
    /// let support = Samples::from_rows(&[[3.0, 4.0], [1.0, 0.0]])?;
    /// let decision = decision_values(&cosine, &support, &[2.0, -1.0], 0.5, &Samples::from_rows(&[[0.0, 7.0]])?, Par::Seq)?;
    /// assert!((decision[0] - (2.0 * 0.8 + 0.5)).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn user(name: impl Into<String>, function: impl Fn(Row<'_>, Row<'_>) -> f64 + Send + Sync + 'static) -> Self {
        Kernel::User(UserKernel::new(name, function))
    }

    /// Names and values of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        let parameters = match *self {
            Kernel::Linear | Kernel::Precomputed | Kernel::User(_) => [None; 3],
            Kernel::Rbf { gamma } => [Some(("gamma", gamma)), None, None],
            Kernel::Poly { gamma, coef0, degree } => {
                [Some(("gamma", gamma)), Some(("coef0", coef0)), Some(("degree", f64::from(degree)))]
            }
            Kernel::Sigmoid { gamma, coef0 } => [Some(("gamma", gamma)), Some(("coef0", coef0)), None],
        };
        parameters.into_iter().flatten()
    }

    /// The value of a parameter, where the kernel has it.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters().find(|parameter| parameter.0 == name).map(|parameter| parameter.1)
    }

    /// gamma, where the kernel has one.
    pub fn gamma(&self) -> Option<f64> {
        self.parameter("gamma")
    }

    /// The same kernel with another gamma; kernels without one stay as they are.
    #[must_use]
    pub fn with_gamma(mut self, value: f64) -> Self {
        if let Kernel::Rbf { gamma } | Kernel::Poly { gamma, .. } | Kernel::Sigmoid { gamma, .. } = &mut self {
            *gamma = value;
        }
        self
    }

    /// Sets gamma by a rule, where the kernel has one, and validates the kernel.
    ///
    /// ```
    /// use maxmargin_data::Samples;
    /// use maxmargin_kernel::{Gamma, Kernel};
    ///
    /// let samples = Samples::from_rows(&[[0.0, 1.0, 0.0, 1.0]])?;
    /// assert_eq!(Kernel::rbf(1.0).resolved(Gamma::Auto, &samples)?, Kernel::rbf(0.25));
    /// assert_eq!(Kernel::Linear.resolved(Gamma::Scale, &samples)?, Kernel::Linear);
    /// assert!(Kernel::rbf(1.0).resolved(Gamma::Value(-1.0), &samples).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Kernel::checked`], and when a rule gives 0 or infinity, for values whose squares
    /// overflow or vanish.
    pub fn resolved(&self, gamma: Gamma, samples: &Samples) -> Result<Self, KernelError> {
        match self.gamma() {
            Some(_) => self.clone().with_gamma(gamma.checked(samples)?).checked(),
            None => self.clone().checked(),
        }
    }

    /// Returns whether the kernel is a function of `gamma ‖x − z‖²` alone that is 1 at distance 0
    /// and has slopes of at most 1.
    ///
    /// Blocks of such kernels are computed from centred data. They use single precision only where
    /// its error, which grows with gamma, is small enough.
    pub fn is_distance(&self) -> bool {
        matches!(self, Kernel::Rbf { .. })
    }

    /// Returns whether [`Kernel::of_dot`] evaluates the kernel. Columns that are zero in all
    /// samples can then be left out.
    pub fn is_of_products(&self) -> bool {
        !matches!(self, Kernel::Precomputed | Kernel::User(_))
    }

    /// Returns whether the kernel is positive semidefinite on all data. Other kernels may be
    /// semidefinite on some data ([`Gram::indefiniteness`](crate::Gram::indefiniteness)).
    pub fn is_semidefinite(&self) -> bool {
        match *self {
            Kernel::Linear | Kernel::Rbf { .. } => true,
            // Sums and products of semidefinite kernels are semidefinite; a negative constant is
            // not.
            Kernel::Poly { coef0, .. } => coef0 >= 0.0,
            Kernel::Sigmoid { .. } | Kernel::Precomputed | Kernel::User(_) => false,
        }
    }

    /// A bound on `|k(x, x)|` for `‖x‖² = norm`. For a kernel of distances it is the norm itself.
    fn value_bound(&self, norm: f64) -> f64 {
        match *self {
            Kernel::Poly { gamma, coef0, degree } => (gamma * norm + coef0.abs()).powf(f64::from(degree)),
            _ => norm,
        }
    }

    /// Returns whether kernel values of samples with this squared norm fit in `f32`. Large
    /// distances are allowed, because their kernel values are at most 1: `‖x‖² + ‖z‖² − 2 xᵀz` of
    /// such samples must only be finite.
    pub(crate) fn accepts_norm(&self, norm: f64) -> bool {
        let most = if self.is_distance() { f64::MAX / 4.0 } else { f64::from(f32::MAX) };
        self.value_bound(norm).abs() <= most
    }

    /// Returns an error if kernel values of sample `row` (from 0) with this squared norm may not
    /// fit in `f32`.
    pub(crate) fn check_norm(&self, row: usize, norm: f64) -> Result<(), KernelError> {
        match self.accepts_norm(norm) {
            true => Ok(()),
            // Samples are finite, so that only a user kernel gives NaN.
            false if norm.is_nan() => Err(KernelError::NotANumber { row: row + 1 }),
            false if self.is_distance() => Err(KernelError::Distances { row: row + 1 }),
            false => Err(KernelError::TooLarge { row: row + 1, value: self.value_bound(norm) }),
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// When gamma is negative or a parameter is not finite.
    pub fn checked(self) -> Result<Self, KernelError> {
        let gamma_ok = |gamma: f64| if gamma >= 0.0 && gamma.is_finite() { Ok(()) } else { Err(KernelError::Gamma(gamma)) };
        let coef0_ok = |coef0: f64| if coef0.is_finite() { Ok(()) } else { Err(KernelError::Coef0(coef0)) };
        match self {
            Kernel::Linear | Kernel::Precomputed | Kernel::User(_) => {}
            Kernel::Rbf { gamma } => gamma_ok(gamma)?,
            Kernel::Poly { gamma, coef0, .. } | Kernel::Sigmoid { gamma, coef0 } => {
                gamma_ok(gamma)?;
                coef0_ok(coef0)?;
            }
        }
        Ok(self)
    }

    /// The kernel value from `dot = xᵀz` and the squared norms `‖x‖²`, `‖z‖²`, in `f64`.
    ///
    /// It is NaN for a kernel that is no function of these ([`Kernel::is_of_products`]).
    pub fn of_dot(&self, dot: f64, norm_x: f64, norm_z: f64) -> f64 {
        match *self {
            Kernel::Precomputed | Kernel::User(_) => f64::NAN,
            Kernel::Linear => dot,
            Kernel::Rbf { gamma } => (-gamma * (norm_x + norm_z - 2.0 * dot).max(0.0)).exp(),
            Kernel::Poly { gamma, coef0, degree } => Power { gamma, coef0, degree, base: 0.0 }.of(dot),
            Kernel::Sigmoid { gamma, coef0 } => (gamma * dot + coef0).tanh(),
        }
    }
}
