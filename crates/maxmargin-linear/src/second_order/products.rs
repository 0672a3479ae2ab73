//! Weighted sums of outer products of rows, in blocks and partial sums that do not depend on the
//! threads.

use crate::compressed::Compressed;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat};
use maxmargin_core::{Cancelled, RunControl};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;

/// The rows per block of a dense product.
pub(crate) const BLOCK: usize = 256;

/// The number of partial sums of the matrix.
pub(crate) const PARTS: usize = 4;

/// Scattering takes about as long for one product as a blocked dense product for this many.
const SCATTER: usize = 40;

/// The size of a sparse matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) entries: usize,
}

impl Extent {
    pub(crate) fn of<R: FeatureRows>(rows: &R) -> Self {
        Self { rows: rows.len(), columns: rows.width(), entries: rows.entries() }
    }
}

/// Returns the approximate cost of [`weighted_products`], in products that are scattered.
pub(crate) fn cost_of_products(of: &Extent) -> f64 {
    let (n, entries, width) = (of.rows.max(1) as f64, of.entries as f64, of.columns as f64);
    let each = entries / n;
    n * (0.5 * each * each).min(0.5 * width * width / SCATTER as f64)
}

/// Returns `Σ factor x_k x_kᵀ` over `(row, factor)`, lower triangle. The bits do not depend on
/// `par`.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn weighted_products<R: FeatureRows>(
    rows: &R,
    of: &[(usize, f64)],
    par: Par,
    control: &RunControl,
) -> Result<Mat<f64>, Cancelled> {
    let (width, m) = (rows.width(), of.len());
    let entries = (0..m).map(|at| rows.entries_of(of[at].0)).sum::<usize>() / m.max(1);
    // Scattering takes about as long for one product as a blocked dense product for 40; a dense
    // block needs a sign.
    let dense = SCATTER * entries * entries > width * width && m >= BLOCK;
    let parts = (m * entries * entries / (width * width).max(1)).clamp(1, PARTS);
    let size = m.div_ceil(parts).max(1);
    let mut sums: Vec<Mat<f64>> = (0..m.div_ceil(size)).map(|_| Mat::zeros(width, width)).collect();
    // Every part in stretches of whole blocks, so that the sums do not depend on the cuts.
    let cost = if dense { width * width / 8 } else { entries * entries };
    let stretch = (RunControl::operations_between_checks() as usize / cost.max(1)).max(1).next_multiple_of(BLOCK);
    for from in (0..size).step_by(stretch) {
        control.check((stretch.min(size) * cost) as u64)?;
        par.for_chunks(&mut sums, 1, |part, sum| {
            let (begin, end) = (part * size + from, part * size + size.min(from + stretch));
            let of = &of[begin.min(m)..end.min(m)];
            if dense { dense_part(rows, of, &mut sum[0]) } else { scattered_part(rows, of, &mut sum[0]) }
        });
    }
    let mut sums = sums.into_iter();
    let mut h = sums.next().unwrap_or_else(|| Mat::zeros(width, width));
    for part in sums {
        h += part;
    }
    Ok(h)
}

/// Returns the products `Σ_j x_aj x_bj / divisor_j` of the rows `ids`, column by column, lower
/// triangle. The bits do not depend on `par`.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn row_products<R: FeatureRows>(
    rows: &R,
    ids: &[usize],
    divisors: Option<&[f64]>,
    par: Par,
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let m = ids.len();
    let mut values = vec![0.0; m * m];
    let entries = ids.iter().map(|&id| rows.entries_of(id)).sum::<usize>();
    let lists = (entries < m * rows.width()).then(|| Compressed::columns_of(rows, ids.iter().copied()));
    // Column a holds the products of row a with the rows after it.
    let stretch = 8 * par.threads();
    for (s, columns) in values.chunks_mut((stretch * m).max(1)).enumerate() {
        control.check(8 * entries as u64)?;
        par.for_chunks(columns, 8 * m, |chunk, columns| {
            let mut spread = Vec::new();
            for (at, column) in columns.chunks_mut(m).enumerate() {
                let a = s * stretch + chunk * 8 + at;
                let scaled = |j: usize, v: f64| divisors.map_or(v, |divisors| v / divisors[j]);
                if let Some(lists) = &lists {
                    rows.each(ids[a], |j, v| lists.add_from(j, a, scaled(j, v), column));
                    continue;
                }
                spread.resize(rows.width(), 0.0);
                rows.each(ids[a], |j, v| spread[j] = scaled(j, v));
                for (b, value) in column.iter_mut().enumerate().skip(a) {
                    *value = rows.dot(ids[b], &spread);
                }
                rows.each(ids[a], |j, _| spread[j] = 0.0);
            }
        });
    }
    Ok(values)
}

/// Returns `diag(1 / weights) + X Δ⁻¹ Xᵀ` over the rows `ids`, with the divisors Δ, lower triangle.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn weighted_gram<R: FeatureRows>(
    rows: &R,
    ids: &[usize],
    divisors: Option<&[f64]>,
    weights: impl Iterator<Item = f64>,
    par: Par,
    control: &RunControl,
) -> Result<Mat<f64>, Cancelled> {
    let m = ids.len();
    let mut values = row_products(rows, ids, divisors, par, control)?;
    weights.enumerate().for_each(|(a, weight)| values[a * m + a] += 1.0 / weight);
    Ok(Mat::from_fn(m, m, |i, j| values[j * m + i]))
}

fn scattered_part<R: FeatureRows>(rows: &R, of: &[(usize, f64)], h: &mut Mat<f64>) {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for &(k, factor) in of {
        columns.clear();
        values.clear();
        rows.each(k, |j, v| {
            columns.push(j);
            values.push(v);
        });
        for (a, &j) in columns.iter().enumerate() {
            let column = h.col_as_slice_mut(j);
            let factor = factor * values[a];
            for (&i, &v) in columns[a..].iter().zip(&values[a..]) {
                column[i] += factor * v;
            }
        }
    }
}

fn dense_part<R: FeatureRows>(rows: &R, of: &[(usize, f64)], h: &mut Mat<f64>) {
    let width = rows.width();
    let (mut left, mut right) = (Mat::zeros(width, BLOCK), Mat::zeros(width, BLOCK));
    for of in of.chunks(BLOCK) {
        for (at, &(k, factor)) in of.iter().enumerate() {
            let (left, right) = (left.col_as_slice_mut(at), right.col_as_slice_mut(at));
            left.fill(0.0);
            right.fill(0.0);
            rows.each(k, |j, v| {
                left[j] = factor * v;
                right[j] = v;
            });
        }
        triangular::matmul(
            h.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            left.subcols(0, of.len()),
            BlockStructure::Rectangular,
            right.subcols(0, of.len()).transpose(),
            BlockStructure::Rectangular,
            1.0,
            faer::Par::Seq,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::Samples;
    use maxmargin_kernel::Matrix;
    use maxmargin_kernel::features::Job;

    struct OfRows<'a>(&'a [usize], Option<&'a [f64]>, Par);

    impl Job for OfRows<'_> {
        type Out = Vec<f64>;

        fn run<R: FeatureRows>(self, rows: &R) -> Vec<f64> {
            row_products(rows, self.0, self.1, self.2, &RunControl::unlimited()).expect("not cancelled")
        }
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_products() {
        // Column 4 is 0 in all rows.
        let value = |i: usize, j: usize| if (i + 2 * j).is_multiple_of(3) || j == 4 { 0.0 } else { (i * 5 + j) as f64 - 20.0 };
        let dense = Samples::from_dense(12, 5, (0..60).map(|at| value(at / 5, at % 5)).collect()).expect("samples");
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..12 {
            for j in (0..5).filter(|&j| value(i, j) != 0.0) {
                columns.push(j as u32);
                values.push(value(i, j));
            }
            offsets.push(columns.len());
        }
        let sparse = Samples::from_sparse(5, offsets, columns, values).expect("samples");
        let (ids, divisors) = ([7, 0, 3, 11, 4], [1.0, 2.0, 4.0, 0.5, 8.0]);
        for divisors in [None, Some(&divisors[..])] {
            let product = |a: usize, b: usize| -> f64 {
                (0..5).map(|j| value(ids[a], j) * value(ids[b], j) / divisors.map_or(1.0, |of| of[j])).sum()
            };
            for samples in [&dense, &sparse] {
                for par in [Par::Seq, Par::Pool] {
                    let found = Matrix::new(samples, None, par).visit(OfRows(&ids, divisors, par));
                    for a in 0..5 {
                        (a..5).for_each(|b| assert_eq!(found[a * 5 + b], product(a, b), "{a}, {b}"));
                    }
                }
            }
        }
    }
}
