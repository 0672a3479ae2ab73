//! Passes over rows, in chunks whose size does not depend on the number of threads.

use super::FeatureRows;
use maxmargin_data::Par;

/// Rows per task of a pass that writes one number per row.
pub const CHUNK: usize = 4096;

/// Largest number of partial sums of w.
const PARTS: usize = 16;

/// Computes `out_k = x_{ids[k]} · w`.
pub fn products<R: FeatureRows>(rows: &R, ids: &[usize], w: &[f64], out: &mut [f64], par: Par) {
    par.for_chunks(out, CHUNK, |chunk, out| {
        for (out, &id) in out.iter_mut().zip(&ids[chunk * CHUNK..]) {
            *out = rows.dot(id, w);
        }
    });
}

/// Computes `Σ_k coef_k x_{ids[k]}` in partial sums that are added in order. Their number does not
/// depend on the threads.
pub fn combine<R: FeatureRows>(rows: &R, ids: &[usize], coef: &[f64], par: Par) -> Vec<f64> {
    let used = coef.iter().filter(|c| **c != 0.0).count();
    // Clearing and adding a partial sum must not cost more than its rows.
    let work = used * (rows.entries() / rows.len().max(1) + 1);
    let parts = (work / (4 * rows.width() + 1)).clamp(1, PARTS);
    let size = ids.len().div_ceil(parts).max(1);
    let sums = par.map(ids.len().div_ceil(size), |part| {
        let mut w = vec![0.0; rows.width()];
        let range = part * size..((part + 1) * size).min(ids.len());
        for (&id, &c) in ids[range.clone()].iter().zip(&coef[range]) {
            if c != 0.0 {
                rows.add(id, c, &mut w);
            }
        }
        w
    });
    let mut sums = sums.into_iter();
    let mut w = sums.next().unwrap_or_else(|| vec![0.0; rows.width()]);
    for part in sums {
        w.iter_mut().zip(part).for_each(|(w, p)| *w += p);
    }
    w
}
