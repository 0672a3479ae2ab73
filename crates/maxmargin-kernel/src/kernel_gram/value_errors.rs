//! Bounds on the rounding errors of kernel values, by the kernel and the store of its samples.

use crate::Kernel;
use crate::store::Store;
use crate::store::distances::multiples_error;

/// Half of the relative error of a dot product, or of a function of it.
const UNIT: f64 = 4.0 * f64::EPSILON;

/// Bounds on the errors and sizes of the exact values of a Gram matrix, computed once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueErrors {
    /// The contribution of every sample.
    every: f64,
    /// The contribution per unit of the squared norm.
    by_norm: f64,
    /// A bound on every `|K_ij|`, if `√(|K_ii| |K_jj|)` is not a bound.
    pub(crate) largest: Option<f64>,
}

impl ValueErrors {
    /// The errors of `kernel` for the dot products and norms of `store`. `norm` is the largest
    /// squared norm; `differences` means that distances are sums of squared differences.
    pub(crate) fn of(kernel: &Kernel, store: &Store, norm: f64, differences: bool, diagonal: &[f64]) -> Self {
        let (every, by_norm) = match *kernel {
            // Distances of multiples are exact, but the values were rounded to multiples.
            Kernel::Rbf { gamma } if store.is_exact() => {
                (UNIT + if store.are_multiples() { multiples_error(gamma * norm) } else { 0.0 }, 0.0)
            }
            // The absolute error of the exponent is the relative error of the value. Norms and dot
            // products contribute in proportion to both norms.
            Kernel::Rbf { gamma } if !differences => (UNIT, 2.0 * UNIT * gamma),
            Kernel::Poly { degree, .. } => (UNIT * (1.0 + f64::from(degree)), 0.0),
            // The error of the argument counts likewise: the dot product is at most the mean of
            // both squared norms.
            Kernel::Sigmoid { gamma, coef0 } => (UNIT * (1.0 + coef0.abs()), UNIT * gamma),
            _ => (UNIT, 0.0),
        };
        let largest = match (kernel, store) {
            (kernel, _) if kernel.is_semidefinite() => None,
            (Kernel::Sigmoid { .. }, _) => Some(1.0),
            (Kernel::Poly { degree, gamma, coef0 }, _) => Some((gamma * norm + coef0.abs()).powf(f64::from(*degree))),
            (_, Store::Precomputed(matrix)) => Some(matrix.largest()),
            // A user kernel has no other known bound.
            _ => Some(diagonal.iter().fold(0.0_f64, |most, k| most.max(k.abs()))),
        };
        Self { every, by_norm, largest }
    }

    /// The contribution of a sample with this squared norm.
    pub(crate) fn of_sample(&self, norm: f64) -> f64 {
        self.every + self.by_norm * norm
    }
}
