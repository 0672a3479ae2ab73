//! The rounding of kernel values, by the form of a kernel and of its samples.

use crate::Kernel;
use crate::distances::multiples_error;
use crate::store::Store;

/// The units in the last place that are half of the error of a product, or of a function of it.
const UNIT: f64 = 4.0 * f64::EPSILON;

/// The error of exact values of a Gram matrix, and their size, in numbers that are found once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueErrors {
    /// The part of every sample.
    every: f64,
    /// The part for each unit of its squared norm.
    by_norm: f64,
    /// A bound on every `|K_ij|`, where `√(|K_ii| |K_jj|)` is none.
    pub(crate) largest: Option<f64>,
}

impl ValueErrors {
    /// The errors of `kernel`, which takes products and norms of `store`; `norm` is the largest
    /// squared norm. `differences`: distances are sums of squared differences.
    pub(crate) fn of(kernel: &Kernel, store: &Store, norm: f64, differences: bool, diagonal: &[f64]) -> Self {
        let (every, by_norm) = match *kernel {
            // Distances of multiples are exact; the values were rounded to multiples.
            Kernel::Rbf { gamma } if store.is_exact() => {
                (UNIT + if store.are_multiples() { multiples_error(gamma * norm) } else { 0.0 }, 0.0)
            }
            // The error of an exponent is that of the value: norms and products lose a share of
            // both norms.
            Kernel::Rbf { gamma } if !differences => (UNIT, 2.0 * UNIT * gamma),
            Kernel::Poly { degree, .. } => (UNIT * (1.0 + f64::from(degree)), 0.0),
            // So is that of the argument, whose product is at most the mean of both norms.
            Kernel::Sigmoid { gamma, coef0 } => (UNIT * (1.0 + coef0.abs()), UNIT * gamma),
            _ => (UNIT, 0.0),
        };
        let largest = match (kernel, store) {
            (kernel, _) if kernel.is_semidefinite() => None,
            (Kernel::Sigmoid { .. }, _) => Some(1.0),
            (Kernel::Poly { degree, gamma, coef0 }, _) => Some((gamma * norm + coef0.abs()).powf(f64::from(*degree))),
            (_, Store::Precomputed(matrix)) => Some(matrix.largest()),
            // Nothing else is known of a caller's function.
            _ => Some(diagonal.iter().fold(0.0_f64, |most, k| most.max(k.abs()))),
        };
        Self { every, by_norm, largest }
    }

    /// The part of a sample with this squared norm.
    pub(crate) fn part(&self, norm: f64) -> f64 {
        self.every + self.by_norm * norm
    }
}
