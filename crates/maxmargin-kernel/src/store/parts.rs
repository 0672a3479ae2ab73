//! Parts of the samples, which threads prepare side by side.

use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// Samples of a part: whole panels of both number types.
pub(crate) const PART: usize = 512;

/// Calls `of` for each part of `len` samples, and `each` with the results in order. A sample takes
/// so many operations.
///
/// # Errors
///
/// When `control` cancels the work.
pub(crate) fn for_parts<T: Send>(
    len: usize,
    operations: u64,
    par: Par,
    control: &RunControl,
    of: impl Fn(Range<usize>) -> T + Sync,
    each: impl FnMut(T),
) -> Result<(), Cancelled> {
    let (together, mut each) = (PART * par.threads(), each);
    for first in (0..len).step_by(together) {
        let end = len.min(first + together);
        control.check(operations.saturating_mul(((end - first) / par.threads()) as u64))?;
        let parts = par.map((end - first).div_ceil(PART), |t| {
            let start = first + t * PART;
            of(start..end.min(start + PART))
        });
        parts.into_iter().for_each(&mut each);
    }
    Ok(())
}
