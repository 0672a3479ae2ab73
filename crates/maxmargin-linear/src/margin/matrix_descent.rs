//! Coordinate descent on the quadratic model of a proximal Newton step, over its matrix.

use crate::margin::context::MarginRun;
use crate::margin::face::{ModelPoint, solve_with_ridge};
use crate::margin::model::{Columns, QuadraticModel, descends};
use crate::second_order::products::{Extent, cost_of_products, weighted_products};
use faer::Mat;
use maxmargin_core::{Cancelled, dense};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;

/// The most columns for which the matrix is computed.
const MOST_GRAM: usize = 2000;

/// The matrix may cost as much as this many sweeps over the columns.
const SWEEPS: f64 = 5.0;

/// The most sweeps on one model.
const MOST_SWEEPS: u32 = 10_000;

/// The most steps over the weights that are not 0, one after the other.
const MOST_STEPS: u32 = 8;

/// The matrix may have as many times the numbers of its columns. A sweep then reads more, but its
/// steps over the weights that are not 0 are exact.
const LARGER: usize = 4;

/// Returns the matrix `H` with both triangles; `None` where it costs more than sweeps without it.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn curvature_matrix(
    columns: &Columns,
    weights: &[f64],
    par: Par,
    run: &MarginRun,
) -> Result<Option<Mat<f64>>, Cancelled> {
    let (width, all) = (columns.columns().len(), columns.columns().entries());
    if descends(run) || width > MOST_GRAM {
        return Ok(None);
    }
    // Rows without curvature are read by neither.
    let entries = columns.entries_with(weights);
    let products = cost_of_products(&Extent { rows: weights.len(), columns: width, entries: all });
    let share = entries as f64 / all.max(1) as f64;
    if width * width > LARGER * entries || share * products > SWEEPS * 2.0 * entries as f64 {
        return Ok(None);
    }
    let Some(_held) = run.memory.reserve(8 * (6 * width * width) as u64) else { return Ok(None) };
    let of: Vec<(usize, f64)> = weights.iter().copied().enumerate().filter(|of| of.1 > 0.0).collect();
    let mut h = weighted_products(columns.rows(), &of, par, run.control.control())?;
    mirror(&mut h);
    Ok(Some(h))
}

impl QuadraticModel<'_> {
    /// Returns a `d` at which the violation of the model with the matrix `h` is at most `tol`.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn with_matrix(&self, h: &Mat<f64>, tol: f64, run: &mut MarginRun) -> Result<Vec<f64>, Cancelled> {
        let width = self.w.len();
        let mut at = MatrixPoint { h, par: self.par, d: vec![0.0; width], gradient: self.u.iter().map(|u| -u).collect() };
        let mut spent = 0;
        for _ in 0..MOST_SWEEPS {
            let (mut largest, mut moved) = (0.0_f64, 0);
            for j in 0..width {
                let step = self.coordinate(j, at.d[j], at.gradient[j], h[(j, j)]);
                largest = largest.max(step.violation);
                if step.delta != 0.0 {
                    at.d[j] += step.delta;
                    dense::add_scaled(&mut at.gradient, step.delta, h.col_as_slice(j));
                    moved += 1;
                }
            }
            // A pass over the data reads each entry twice. Sweeps over a small matrix are a small
            // part of one, and limits of iterations are numbers of passes.
            let read = (moved * width) as u64;
            run.work.steps += (width as u64 * read).div_ceil(2 * self.columns.columns().entries().max(1) as u64);
            run.work.entries += read;
            if largest <= tol || moved == 0 || self.is_unbounded(&at) || run.is_given_up() {
                break;
            }
            run.control.control().check((moved * width) as u64)?;
            // A factor of the weights that are not 0, as soon as the sweeps have cost as much.
            spent += moved * width;
            let on_face = (0..width).filter(|&j| self.w[j] + at.d[j] != 0.0).count();
            if spent >= on_face.pow(3) / 3 {
                spent = 0;
                for _ in 0..MOST_STEPS {
                    if !self.step_on_face(&mut at, run)? {
                        break;
                    }
                }
                if self.is_unbounded(&at) {
                    break;
                }
            }
        }
        Ok(at.d)
    }

    /// The value of the model at a point, which is 0 at `d = 0`.
    fn value(&self, at: &MatrixPoint) -> f64 {
        let of = |j: usize| {
            let norm = if self.free == Some(j) { 0.0 } else { (self.w[j] + at.d[j]).abs() - self.w[j].abs() };
            norm + 0.5 * at.d[j] * (at.gradient[j] - self.u[j])
        };
        (0..at.d.len()).map(of).sum()
    }

    /// Returns true if the model falls by more than the whole primal objective, which is never
    /// below 0. Few rows have curvature then, and the rows that would stop its fall are not among
    /// them: the minimum of the model may be at infinity, and a search along `d` finds these rows.
    fn is_unbounded(&self, at: &MatrixPoint) -> bool {
        self.value(at) < -self.primal
    }
}

/// A point of the model with the matrix.
struct MatrixPoint<'a> {
    h: &'a Mat<f64>,
    par: Par,
    d: Vec<f64>,
    /// The gradient of the quadratic part.
    gradient: Vec<f64>,
}

impl MatrixPoint<'_> {
    /// Adds the product of `H` with changes of these columns.
    fn add(&self, columns: &[usize], changes: &[f64], out: &mut [f64]) {
        for (&j, change) in columns.iter().zip(changes).filter(|(_, change)| **change != 0.0) {
            dense::add_scaled(out, *change, self.h.col_as_slice(j));
        }
    }
}

impl ModelPoint for MatrixPoint<'_> {
    fn d(&self) -> &[f64] {
        &self.d
    }

    fn gradient(&self, j: usize) -> f64 {
        self.gradient[j]
    }

    fn image(&self, columns: &[usize], p: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; self.d.len()];
        self.add(columns, p, &mut whole);
        columns.iter().map(|&j| whole[j]).collect()
    }

    fn direction(&mut self, columns: &[usize], right: Vec<f64>, run: &mut MarginRun) -> Result<Option<Vec<f64>>, Cancelled> {
        let m = columns.len();
        let h = Mat::from_fn(m, m, |i, k| self.h[(columns[i], columns[k])]);
        solve_with_ridge(h, &right, self.par, run)
    }

    fn set(&mut self, columns: &[usize], d: &[f64]) {
        let changes: Vec<f64> = columns.iter().zip(d).map(|(&j, to)| to - self.d[j]).collect();
        let mut gradient = std::mem::take(&mut self.gradient);
        self.add(columns, &changes, &mut gradient);
        self.gradient = gradient;
        columns.iter().zip(d).for_each(|(&j, to)| self.d[j] = *to);
    }
}

/// Copies the lower triangle to the upper one.
fn mirror(h: &mut Mat<f64>) {
    for j in 0..h.ncols() {
        for i in 0..j {
            h[(i, j)] = h[(j, i)];
        }
    }
}
