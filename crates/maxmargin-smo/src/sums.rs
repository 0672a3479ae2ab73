//! What changes of some variables do to the gradients of all, without any of their rows.

use maxmargin_core::Dual;
use maxmargin_data::{Asking, Halted};
use maxmargin_kernel::{Rows, apply_asking};
use std::ops::Range;

/// `Σ_r coef_r K[ids_r, ·]` at every row that a variable of `dual` belongs to, 0 at others.
///
/// # Errors
///
/// When it was called off.
pub(crate) fn sums_of(dual: &Dual, rows: &Rows, ids: &[usize], coef: &[f64], asking: &Asking) -> Result<Vec<f64>, Halted> {
    let mut sums = vec![0.0; rows.gram().len()];
    for columns in columns(dual) {
        sums[columns.clone()].copy_from_slice(&apply_asking(rows.gram(), ids, coef, columns, rows.par(), asking)?);
    }
    Ok(sums)
}

/// The rows that variables belong to, in runs; several variables may belong to one.
fn columns(dual: &Dual) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = dual.segments().iter().map(|segment| segment.ids.clone()).collect();
    runs.sort_unstable_by_key(|run| run.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for run in runs {
        match joined.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => joined.push(run),
        }
    }
    joined
}
