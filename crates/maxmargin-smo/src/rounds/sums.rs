//! The effect of changes of some α on all gradients, computed without their rows.

use maxmargin_core::Dual;
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_kernel::{Rows, apply};
use std::ops::Range;

/// Returns `Σ_r coef_r K[ids_r, ·]` at every row that a variable of `dual` belongs to, 0 at others.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn sums_of(
    dual: &Dual,
    rows: &Rows,
    ids: &[usize],
    coef: &[f64],
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let mut sums = vec![0.0; rows.gram().len()];
    for columns in columns(dual) {
        sums[columns.clone()].copy_from_slice(&apply(rows.gram(), ids, coef, columns, rows.par(), control)?);
    }
    Ok(sums)
}

/// Returns the rows of the variables as runs. Several variables may belong to one row.
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

/// The changes of a set of variables, from the α `before` to the α `after`.
pub(crate) struct Changes<'a> {
    pub(crate) set: &'a [usize],
    pub(crate) before: &'a [f64],
    pub(crate) after: &'a [f64],
}

impl Changes<'_> {
    /// Returns the rows of the changed variables, and the changes of `s α`.
    pub(crate) fn of(&self, dual: &Dual) -> (Vec<usize>, Vec<f64>) {
        let each = self.set.iter().zip(self.before.iter().zip(self.after)).filter(|(_, (before, after))| before != after);
        each.map(|(&k, (before, after))| (dual.ids()[k], dual.sign()[k] * (after - before))).unzip()
    }

    /// Updates α and the gradient of all variables by the result of [`sums_of`].
    pub(crate) fn make(&self, dual: &Dual, sums: &[f64], alpha: &mut [f64], gradient: &mut [f64]) {
        for (k, gradient) in gradient.iter_mut().enumerate() {
            *gradient += dual.sign()[k] * sums[dual.ids()[k]];
        }
        for (&k, (before, after)) in self.set.iter().zip(self.before.iter().zip(self.after)) {
            gradient[k] += dual.ridge_of(k) * (after - before);
            alpha[k] = *after;
        }
    }
}
