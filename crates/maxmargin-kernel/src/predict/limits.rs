//! Limits of kernel values.

use crate::{Kernel, KernelError};

/// Returns an error if kernel values of a sample with this squared norm may not fit in `f32`. Large
/// distances are allowed: their kernel values are at most 1.
pub(super) fn check_norm(kernel: &Kernel, row: usize, norm: f64) -> Result<(), KernelError> {
    let most = if kernel.is_distance() { f64::MAX } else { f64::from(f32::MAX) };
    let value = kernel.value_bound(norm);
    if value.is_nan() || value.abs() > most { Err(KernelError::TooLarge { row: row + 1, value }) } else { Ok(()) }
}
