//! Newton systems `(I + Σ h_i x_i x_iᵀ) d = −g`: factored where that is cheaper, otherwise by
//! conjugate gradients with the diagonal as preconditioner.

use crate::margin::context::MarginRun;
use crate::margin::passes::Passes;
use crate::second_order::products::{Extent, cost_of_products, weighted_products};
use crate::second_order::system::DIRECT;
use faer::Mat;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use maxmargin_core::{Cancelled, cholesky};
use maxmargin_kernel::features::FeatureRows;
use maxmargin_simd::sums::dot;

/// The most iterations of conjugate gradients for one system.
const MOST: u64 = 2000;

/// The iterations that a system takes, before one is known.
const FIRST: u64 = 12;

/// The cost of a gathered and scattered entry, in products of a factored system.
const GATHER: f64 = 1.0;

/// The knowledge of a run about its systems, for the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Systems {
    /// The iterations of the last system that was iterated.
    iterations: u64,
}

impl Default for Systems {
    fn default() -> Self {
        Self { iterations: FIRST }
    }
}

pub(crate) struct NewtonSystem<'a, 'r, R> {
    pub(crate) passes: &'a Passes<'r, R>,
    /// The weights h of the rows that take part.
    pub(crate) weights: &'a [f64],
    /// The column whose part of the identity is left out.
    pub(crate) free: Option<usize>,
}

/// The least curvature of a free bias, relative to that of all rows.
const LEAST: f64 = 1e-12;

impl<R: FeatureRows> NewtonSystem<'_, '_, R> {
    /// Returns the direction, iterated to a relative accuracy.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn solve(
        &self,
        gradient: &[f64],
        accuracy: f64,
        systems: &mut Systems,
        run: &mut MarginRun,
    ) -> Result<Vec<f64>, Cancelled> {
        let width = gradient.len();
        let rows = self.passes.rows;
        let share = self.passes.ids.len() as f64 / rows.len().max(1) as f64;
        let factored = share * cost_of_products(&Extent::of(rows)) + (width as f64).powi(3) / 60.0;
        let iterated = GATHER * 2.0 * systems.iterations as f64 * share * rows.entries() as f64;
        if width <= DIRECT && factored <= iterated {
            let bytes = 8 * (width * width * 6) as u64;
            if let Some(_held) = run.memory.reserve(bytes)
                && let Some(direction) = self.factored(gradient, run)?
            {
                return Ok(direction);
            }
        }
        let (direction, iterations) = self.iterated(gradient, accuracy, run)?;
        systems.iterations = iterations;
        Ok(direction)
    }

    fn factored(&self, gradient: &[f64], run: &MarginRun) -> Result<Option<Vec<f64>>, Cancelled> {
        let of: Vec<(usize, f64)> =
            self.passes.ids.iter().copied().zip(self.weights.iter().copied()).filter(|of| of.1 > 0.0).collect();
        let mut hessian = weighted_products(self.passes.rows, &of, self.passes.par, run.control.control())?;
        for j in 0..gradient.len() {
            hessian[(j, j)] += self.identity(j);
        }
        if !cholesky(hessian.as_mut(), self.passes.par, run.control.control())? {
            return Ok(None);
        }
        let mut x = Mat::from_fn(gradient.len(), 1, |i, _| -gradient[i]);
        solve_lower_triangular_in_place(hessian.as_ref(), x.as_mut(), faer::Par::Seq);
        solve_upper_triangular_in_place(hessian.transpose(), x.as_mut(), faer::Par::Seq);
        Ok(Some(x.col_as_slice(0).to_vec()))
    }

    fn identity(&self, column: usize) -> f64 {
        if self.free == Some(column) { LEAST * self.weights.iter().sum::<f64>() + f64::MIN_POSITIVE } else { 1.0 }
    }

    fn iterated(&self, gradient: &[f64], accuracy: f64, run: &mut MarginRun) -> Result<(Vec<f64>, u64), Cancelled> {
        let width = gradient.len();
        let mut diagonal = self.passes.squares(self.weights);
        diagonal.iter_mut().enumerate().for_each(|(j, d)| *d += self.identity(j));
        let mut coef = vec![0.0; self.weights.len()];
        let (right, goal) = (gradient.iter().map(|g| -g).collect(), IterationGoal { accuracy, most: MOST });
        let (x, iterations) = conjugate_gradients(right, &diagonal, goal, |direction| {
            run.control.control().check(2 * self.passes.cost() + 8 * width as u64)?;
            self.passes.products(direction, &mut coef);
            coef.iter_mut().zip(self.weights).for_each(|(c, h)| *c *= h);
            let mut image = self.passes.combine(&coef);
            for (j, image) in image.iter_mut().enumerate() {
                *image += self.identity_times(j, direction[j]);
            }
            Ok(image)
        })?;
        run.work.gradients += iterations;
        Ok((x, iterations))
    }

    #[inline]
    fn identity_times(&self, column: usize, value: f64) -> f64 {
        if self.free == Some(column) { 0.0 } else { value }
    }
}

/// The end of conjugate gradients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IterationGoal {
    /// The residual relative to that of zero, both in the norm of the preconditioner.
    pub(crate) accuracy: f64,
    pub(crate) most: u64,
}

/// Returns an approximate solution of `H x = right` and the number of its iterations. `image`
/// returns `H p`; `diagonal` is that of `H`. Ends early where `H` has no curvature.
///
/// # Errors
///
/// Those of `image`.
pub(crate) fn conjugate_gradients(
    right: Vec<f64>,
    diagonal: &[f64],
    goal: IterationGoal,
    mut image: impl FnMut(&[f64]) -> Result<Vec<f64>, Cancelled>,
) -> Result<(Vec<f64>, u64), Cancelled> {
    let width = right.len();
    let (mut x, mut residual) = (vec![0.0; width], right);
    let mut z: Vec<f64> = residual.iter().zip(diagonal).map(|(r, d)| r / d).collect();
    let mut direction = z.clone();
    let mut rz = dot(&residual, &z);
    let enough = goal.accuracy * goal.accuracy * rz;
    let mut iterations = 0;
    while rz > enough && iterations < goal.most {
        let image = image(&direction)?;
        iterations += 1;
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let step = rz / curvature;
        for j in 0..width {
            x[j] += step * direction[j];
            residual[j] -= step * image[j];
            z[j] = residual[j] / diagonal[j];
        }
        let new = dot(&residual, &z);
        let ratio = new / rz;
        rz = new;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + ratio * *d);
    }
    Ok((x, iterations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_iterations_as_columns_are_exact() {
        let h = [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]];
        let image = |p: &[f64]| Ok(h.iter().map(|row| row.iter().zip(p).map(|(h, p)| h * p).sum()).collect());
        let goal = |accuracy| IterationGoal { accuracy, most: 50 };
        let Ok((x, iterations)) = conjugate_gradients(vec![6.0, 10.0, 8.0], &[4.0, 3.0, 2.0], goal(1e-12), image) else {
            unreachable!("nothing is cancelled")
        };
        assert!(iterations <= 4 && x.iter().zip([1.0, 2.0, 3.0]).all(|(x, of)| (x - of).abs() < 1e-12), "{x:?}");
        // Roughly: fewer iterations, and the residual is as small as asked.
        let Ok((_, rough)) = conjugate_gradients(vec![6.0, 10.0, 8.0], &[4.0, 3.0, 2.0], goal(0.3), image) else {
            unreachable!("nothing is cancelled")
        };
        assert!(rough < iterations, "{rough}");
    }

    #[test]
    fn no_curvature_ends_them() {
        let flat = |p: &[f64]| Ok(vec![0.0; p.len()]);
        let goal = IterationGoal { accuracy: 0.1, most: 50 };
        let found = conjugate_gradients(vec![1.0, 1.0], &[1.0, 1.0], goal, flat);
        assert!(found.is_ok_and(|(x, iterations)| x == [0.0, 0.0] && iterations == 1));
    }
}
