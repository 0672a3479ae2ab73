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

/// What the variables of a set have changed, from the α `before` to the α `after`.
pub(crate) struct Changes<'a> {
    pub(crate) set: &'a [usize],
    pub(crate) before: &'a [f64],
    pub(crate) after: &'a [f64],
}

impl Changes<'_> {
    /// The rows of those that have changed, and the changes of `s α`.
    pub(crate) fn of(&self, dual: &Dual) -> (Vec<usize>, Vec<f64>) {
        let each = self.set.iter().zip(self.before.iter().zip(self.after)).filter(|(_, (before, after))| before != after);
        each.map(|(&k, (before, after))| (dual.ids()[k], dual.sign()[k] * (after - before))).unzip()
    }

    /// Brings α and gradient of all up to date by their [`sums_of`].
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
