//! Queries so far from 0 that their squared distances may overflow.

use crate::Kernel;
use crate::predict::coefficients::EMPTY;
use crate::predict::columns::Columns;
use maxmargin_data::{Row, Samples};

/// Returns the kernel's gamma if the kernel values of a query with this squared norm need
/// [`values`].
pub(super) fn gamma_if_far(kernel: &Kernel, norm: f64) -> Option<f64> {
    kernel.gamma().filter(|_| kernel.is_distance() && !kernel.accepts_norm(norm))
}

/// Computes the RBF kernel values of a query and the vectors in `order`, 0 at empty places.
///
/// Differences are multiplied by `√γ` before they are squared. A square that still overflows has
/// the kernel value 0, and no operation has infinite operands of opposite signs.
pub(super) fn values(gamma: f64, support: &Samples, order: &[u32], columns: &Columns, query: Row<'_>, out: &mut [f64]) {
    let root = gamma.sqrt();
    let square = |difference: f64| {
        let scaled = root * difference;
        scaled * scaled
    };
    let (mut features, mut entries, mut other) = (Vec::new(), Vec::new(), 0.0);
    query.for_each(|k, v| match columns.place(k) {
        Some(k) => {
            features.push(k as u32);
            entries.push(v);
        }
        None => other += square(v),
    });
    for (&k, value) in order.iter().zip(out) {
        if k == EMPTY {
            *value = 0.0;
            continue;
        }
        let mut sum = other;
        Row::Sparse(&features, &entries).for_each_pair(support.row(k as usize), |_, x, z| sum += square(x - z));
        *value = (-sum).exp();
    }
}
