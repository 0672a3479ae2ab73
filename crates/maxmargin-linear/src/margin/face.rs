//! Steps of a quadratic model with the L1 norm over the columns whose weight is not 0.
//!
//! ```text
//!   1  A ← the columns with w_j + d_j ≠ 0, and the free one;  s ← their signs
//!   2  H_AA p = −(∇_A + s), by a factor or roughly by conjugate gradients
//!   3  d_A += the step t p, in which a weight that would change its sign becomes 0, for the first
//!      t = 1, 0.4, … at which the model falls; at last up to the first weight that becomes 0
//! ```
//!
//! Coordinate descent alone takes thousands of sweeps where columns depend on each other, as those
//! of a question's answers do, or the words of a text. It finds which weights are 0; the steps here
//! move the others. Reduced spaces: Chen, Curtis and Robinson, *A reduced-space algorithm for
//! minimizing ℓ1-regularized convex functions*, 2017.

use crate::margin::context::MarginRun;
use crate::margin::model::QuadraticModel;
use crate::second_order::conjugate::solve_in_place;
use faer::Mat;
use maxmargin_core::{Cancelled, cholesky};
use maxmargin_data::Par;
use maxmargin_simd::sums::dot;

/// The number added to the diagonal of a factor, relative to its mean. Along columns that cancel
/// each other it alone is the curvature, and the step ends where the first weight becomes 0.
const RIDGE: f64 = 1e-10;

/// The most steps tried in 3, and the factor from one to the next.
const TRIALS: (u32, f64) = (5, 0.4);

/// A point of the model.
pub(crate) trait ModelPoint {
    /// Returns the change of each weight.
    fn d(&self) -> &[f64];

    /// Returns the derivative of the quadratic part along a column.
    fn gradient(&self, j: usize) -> f64;

    /// Returns `H_AA p` for the columns A.
    fn image(&self, columns: &[usize], p: &[f64]) -> Vec<f64>;

    /// Returns the solution of `H_AA p = right`; `None` if rounding leaves no definite matrix.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    fn direction(&mut self, columns: &[usize], right: Vec<f64>, run: &mut MarginRun) -> Result<Option<Vec<f64>>, Cancelled>;

    /// Sets the changes of these columns.
    fn set(&mut self, columns: &[usize], d: &[f64]);
}

/// Returns the solution of `H p = right` by a factor of `H`, of which the lower triangle is read;
/// `None` if rounding leaves no definite matrix.
///
/// # Errors
///
/// When the run is cancelled.
pub(crate) fn solve_with_ridge(mut h: Mat<f64>, right: &[f64], par: Par, run: &MarginRun) -> Result<Option<Vec<f64>>, Cancelled> {
    let m = right.len();
    let ridge = RIDGE * (0..m).map(|j| h[(j, j)]).sum::<f64>() / m.max(1) as f64;
    (0..m).for_each(|j| h[(j, j)] += ridge);
    if m == 0 || !cholesky(h.as_mut(), par, run.control.control())? {
        return Ok(None);
    }
    let mut direction = right.to_vec();
    solve_in_place(&h, &mut direction);
    Ok(Some(direction))
}

/// The columns of step 1 at a point.
struct Face {
    columns: Vec<usize>,
    /// `w + d`.
    weights: Vec<f64>,
    gradient: Vec<f64>,
    /// The place of the free column.
    free: Option<usize>,
}

impl QuadraticModel<'_> {
    /// Makes a step over the weights that are not 0; returns true if one of them became 0.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn step_on_face(&self, at: &mut impl ModelPoint, run: &mut MarginRun) -> Result<bool, Cancelled> {
        let face = self.face(at);
        let columns = &face.columns;
        let right = (0..columns.len()).map(|k| -(face.gradient[k] + face.sign(k))).collect();
        let Some(step) = at.direction(columns, right, run)? else { return Ok(false) };
        let Some(delta) = face.search(&step, |delta| at.image(columns, delta)) else { return Ok(false) };
        // A weight that becomes 0 is 0 exactly: `w + d` has no rounding then.
        let is_zero = |k: usize| delta[k] == -face.weights[k];
        let of = |(k, &j): (usize, &usize)| if is_zero(k) { -self.w[j] } else { at.d()[j] + delta[k] };
        let to: Vec<f64> = columns.iter().enumerate().map(of).collect();
        at.set(columns, &to);
        Ok((0..columns.len()).any(is_zero))
    }

    fn face(&self, at: &impl ModelPoint) -> Face {
        let of = |j: usize| self.w[j] + at.d()[j];
        let columns: Vec<usize> = (0..self.w.len()).filter(|&j| of(j) != 0.0 || self.free == Some(j)).collect();
        let free = self.free.and_then(|free| columns.iter().position(|&j| j == free));
        let weights = columns.iter().map(|&j| of(j)).collect();
        let gradient = columns.iter().map(|&j| at.gradient(j)).collect();
        Face { columns, weights, gradient, free }
    }
}

impl Face {
    /// Returns the derivative of the norm along the weight `k`.
    fn sign(&self, k: usize) -> f64 {
        if self.free == Some(k) { 0.0 } else { self.weights[k].signum() }
    }

    /// Returns the change of 3; `None` if the model falls along none.
    fn search(&self, step: &[f64], image: impl Fn(&[f64]) -> Vec<f64>) -> Option<Vec<f64>> {
        let of = |(k, (w, p)): (usize, (&f64, &f64))| (self.free != Some(k) && w * (w + p) <= 0.0).then(|| (-w / p, k));
        let zeros = self.weights.iter().zip(step).enumerate().filter_map(of);
        let (first, which) = zeros.min_by(|a, b| a.0.total_cmp(&b.0)).map_or((1.0, None), |(t, k)| (t, Some(k)));
        let mut t = 1.0;
        for trial in 0..=TRIALS.0 {
            let is_last = trial == TRIALS.0 || t <= first;
            t = if is_last { first } else { t };
            let delta = self.clipped(step, t, which.filter(|_| is_last));
            let of_norm = (0..step.len()).filter(|&k| self.free != Some(k));
            let of_norm: f64 = of_norm.map(|k| (self.weights[k] + delta[k]).abs() - self.weights[k].abs()).sum();
            let change = dot(&self.gradient, &delta) + 0.5 * dot(&delta, &image(&delta)) + of_norm;
            if change < 0.0 {
                return Some(delta);
            }
            if is_last {
                return None;
            }
            t *= TRIALS.1;
        }
        None
    }

    /// Returns the step of a length, in which `zero` and the weights that would change their sign
    /// become 0.
    fn clipped(&self, step: &[f64], t: f64, zero: Option<usize>) -> Vec<f64> {
        let of = |(k, (w, p)): (usize, (&f64, &f64))| {
            let becomes_zero = zero == Some(k) || (self.free != Some(k) && w * (w + t * p) <= 0.0);
            if becomes_zero { -w } else { t * p }
        };
        self.weights.iter().zip(step).enumerate().map(of).collect()
    }
}
