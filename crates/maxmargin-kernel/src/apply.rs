//! Products with the kernel matrix and parts of it, computed in tiles and without storing its rows.

use crate::Gram;
use crate::shares::shares;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par as Threads};
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_simd::sums::{add_scaled, dot};
use std::ops::Range;

/// Columns of one tile: the unit of parallel work.
const COLUMNS: usize = 1024;
/// Rows of one tile: 64 × 1,024 values fit in the second-level cache.
const IDS: usize = 64;

/// `F = K[columns, ids] · coef` in `f64`: `coef` is row-major `ids.len() × h`, the result row-major
/// `columns.len() × h`.
///
/// Every kernel value is computed once for all `h` right-hand sides and never stored. Tiles and
/// their order are fixed, so the result has the same bits for every `par`. Rows of `coef` that are
/// zero cost nothing.
///
/// # Panics
///
/// When `coef.len()` is not `ids.len() × h` or an index is out of range.
pub fn apply_exact(gram: &dyn Gram, ids: &[usize], coef: &[f64], h: usize, columns: Range<usize>, par: Par) -> Vec<f64> {
    apply_exact_asking(gram, ids, coef, h, columns, par, &Asking::nobody()).unwrap_or_default()
}

/// [`apply_exact`], with the same bits, asking between groups of tiles whether to go on.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// As [`apply_exact`].
pub fn apply_exact_asking(
    gram: &dyn Gram,
    ids: &[usize],
    coef: &[f64],
    h: usize,
    columns: Range<usize>,
    par: Par,
    asking: &Asking,
) -> Result<Vec<f64>, Halted> {
    assert_eq!(coef.len(), ids.len() * h, "coefficients of {} samples, {h} each", ids.len());
    assert!(columns.end <= gram.len(), "column {} of {}", columns.end, gram.len());
    let mut result = vec![0.0; columns.len() * h];
    if h == 0 {
        return Ok(result);
    }
    let shares = shares(ids, coef, h);
    // A group is what all threads do between two questions: some tiles of some columns, each tile's
    // sums kept until its last ids.
    let group = COLUMNS * par.threads();
    // Values and products with them; pieces that are too small are spent on waiting for each other.
    let per_value = gram.value_operations() + h as u64 / 4;
    let tiles = (Asking::piece() / (per_value * (IDS * COLUMNS) as u64)).max(1) as usize;
    // Behind those of each right-hand side lie the sums that all have.
    let (kept, common) = (h + 1, shares.iter().any(|share| share.columns.last() == Some(&h)));
    for (g, result) in result.chunks_mut(group * h).enumerate() {
        let mut sums = vec![0.0; result.len() / h * kept];
        for share in &shares {
            let width = share.columns.len();
            for (ids, coef) in share.ids.chunks(IDS * tiles).zip(share.coef.chunks(IDS * tiles * width)) {
                asking.spend(per_value * (ids.len() * COLUMNS.min(result.len() / h)) as u64)?;
                par.for_chunks(&mut sums, COLUMNS * kept, |t, sums| {
                    let start = columns.start + g * group + t * COLUMNS;
                    let count = sums.len() / kept;
                    let mut tile = vec![0.0; IDS * count];
                    let mut part = vec![0.0; width * count];
                    for (ids, coef) in ids.chunks(IDS).zip(coef.chunks(IDS * width)) {
                        let tile = &mut tile[..ids.len() * count];
                        gram.fill_exact(ids, start..start + count, tile);
                        matmul(
                            MatMut::from_row_major_slice_mut(&mut part, width, count),
                            Accum::Add,
                            MatRef::from_column_major_slice(coef, width, ids.len()),
                            MatRef::from_row_major_slice(tile, ids.len(), count),
                            1.0,
                            Threads::Seq,
                        );
                    }
                    for (part, column) in part.chunks_exact(count).zip(&share.columns) {
                        sums[column * count..][..count].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                    }
                });
            }
        }
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
    Ok(result)
}

/// Columns of one tile in `f32`, at most: a tile of sums stays in the first-level cache.
const SINGLE_COLUMNS: usize = 2048;

/// What a constant that is left out of values in `f32` adds to sums of them with these
/// coefficients.
fn constant(gram: &dyn Gram, coef: &[f64]) -> f64 {
    if gram.base() == 0.0 { 0.0 } else { gram.base() * coef.iter().sum::<f64>() }
}

/// `Σ_r coef_r K[ids_r, columns]` from kernel values in `f32`, summed in `f64`; one value per
/// column.
///
/// What [`crate::Rows`] would keep for the next product is computed anew in each: where most of the
/// cost of a kernel value is the memory that it is written to, that is the cheaper of the two.
/// Tiles and their order are fixed: the same bits for every `par`.
///
/// # Panics
///
/// When there is not one coefficient per id or an index is out of range.
pub fn apply(gram: &dyn Gram, ids: &[usize], coef: &[f64], columns: Range<usize>, par: Par) -> Vec<f64> {
    apply_asking(gram, ids, coef, columns, par, &Asking::nobody()).unwrap_or_default()
}

/// [`apply`], with the same bits, asking between groups of tiles whether to go on.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// As [`apply`].
pub fn apply_asking(
    gram: &dyn Gram,
    ids: &[usize],
    coef: &[f64],
    columns: Range<usize>,
    par: Par,
    asking: &Asking,
) -> Result<Vec<f64>, Halted> {
    assert_eq!(coef.len(), ids.len(), "one coefficient per sample");
    assert!(columns.end <= gram.len(), "column {} of {}", columns.end, gram.len());
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, ids.len().max(1)), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut result = vec![constant(gram, coef); columns.len()];
    let per_value = gram.value_operations();
    let tiles = (Asking::piece() / (per_value * (height * width) as u64)).max(1) as usize;
    // Few rows of many columns: a thread that waits for work of a tenth of a millisecond waits as
    // long as that.
    let tall = (ids.len().clamp(1, height * tiles) * width) as u64;
    let group = width * par.threads() * (Asking::piece() / (per_value * tall)).max(1) as usize;
    for (g, sums) in result.chunks_mut(group).enumerate() {
        for (ids, coef) in ids.chunks(height * tiles).zip(coef.chunks(height * tiles)) {
            asking.spend(per_value * (ids.len() * width.min(sums.len())) as u64)?;
            par.for_chunks(sums, width, |t, sums| {
                let start = columns.start + g * group + t * width;
                let count = sums.len();
                let mut block = vec![0.0; height * count];
                for (ids, coef) in ids.chunks(height).zip(coef.chunks(height)) {
                    let block = &mut block[..ids.len() * count];
                    gram.fill(ids, start..start + count, block);
                    for (row, &c) in block.chunks_exact(count).zip(coef) {
                        add_scaled(sums, c, row);
                    }
                }
            });
        }
    }
    Ok(result)
}

/// `Σ_l coef_l K[row, l]` over all samples `l` for each of `rows`, from kernel values in `f32`,
/// summed in `f64`. For few rows and many coefficients: values of zero coefficients are computed as
/// well.
///
/// Tiles and their order are fixed: the same bits for every `par`.
///
/// # Panics
///
/// When there is not one coefficient per sample or an index is out of range.
pub fn products(gram: &dyn Gram, rows: &[usize], coef: &[f64], par: Par) -> Vec<f64> {
    assert_eq!(coef.len(), gram.len(), "one coefficient per sample");
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, 64), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut sums = vec![constant(gram, coef); rows.len()];
    par.for_chunks(&mut sums, height, |t, sums| {
        let ids = &rows[t * height..t * height + sums.len()];
        let mut block = vec![0.0; ids.len() * width];
        for (w, coef) in coef.chunks(width).enumerate() {
            let block = &mut block[..ids.len() * coef.len()];
            gram.fill(ids, w * width..w * width + coef.len(), block);
            for (sum, row) in sums.iter_mut().zip(block.chunks_exact(coef.len())) {
                *sum += dot(coef, row);
            }
        }
    });
    sums
}

/// Writes `K[rows, columns]` in `f32` for columns in any order into `out`, whose rows begin
/// `stride` apart.
///
/// Tiles that hold none of the columns are not computed; of the others all of it is, and most of it
/// thrown away where columns are few.
///
/// With `own`, row `r` is also column `own + r`, and columns behind that may be left out: they are
/// rows, too. Which of them are written depends on tiles only, and columns in ascending order leave
/// out most.
///
/// # Panics
///
/// When `out` is smaller than `rows.len() × stride`, `stride` is smaller than the number of
/// columns, or an index is out of range.
pub fn submatrix(
    gram: &dyn Gram,
    rows: &[usize],
    columns: &[usize],
    own: Option<usize>,
    stride: usize,
    out: &mut [f32],
    par: Par,
) {
    assert!(stride >= columns.len() && out.len() >= rows.len() * stride, "room for {} × {}", rows.len(), columns.len());
    if rows.is_empty() || columns.is_empty() {
        return;
    }
    let tile = gram.tile();
    let (height, width) = (tile.rows.clamp(1, 64), tile.columns.clamp(1, SINGLE_COLUMNS));
    let mut places: Vec<(usize, usize)> = columns.iter().copied().enumerate().map(|(place, column)| (column, place)).collect();
    places.sort_unstable();
    let base = gram.base();
    let value = |held: f32| if base == 0.0 { held } else { (f64::from(held) + base) as f32 };
    let tiles: Vec<&[(usize, usize)]> = places.chunk_by(|a, b| a.0 / width == b.0 / width).collect();
    par.for_chunks(&mut out[..rows.len() * stride], height * stride, |t, out| {
        let ids = &rows[t * height..rows.len().min((t + 1) * height)];
        // Behind the last row's own column nothing is wanted.
        let end = own.map_or(usize::MAX, |own| own + t * height + ids.len());
        let mut block = vec![0.0; ids.len() * width];
        for places in &tiles {
            let mut wanted = places.iter().filter(|(_, place)| *place < end);
            let Some(first) = wanted.next() else { continue };
            let last = wanted.next_back().unwrap_or(first);
            let count = last.0 + 1 - first.0;
            let block = &mut block[..ids.len() * count];
            gram.fill(ids, first.0..first.0 + count, block);
            for (row, out) in block.chunks_exact(count).zip(out.chunks_mut(stride)) {
                for &(column, place) in places.iter().filter(|(_, place)| *place < end) {
                    out[place] = value(row[column - first.0]);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{apply, apply_exact, products, shares, submatrix};
    use crate::{Gram, Kernel, KernelGram};
    use maxmargin_data::{Par, generate::Generator};

    #[test]
    fn products_and_parts_are_those_of_the_entries() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let data = Generator::Banana.generate(5000, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }).expect("a kernel");
        let ids: Vec<usize> = (0..700).map(|i| i * 7 % 5000).collect();
        let coef: Vec<f64> = (0..700).map(|i| f64::from(i % 13) - 6.0).collect();
        let sums = apply(&gram, &ids, &coef, 100..4900, Par::Seq);
        assert_eq!(sums, pool.install(|| apply(&gram, &ids, &coef, 100..4900, Par::Pool)));
        let exact = apply_exact(&gram, &ids, &coef, 1, 100..4900, Par::Seq);
        // Each of the values is off by at most 1e-6 of 1.
        let most: f64 = coef.iter().map(|c| 1e-6 * c.abs()).sum();
        assert!(sums.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= most));

        let mut spread = vec![0.0; 5000];
        ids.iter().zip(&coef).for_each(|(&id, c)| spread[id] += c);
        let rows: Vec<usize> = (0..150).map(|i| 4899 - i * 31).collect();
        let found = products(&gram, &rows, &spread, Par::Seq);
        assert_eq!(found, pool.install(|| products(&gram, &rows, &spread, Par::Pool)));
        assert!(found.iter().zip(&rows).all(|(a, row)| (a - exact[row - 100]).abs() <= most));

        // The lower half of a symmetric part, rows from 100 on.
        let mut lower = vec![f32::NAN; 600 * 700];
        pool.install(|| submatrix(&gram, &ids[100..], &ids, Some(100), 700, &mut lower, Par::Pool));
        let mut whole = vec![f32::NAN; 600 * 700];
        submatrix(&gram, &ids[100..], &ids, None, 700, &mut whole, Par::Seq);
        for (r, (lower, whole)) in lower.chunks(700).zip(whole.chunks(700)).enumerate() {
            assert_eq!(lower[..=100 + r], whole[..=100 + r]);
            assert!(lower[100 + r..].iter().zip(&whole[100 + r..]).all(|(l, w)| l.is_nan() || l == w));
        }
        assert!(lower[..700].iter().any(|v| v.is_nan()), "something is left out");

        let columns = [4999, 3, 2048, 2047, 17, 3];
        pool.install(|| {
            for par in [Par::Seq, Par::Pool] {
                let mut out = vec![f32::NAN; 700 * 8];
                submatrix(&gram, &ids, &columns, None, 8, &mut out, par);
                let mut entry = [0.0];
                for (row, &i) in out.chunks(8).zip(&ids) {
                    for (value, &j) in row.iter().zip(&columns) {
                        gram.fill(&[i], j..j + 1, &mut entry);
                        assert_eq!(*value, entry[0]);
                    }
                    assert!(row[6].is_nan() && row[7].is_nan(), "nothing is written between rows");
                }
            }
        });
    }

    /// Coefficients as folds have them: none, the same in all, another in one, in one alone, and
    /// any.
    #[test]
    fn what_right_hand_sides_have_in_common_does_not_change_their_sums() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let data = Generator::Banana.generate(2500, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 0.5 }).expect("a kernel");
        let ids: Vec<usize> = (0..600).map(|i| i * 3).collect();
        for h in [1, 3, 4, 5, 11] {
            let of = |i: usize, column: usize| match (i % 5, column == i / 5 % h) {
                (0, _) | (3, false) => 0.0,
                (1, _) | (2, false) => i as f64 - 300.5,
                (_, one) => f64::from(u8::from(one)) - (i * 31 + column * 17) as f64 % 23.0,
            };
            let coef: Vec<f64> = (0..600 * h).map(|k| of(k / h, k % h)).collect();
            let sums = apply_exact(&gram, &ids, &coef, h, 100..2300, Par::Seq);
            assert_eq!(sums, pool.install(|| apply_exact(&gram, &ids, &coef, h, 100..2300, Par::Pool)));
            for column in 0..h {
                let alone: Vec<f64> = coef.iter().skip(column).step_by(h).copied().collect();
                let scale: f64 = alone.iter().map(|c| c.abs()).sum();
                let alone = apply_exact(&gram, &ids, &alone, 1, 100..2300, Par::Seq);
                let apart = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * scale;
                assert!(sums.iter().skip(column).step_by(h).zip(&alone).all(apart), "{column} of {h}");
            }
        }
        let all =
            |coef: [f64; 5]| shares(&[7], &coef, 5).into_iter().map(|share| (share.columns, share.coef)).collect::<Vec<_>>();
        assert_eq!(all([2.0; 5]), [(vec![5], vec![2.0])]);
        assert_eq!(all([0.0, 2.0, 2.0, 2.0, 2.0]), [(vec![0, 5], vec![-2.0, 2.0])]);
        assert_eq!(all([2.0, 2.0, 2.0, 0.0, 2.0]), [(vec![3, 5], vec![-2.0, 2.0])]);
        assert_eq!(all([1.0, 2.0, 2.0, 0.0, 2.0]), [(vec![0, 1, 2, 3, 4], vec![1.0, 2.0, 2.0, 0.0, 2.0])]);
        assert_eq!(all([0.0; 5]), []);
    }

    #[test]
    fn nothing_of_nothing() {
        let data = Generator::Banana.generate(30, None, 3).expect("a generator");
        let gram = KernelGram::new(&data.samples, Kernel::Linear).expect("a kernel");
        assert_eq!(apply(&gram, &[], &[], 0..30, Par::Seq), [0.0; 30]);
        assert!(apply(&gram, &[1], &[1.0], 5..5, Par::Seq).is_empty());
        assert_eq!(products(&gram, &[], &[1.0; 30], Par::Seq), []);
        submatrix(&gram, &[], &[1], None, 1, &mut [], Par::Seq);
        submatrix(&gram, &[1], &[], None, 0, &mut [], Par::Seq);
    }
}
