//! Products with the kernel matrix in `f64`, without storing it.

use crate::Gram;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par as Threads};
use maxmargin_data::Par;
use std::ops::Range;

/// Columns of one tile: the unit of parallel work.
const COLUMNS: usize = 1024;
/// Rows of one tile: 64 × 1,024 values fit in the second-level cache.
const IDS: usize = 64;

/// `F = K[columns, ids] · coef` in `f64`: `coef` is row-major `ids.len() × h`, the result row-major `columns.len() × h`.
///
/// Every kernel value is computed once for all `h` right-hand sides and never stored. Tiles and their order are fixed, so the
/// result has the same bits for every `par`. Rows of `coef` that are zero cost nothing.
///
/// # Panics
///
/// When `coef.len()` is not `ids.len() × h` or an index is out of range.
pub fn apply_exact(gram: &dyn Gram, ids: &[usize], coef: &[f64], h: usize, columns: Range<usize>, par: Par) -> Vec<f64> {
    assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
    assert!(columns.end <= gram.len(), "column {} of {}", columns.end, gram.len());
    let mut result = vec![0.0; columns.len() * h];
    if h == 0 {
        return result;
    }
    let used: Vec<usize> = (0..ids.len()).filter(|k| coef[k * h..(k + 1) * h].iter().any(|&c| c != 0.0)).collect();
    let coef: Vec<f64> = used.iter().flat_map(|k| &coef[k * h..(k + 1) * h]).copied().collect();
    let ids: Vec<usize> = used.iter().map(|&k| ids[k]).collect();
    par.for_chunks(&mut result, COLUMNS * h, |t, result| {
        let start = columns.start + t * COLUMNS;
        let count = result.len() / h;
        let mut sums = vec![0.0; h * count];
        let mut tile = vec![0.0; IDS * count];
        for (ids, coef) in ids.chunks(IDS).zip(coef.chunks(IDS * h)) {
            let tile = &mut tile[..ids.len() * count];
            gram.fill_exact(ids, start..start + count, tile);
            matmul(
                MatMut::from_row_major_slice_mut(&mut sums, h, count),
                Accum::Add,
                MatRef::from_column_major_slice(coef, h, ids.len()),
                MatRef::from_row_major_slice(tile, ids.len(), count),
                1.0,
                Threads::Seq,
            );
        }
        for (j, out) in result.chunks_exact_mut(h).enumerate() {
            out.iter_mut().enumerate().for_each(|(c, o)| *o = sums[c * count + j]);
        }
    });
    result
}
