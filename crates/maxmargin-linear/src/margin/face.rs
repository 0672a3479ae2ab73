//! The minimum of a quadratic model with the L1 norm over the columns whose weight is not 0.
//!
//! ```text
//!   1  A ← the columns with w_j + d_j ≠ 0, and the free one;  s ← their signs
//!   2  (H_AA + ε I) p ← −(∇_A + s)
//!   3  d_A += t p, where t = 1, or the first of the weights becomes 0: then go to 1
//! ```
//!
//! The signs stay along the way, so that the model falls on all of it. Coordinate descent alone
//! takes thousands of sweeps where columns depend on each other, as those of a question's answers
//! do: one of them is 1 in every row.

use faer::Mat;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use maxmargin_core::{Cancelled, RunControl, cholesky, dense};
use maxmargin_data::Par;

/// The most weights that become 0 in one search.
const MOST: usize = 8;

/// The number added to the diagonal, relative to its mean. Along columns that cancel each other it
/// alone is the curvature, and the step ends where the first weight becomes 0.
const RIDGE: f64 = 1e-10;

/// A point of the model.
pub(crate) struct ModelPoint {
    pub(crate) d: Vec<f64>,
    /// The gradient of the quadratic part.
    pub(crate) gradient: Vec<f64>,
}

/// The model's matrix, and the weights where `d` is 0.
#[derive(Clone, Copy)]
pub(crate) struct Face<'a> {
    pub(crate) h: &'a Mat<f64>,
    pub(crate) w: &'a [f64],
    pub(crate) free: Option<usize>,
}

impl Face<'_> {
    /// Returns the columns of step 1.
    fn columns(&self, at: &ModelPoint) -> impl Iterator<Item = usize> {
        (0..self.w.len()).filter(|&j| self.w[j] + at.d[j] != 0.0 || self.free == Some(j))
    }

    /// The operations of a factor of the columns of step 1.
    pub(crate) fn factor_cost(&self, at: &ModelPoint) -> usize {
        self.columns(at).count().pow(3) / 3
    }

    /// Moves to the minimum.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn minimise(&self, at: &mut ModelPoint, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        for _ in 0..MOST {
            let columns: Vec<usize> = self.columns(at).collect();
            let Some(step) = self.step(&columns, at, par, control)? else { return Ok(()) };
            if !self.advance(&columns, &step, at) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the step of 2; `None` if rounding leaves no definite matrix.
    fn step(&self, columns: &[usize], at: &ModelPoint, par: Par, control: &RunControl) -> Result<Option<Vec<f64>>, Cancelled> {
        let m = columns.len();
        let ridge = RIDGE * columns.iter().map(|&j| self.h[(j, j)]).sum::<f64>() / m.max(1) as f64;
        let mut factor = Mat::from_fn(m, m, |i, k| self.h[(columns[i], columns[k])] + if i == k { ridge } else { 0.0 });
        if m == 0 || !cholesky(factor.as_mut(), par, control)? {
            return Ok(None);
        }
        let of_norm = |j: usize| if self.free == Some(j) { 0.0 } else { (self.w[j] + at.d[j]).signum() };
        let mut step = Mat::from_fn(m, 1, |i, _| -(at.gradient[columns[i]] + of_norm(columns[i])));
        solve_lower_triangular_in_place(factor.as_ref(), step.as_mut(), faer::Par::Seq);
        solve_upper_triangular_in_place(factor.transpose(), step.as_mut(), faer::Par::Seq);
        Ok(Some(step.col_as_slice(0).to_vec()))
    }

    /// Makes the step of 3; returns true if a weight became 0.
    fn advance(&self, columns: &[usize], step: &[f64], at: &mut ModelPoint) -> bool {
        let (mut share, mut first) = (1.0, None);
        for (&j, p) in columns.iter().zip(step).filter(|(j, _)| self.free != Some(**j)) {
            let from = self.w[j] + at.d[j];
            if from * (from + p) <= 0.0 && -from / p < share {
                (share, first) = (-from / p, Some(j));
            }
        }
        for (&j, p) in columns.iter().zip(step) {
            let to = if first == Some(j) { -self.w[j] } else { at.d[j] + share * p };
            let delta = to - at.d[j];
            at.d[j] = to;
            dense::add_scaled(&mut at.gradient, delta, self.h.col_as_slice(j));
        }
        first.is_some()
    }
}
