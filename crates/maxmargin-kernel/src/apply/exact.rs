//! Products with the kernel matrix in `f64`.

use super::groups::{CoefficientGroup, SampleTerms, coefficient_groups};
use super::scratch::with_tile;
use super::symmetric;
use crate::Gram;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par as Threads};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// Columns of one tile: the unit of parallel work.
pub(super) const COLUMNS: usize = 1024;
/// Rows of one tile: 64 × 1,024 values fit in the second-level cache.
pub(super) const IDS: usize = 64;

/// Computes `F = K[columns, ids] · coef` in `f64`. `coef` is row-major `ids.len() × h`, the result
/// row-major `columns.len() × h`.
///
/// Every kernel value is computed once for all `h` right-hand sides and not stored. Tiles and their
/// order are fixed, so the bits of the result do not depend on `par`. Zero rows of `coef` cost
/// nothing. Where one right-hand side has most samples, one half of the symmetric matrix is
/// computed. Gaussians of many samples of few features are summed without their values
/// ([`GaussianLattice`](crate::GaussianLattice)).
///
/// # Errors
///
/// When `control` ends the run between two groups of tiles.
///
/// # Panics
///
/// When `coef.len()` is not `ids.len() × h` or an index is out of range.
pub fn apply_exact(
    gram: &dyn Gram,
    ids: &[usize],
    coef: &[f64],
    h: usize,
    columns: Range<usize>,
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
    if h == 0 {
        return Ok(Vec::new());
    }
    apply_exact_to(gram, &SampleTerms::of_matrix(ids, coef, h), h, std::slice::from_ref(&columns), par, control)
}

/// [`apply_exact`] for the columns of `runs`, one run after the other, with `h` coefficients of
/// each sample.
pub(crate) fn apply_exact_to(
    gram: &dyn Gram,
    terms: &SampleTerms,
    h: usize,
    runs: &[Range<usize>],
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    assert!(runs.iter().all(|run| run.end <= gram.len()), "columns {runs:?} of {}", gram.len());
    let columns: usize = runs.iter().map(Range::len).sum();
    if gram.kept_exact().is_none()
        && let Some(lattice) = gram.lattice()
        && lattice.is_cheaper(terms.samples(), columns, h, gram.value_cost())
    {
        return lattice.sums(|p| terms.of_column(p).collect(), h, runs, par, control);
    }
    let is_whole = matches!(runs, [run] if *run == (0..gram.len()));
    if h == 1 && is_whole && symmetric::is_cheaper(gram, terms.samples()) {
        return symmetric::product(gram, &terms.dense(gram.len()), par, control);
    }
    let mut result = vec![0.0; columns * h];
    let groups = coefficient_groups(terms);
    // The cost of a kernel value and of its products.
    let per_value = gram.value_operations() + h as u64 / 4;
    // Enough tiles between two checks for cancellation that threads rarely wait for each other.
    let tiles = (RunControl::operations_between_checks() / (per_value * (IDS * COLUMNS) as u64)).max(1) as usize;
    let product = TiledProduct { gram, groups, h, per_value, tiles, par };
    let strip = COLUMNS * par.threads();
    for (columns, result) in tiles_of(runs).chunks(par.threads()).zip(result.chunks_mut(strip * h)) {
        let sums = product.strip(columns, result.len() / h, control)?;
        product.write(&sums, result);
    }
    Ok(result)
}

/// The columns of each tile, as runs: [`COLUMNS`] in each tile but the last.
fn tiles_of(runs: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut tiles: Vec<Vec<Range<usize>>> = Vec::new();
    let mut room = 0;
    for run in runs {
        let mut start = run.start;
        while start < run.end {
            if room == 0 {
                tiles.push(Vec::new());
                room = COLUMNS;
            }
            let part = start..run.end.min(start + room);
            (start, room) = (part.end, room - part.len());
            tiles.last_mut().expect("pushed before").push(part);
        }
    }
    tiles
}

/// Writes `K[rows, columns]` for columns in runs, row-major.
fn fill_runs(gram: &dyn Gram, rows: &[usize], runs: &[Range<usize>], out: &mut [f64]) {
    if let [run] = runs {
        return gram.fill_exact(rows, run.clone(), out);
    }
    let width = out.len() / rows.len().max(1);
    let (mut block, mut at) = (Vec::new(), 0);
    for run in runs {
        block.resize(rows.len() * run.len(), 0.0);
        gram.fill_exact(rows, run.clone(), &mut block);
        for (row, out) in block.chunks_exact(run.len()).zip(out.chunks_exact_mut(width)) {
            out[at..at + run.len()].copy_from_slice(row);
        }
        at += run.len();
    }
}

/// A product with the kernel matrix, computed in strips of columns: one tile per thread.
struct TiledProduct<'g> {
    gram: &'g dyn Gram,
    groups: Vec<CoefficientGroup>,
    /// Number of right-hand sides.
    h: usize,
    /// Operations for one kernel value.
    per_value: u64,
    /// Tiles of each thread between two checks for cancellation.
    tiles: usize,
    par: Par,
}

impl TiledProduct<'_> {
    /// Sums of one column: one for each right-hand side, then the sum that all of them share.
    fn sums_per_column(&self) -> usize {
        self.h + 1
    }

    /// The sums of the `count` columns of some tiles, tile by tile; a tile has its columns
    /// consecutively for each sum.
    fn strip(&self, tiles: &[Vec<Range<usize>>], count: usize, control: &RunControl) -> Result<Vec<f64>, Cancelled> {
        let kept = self.sums_per_column();
        let mut sums = vec![0.0; count * kept];
        for group in &self.groups {
            let width = group.columns.len();
            for (ids, coef) in group.ids.chunks(IDS * self.tiles).zip(group.coef.chunks(IDS * self.tiles * width)) {
                control.check(self.per_value * (ids.len() * COLUMNS.min(count)) as u64)?;
                self.par.for_chunks(&mut sums, COLUMNS * kept, |t, sums| {
                    self.add_tile(ids, coef, &group.columns, &tiles[t], sums);
                });
            }
        }
        Ok(sums)
    }

    /// Adds the products of the samples `ids` to the sums of the tile with the columns of `runs`.
    fn add_tile(&self, ids: &[usize], coef: &[f64], columns: &[usize], runs: &[Range<usize>], sums: &mut [f64]) {
        let (width, count) = (columns.len(), sums.len() / self.sums_per_column());
        let mut part = vec![0.0; width * count];
        with_tile(IDS * count, |values| {
            for (ids, coef) in ids.chunks(IDS).zip(coef.chunks(IDS * width)) {
                let tile = &mut values[..ids.len() * count];
                fill_runs(self.gram, ids, runs, tile);
                matmul(
                    MatMut::from_row_major_slice_mut(&mut part, width, count),
                    Accum::Add,
                    MatRef::from_column_major_slice(coef, width, ids.len()),
                    MatRef::from_row_major_slice(tile, ids.len(), count),
                    1.0,
                    Threads::Seq,
                );
            }
        });
        for (part, column) in part.chunks_exact(count).zip(columns) {
            sums[column * count..][..count].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Writes the sums of a strip to its rows of the result.
    fn write(&self, sums: &[f64], result: &mut [f64]) {
        let (h, kept) = (self.h, self.sums_per_column());
        let common = self.groups.iter().any(|group| group.columns.last() == Some(&h));
        for (sums, result) in sums.chunks(COLUMNS * kept).zip(result.chunks_mut(COLUMNS * h)) {
            let count = sums.len() / kept;
            for (j, out) in result.chunks_exact_mut(h).enumerate() {
                out.iter_mut().enumerate().for_each(|(c, o)| *o = sums[c * count + j]);
                if common {
                    out.iter_mut().for_each(|o| *o += sums[h * count + j]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, KernelGram};
    use maxmargin_data::Samples;
    use maxmargin_data::generate::Generator;
    use std::ops::ControlFlow;

    fn gram(samples: &Samples, kernel: Kernel) -> KernelGram {
        KernelGram::new(samples, kernel, &RunControl::unlimited()).expect("a kernel")
    }

    /// Sums over many samples of few features use the lattice, those over few do not, and neither
    /// do kernels and samples that have none.
    #[test]
    fn the_cheaper_way_is_taken() {
        let banana = |n: usize| Generator::Banana.generate(n, None, 3).expect("a generator").samples;
        let rbf = |gamma: f64| Kernel::Rbf { gamma };
        let plane = gram(&banana(20_000), rbf(1.0));
        let lattice = plane.lattice().expect("two features over some hundred cells");
        let cost = plane.value_cost();
        assert!(lattice.is_cheaper(20_000, 20_000, 1, cost) && !lattice.is_cheaper(20, 20_000, 1, cost));
        assert!(gram(&banana(4000), rbf(1.0)).lattice().is_none(), "few samples");
        assert!(gram(&banana(5000), rbf(1e6)).lattice().is_none(), "too many cells");
        assert!(gram(&banana(5000), Kernel::Linear).lattice().is_none(), "no Gaussian");
        let rows: Vec<[f64; 4]> = (0..5000).map(|i| [2, 3, 5, 7].map(|k| f64::from(i % k) + 0.3)).collect();
        assert!(gram(&Samples::from_rows(&rows).expect("rows"), rbf(0.1)).lattice().is_none(), "four features");
    }

    /// Integers have features that fill a word, which change nothing; nor does a constant one.
    #[test]
    fn sums_over_integers_are_those_of_all_values() {
        let rows: Vec<[f64; 3]> = (0..9000).map(|i| [i % 11, i % 250, 3].map(f64::from)).collect();
        let gram = gram(&Samples::from_rows(&rows).expect("rows"), Kernel::Rbf { gamma: 2e-4 });
        assert!(gram.lattice().is_some_and(|lattice| lattice.is_cheaper(9000, 9000, 1, gram.value_cost())));
        let (ids, control) = ((0..9000).collect::<Vec<usize>>(), RunControl::unlimited());
        let coef: Vec<f64> = ids.iter().map(|id| (id % 17) as f64 - 8.3).collect();
        let sums = apply_exact(&gram, &ids, &coef, 1, 0..9000, Par::Seq, &control).expect("unlimited");
        let mut row = vec![0.0; 9000];
        let mass: f64 = coef.iter().map(|c| c.abs()).sum();
        for column in (0..9000).step_by(500) {
            gram.fill_exact(&[column], 0..9000, &mut row);
            let terms: Vec<f64> = coef.iter().zip(&row).map(|(c, value)| c * value).collect();
            let sum: f64 = terms.chunks(64).map(|terms| terms.iter().sum::<f64>()).sum();
            assert!((sums[column] - sum).abs() <= 8.0 * f64::EPSILON * mass, "{} {sum}", sums[column]);
        }
    }

    #[test]
    fn a_run_ends_between_two_groups_of_columns() {
        let data = Generator::Banana.generate(20_000, None, 3).expect("a generator");
        let gram = gram(&data.samples, Kernel::Rbf { gamma: 1.0 });
        let ids: Vec<usize> = (0..20_000).collect();
        let stopped = RunControl::new(|_| ControlFlow::Break(()));
        assert!(apply_exact(&gram, &ids, &vec![1.0; 20_000], 1, 0..20_000, Par::Seq, &stopped).is_err());
    }
}
