//! Passes over all rows for all classes at once. Numbers of one row, or of one column of the
//! weights, are neighbours.

use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;

/// Rows per task.
pub(super) const CHUNK: usize = 512;

/// Partial sums of the weights.
const PARTS: usize = 8;

/// Returns `w_m·x_i` of every row and class, row by row.
pub(super) fn scores<R: FeatureRows>(rows: &R, w: &[f64], classes: usize, par: Par) -> Vec<f64> {
    let mut all = vec![0.0; rows.len() * classes];
    par.for_chunks(&mut all, CHUNK * classes, |chunk, scores| {
        for (i, scores) in (chunk * CHUNK..).zip(scores.chunks_exact_mut(classes)) {
            rows.each(i, |j, v| {
                let w = &w[j * classes..(j + 1) * classes];
                scores.iter_mut().zip(w).for_each(|(score, w)| *score += v * w);
            });
        }
    });
    all
}

/// Returns the weights `Σ_i α_im x_i`, column by column. The bits do not depend on `par`.
pub(super) fn weights_of<R: FeatureRows>(rows: &R, alpha: &[f64], classes: usize, par: Par) -> Vec<f64> {
    let size = rows.len().div_ceil(PARTS).max(1);
    let parts = par.map(rows.len().div_ceil(size), |part| {
        let mut w = vec![0.0; rows.width() * classes];
        let mut own = Vec::with_capacity(classes);
        for i in part * size..rows.len().min((part + 1) * size) {
            own.clear();
            own.extend(alpha[i * classes..(i + 1) * classes].iter().copied().enumerate().filter(|of| of.1 != 0.0));
            if !own.is_empty() {
                rows.each(i, |j, v| {
                    let w = &mut w[j * classes..(j + 1) * classes];
                    own.iter().for_each(|&(m, alpha)| w[m] += alpha * v);
                });
            }
        }
        w
    });
    let mut sum = vec![0.0; rows.width() * classes];
    parts.iter().for_each(|part| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    sum
}
