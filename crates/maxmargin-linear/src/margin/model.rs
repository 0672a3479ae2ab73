//! Coordinate descent on the quadratic model of a proximal Newton step.
//!
//! With few columns the matrix `H` is computed: a step then costs one column of it, and a column
//! that does not move costs nothing. With many columns a step reads the rows of its column. The
//! columns are then visited with adaptive frequencies ([`crate::coordinate::avsf`]), or by
//! [`Method::Descent`] in random order.

use crate::compressed::Compressed;
use crate::config::Method;
use crate::coordinate::avsf::Frequencies;
use crate::coordinate::order::shuffle;
use crate::margin::context::MarginRun;
use crate::margin::face::{Face, ModelPoint};
use crate::margin::l1_problem::violation_of;
use crate::second_order::products::{cost_of_products, weighted_products};
use faer::Mat;
use maxmargin_core::{Cancelled, dense};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The most columns for which the matrix is computed.
const MOST_GRAM: usize = 2000;

/// The matrix may cost as much as this many sweeps over the columns.
const SWEEPS: f64 = 15.0;

/// The most sweeps on one model, with the matrix and without.
const MOST_SWEEPS: (u32, u32) = (10_000, 500);

/// The least curvature of a column.
const LEAST: f64 = 1e-12;

/// The columns of a working set, by columns and by rows.
pub(crate) enum Columns<'r> {
    Borrowed { columns: &'r Compressed, rows: &'r Compressed },
    Owned { columns: Compressed, rows: Compressed },
}

impl Columns<'_> {
    pub(crate) fn columns(&self) -> &Compressed {
        match self {
            Self::Borrowed { columns, .. } => columns,
            Self::Owned { columns, .. } => columns,
        }
    }

    pub(crate) fn rows(&self) -> &Compressed {
        match self {
            Self::Borrowed { rows, .. } => rows,
            Self::Owned { rows, .. } => rows,
        }
    }
}

/// The model `−u·d + ½ dᵀHd + ‖w + d‖₁`, `H = Σ h_i x_i x_iᵀ`.
pub(crate) struct QuadraticModel<'a> {
    pub(crate) columns: &'a Columns<'a>,
    pub(crate) weights: &'a [f64],
    pub(crate) u: &'a [f64],
    pub(crate) w: &'a [f64],
    pub(crate) free: Option<usize>,
    pub(crate) par: Par,
}

/// A step of coordinate descent.
#[derive(Clone, Copy, Debug)]
struct CoordinateStep {
    delta: f64,
    violation: f64,
    /// The decrease of the model.
    gain: f64,
}

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
    let rows = columns.rows();
    let width = rows.width();
    let descends = matches!(run.config.method, Method::Descent | Method::Avsf);
    if descends || width > MOST_GRAM || cost_of_products(rows) > SWEEPS * 2.0 * rows.entries() as f64 {
        return Ok(None);
    }
    let Some(_held) = run.memory.reserve(8 * (6 * width * width) as u64) else { return Ok(None) };
    let of: Vec<(usize, f64)> = weights.iter().copied().enumerate().filter(|of| of.1 > 0.0).collect();
    let mut h = weighted_products(rows, &of, par, run.control.control())?;
    mirror(&mut h);
    Ok(Some(h))
}

impl QuadraticModel<'_> {
    /// Minimises over column `j`, where `gradient` is that of the quadratic part.
    #[inline]
    fn coordinate(&self, j: usize, d: f64, gradient: f64, curvature: f64) -> CoordinateStep {
        let (at, free) = (self.w[j] + d, self.free == Some(j));
        let violation = violation_of(at, -gradient, free);
        if violation == 0.0 {
            return CoordinateStep { delta: 0.0, violation, gain: 0.0 };
        }
        let curvature = curvature + LEAST;
        let to = at - gradient / curvature;
        let threshold = if free { 0.0 } else { 1.0 / curvature };
        let to = if to > threshold {
            to - threshold
        } else if to < -threshold {
            to + threshold
        } else {
            0.0
        };
        // A weight that becomes 0 is 0 exactly: `w + d` has no rounding then.
        let delta = if to == 0.0 { -self.w[j] - d } else { to - at };
        let of_norm = if free { 0.0 } else { at.abs() - to.abs() };
        CoordinateStep { delta, violation, gain: of_norm - delta * (gradient + 0.5 * curvature * delta) }
    }

    /// Returns a `d` at which the violation of the model with the matrix `h` is at most `tol`.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn with_matrix(&self, h: &Mat<f64>, tol: f64, run: &mut MarginRun) -> Result<Vec<f64>, Cancelled> {
        let width = self.w.len();
        let mut at = ModelPoint { d: vec![0.0; width], gradient: self.u.iter().map(|u| -u).collect() };
        let face = Face { h, w: self.w, free: self.free };
        let mut spent = 0;
        for _ in 0..MOST_SWEEPS.0 {
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
            run.work.steps += width as u64;
            run.work.entries += (moved * width) as u64;
            if largest <= tol || moved == 0 {
                break;
            }
            run.control.control().check((moved * width) as u64)?;
            // A factor of the weights that are not 0, as soon as the sweeps have cost as much.
            spent += moved * width;
            if spent >= face.factor_cost(&at) {
                face.minimise(&mut at, self.par, run.control.control())?;
                spent = 0;
            }
        }
        Ok(at.d)
    }

    /// Returns a `d` at which the violation of the model is at most `tol`.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn with_columns(&self, tol: f64, run: &mut MarginRun) -> Result<Vec<f64>, Cancelled> {
        let columns = self.columns.columns();
        let width = self.w.len();
        let mut curvature = vec![0.0; width];
        self.par.for_chunks(&mut curvature, 256, |chunk, out| {
            for (at, out) in out.iter_mut().enumerate() {
                columns.each(chunk * 256 + at, |i, v| *out += self.weights[i] * v * v);
            }
        });
        let mut descent = ColumnDescent { model: self, curvature, d: vec![0.0; width], image: vec![0.0; self.weights.len()] };
        let mut random = ChaCha8Rng::seed_from_u64(run.config.seed);
        if run.config.method == Method::Descent {
            descent.uniform(tol, &mut random, run)?;
        } else {
            descent.adaptive(tol, &mut random, run)?;
        }
        Ok(descent.d)
    }
}

/// Coordinate descent that reads columns.
struct ColumnDescent<'a> {
    model: &'a QuadraticModel<'a>,
    curvature: Vec<f64>,
    d: Vec<f64>,
    /// `h_i x_i·d` of every row.
    image: Vec<f64>,
}

impl ColumnDescent<'_> {
    fn step(&mut self, j: usize, run: &mut MarginRun) -> CoordinateStep {
        let columns = self.model.columns.columns();
        let gradient = columns.dot(j, &self.image) - self.model.u[j];
        let step = self.model.coordinate(j, self.d[j], gradient, self.curvature[j]);
        let entries = columns.entries_of(j) as u64;
        run.work.steps += 1;
        run.work.entries += if step.delta == 0.0 { entries } else { 2 * entries };
        if step.delta != 0.0 {
            self.d[j] += step.delta;
            let (weights, image) = (self.model.weights, &mut self.image);
            columns.each(j, |i, v| image[i] += step.delta * weights[i] * v);
        }
        step
    }

    /// Sweeps in random order; columns with weight 0 far inside their bounds are set aside until
    /// the others are within the tolerance.
    fn uniform(&mut self, tol: f64, random: &mut ChaCha8Rng, run: &mut MarginRun) -> Result<(), Cancelled> {
        let width = self.d.len();
        let mut active: Vec<u32> = (0..width as u32).collect();
        let mut count = width;
        for _ in 0..MOST_SWEEPS.1 {
            run.work.sweeps += 1;
            let before = run.work.entries;
            shuffle(&mut active[..count], random);
            let is_whole = count == width;
            let (mut largest, mut at) = (0.0_f64, 0);
            while at < count {
                let j = active[at] as usize;
                let step = self.step(j, run);
                largest = largest.max(step.violation);
                if step.violation == 0.0 && self.model.w[j] + self.d[j] == 0.0 {
                    count -= 1;
                    active.swap(at, count);
                } else {
                    at += 1;
                }
            }
            run.control.control().check(run.work.entries - before)?;
            if largest <= tol {
                if is_whole {
                    break;
                }
                count = width;
            }
        }
        Ok(())
    }

    /// Sweeps with adaptive frequencies, until one after a reset is within the tolerance.
    fn adaptive(&mut self, tol: f64, random: &mut ChaCha8Rng, run: &mut MarginRun) -> Result<(), Cancelled> {
        let mut frequencies = Frequencies::new(self.d.len(), false);
        let mut can_stop = false;
        for _ in 0..MOST_SWEEPS.1 {
            run.work.sweeps += 1;
            let before = run.work.entries;
            let mut largest = 0.0_f64;
            for at in 0..frequencies.draw(random) {
                let j = frequencies.scheduled(at);
                let step = self.step(j, run);
                largest = largest.max(step.violation);
                frequencies.learn(j, step.gain);
            }
            frequencies.swept();
            run.control.control().check(run.work.entries - before)?;
            if largest <= tol {
                if can_stop {
                    break;
                }
                frequencies.reset();
            }
            can_stop = largest <= tol;
        }
        Ok(())
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
