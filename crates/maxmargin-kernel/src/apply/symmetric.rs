//! Products of the whole kernel matrix with one vector, from one half of its values.

use super::scratch::with_tile;
use crate::Gram;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::sums::{add_scaled, dot};
use std::ops::Range;

/// Rows of a block, and columns of a tile of it: 64 × 1,024 values fit in the second-level cache.
const ROWS: usize = 64;
const COLUMNS: usize = 1024;

/// The fewest samples: with fewer, blocks on the diagonal are most of the matrix.
const FEWEST: usize = 512;

/// The least cost of a value ([`Gram::value_cost`]): a cheaper one costs as much as its two
/// products.
const COSTLY: f64 = 0.6;

/// Returns whether one half of all values costs noticeably less than the rows of these many
/// samples, of which all columns are wanted: a half of n² values beside their number times n.
pub(super) fn is_cheaper(gram: &dyn Gram, samples: usize) -> bool {
    let n = gram.len();
    n >= FEWEST && 5 * samples >= 3 * n && gram.value_cost() > COSTLY && gram.kept_exact().is_none()
}

/// Computes `K · coef` in `f64`, one coefficient and one sum for each sample. A value `K_ij` is
/// computed once for the sums of `i` and `j`. Blocks and their order are fixed, so the bits of the
/// result do not depend on `par`.
///
/// # Errors
///
/// When `control` ends the run between two groups of blocks.
pub(super) fn product(gram: &dyn Gram, coef: &[f64], par: Par, control: &RunControl) -> Result<Vec<f64>, Cancelled> {
    let n = gram.len();
    let mut sums = vec![0.0; n];
    let blocks: Vec<Range<usize>> = (0..n).step_by(ROWS).map(|first| first..n.min(first + ROWS)).collect();
    let per_value = gram.value_operations();
    // Enough blocks between two checks for cancellation that threads rarely wait for each other.
    let together = (RunControl::operations_between_checks() / (per_value * (ROWS * n) as u64)).max(1) as usize * par.threads();
    for blocks in blocks.chunks(together) {
        let end = blocks[blocks.len() - 1].end;
        control.check(per_value * (blocks.len().div_ceil(par.threads()) * ROWS * end) as u64)?;
        for part in par.map(blocks.len(), |b| of_block(gram, blocks[b].clone(), coef)) {
            sums.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        }
    }
    Ok(sums)
}

/// The part of the sums of the samples up to the end of `rows` that is from the values of `rows`
/// with these samples.
fn of_block(gram: &dyn Gram, rows: Range<usize>, coef: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; rows.end];
    let ids: Vec<usize> = rows.clone().collect();
    with_tile(ROWS * COLUMNS, |values| {
        for first in (0..rows.end).step_by(COLUMNS) {
            let columns = first..rows.end.min(first + COLUMNS);
            let tile = &mut values[..ids.len() * columns.len()];
            gram.fill_exact(&ids, columns.clone(), tile);
            // Values of two rows of the block are there twice, once for each sum.
            let mirrored = columns.len().min(rows.start.saturating_sub(first));
            for (&id, row) in ids.iter().zip(tile.chunks_exact(columns.len())) {
                add_scaled(&mut sums[first..first + mirrored], coef[id], &row[..mirrored]);
                sums[id] += dot(&coef[columns.clone()], row);
            }
        }
    });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FnGram, Kernel, KernelGram, apply_exact};
    use maxmargin_data::generate::Generator;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Coefficients of the first samples, with zeros between them.
    fn coefficients(n: usize, zero_each: usize) -> (Vec<usize>, Vec<f64>) {
        let ids: Vec<usize> = (0..n).filter(|id| id % zero_each != 0).collect();
        let coef = ids.iter().map(|&id| ((id * 31) % 17) as f64 - 8.3).collect();
        (ids, coef)
    }

    #[test]
    fn the_product_is_that_of_all_rows() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        for n in [512, 575, 1100, 2111] {
            let data = Generator::Banana.generate(n, None, 3).expect("a generator");
            let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }, &RunControl::unlimited()).expect("a kernel");
            let (ids, coef) = coefficients(n, 3);
            let mut all = vec![0.0; n];
            ids.iter().zip(&coef).for_each(|(&id, c)| all[id] = *c);
            let found = product(&gram, &all, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            let with_threads = pool.install(|| product(&gram, &all, Par::Pool, &RunControl::unlimited()).expect("unlimited"));
            assert_eq!(found, with_threads, "{n}");
            // Columns without the last are computed from the rows of all terms.
            let rows = apply_exact(&gram, &ids, &coef, 1, 0..n - 1, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            let scale: f64 = coef.iter().map(|c| c.abs()).sum();
            assert!(found.iter().zip(&rows).all(|(a, b)| (a - b).abs() <= 1e-14 * scale), "{n}");
        }
    }

    /// Of most samples, one half of the matrix is computed; of few, their rows are.
    #[test]
    fn the_cheaper_values_are_computed() {
        let n = 1000;
        let counted = AtomicUsize::new(0);
        let value = |i: usize, j: usize| {
            counted.fetch_add(1, Ordering::Relaxed);
            1.0 / (1.0 + i.abs_diff(j) as f64)
        };
        let gram = FnGram::new(n, value);
        for (zero_each, most) in [(4, n * n / 2 + n * ROWS), (2, n * n / 2)] {
            let (ids, coef) = coefficients(n, zero_each);
            counted.store(0, Ordering::Relaxed);
            let control = RunControl::unlimited();
            let found = apply_exact(&gram, &ids, &coef, 1, 0..n, Par::Seq, &control).expect("unlimited");
            let values = counted.load(Ordering::Relaxed);
            assert!(values <= most, "{zero_each}: {values}");
            let of_first: f64 = ids.iter().zip(&coef).map(|(&id, c)| c / (1.0 + id as f64)).sum();
            assert!((found[0] - of_first).abs() < 1e-12 * n as f64);
        }
    }
}
