//! Newton systems `(I + Σ h_i x_i x_iᵀ) d = −g`: factored where that is cheaper, otherwise by
//! conjugate gradients with the diagonal as preconditioner.

use crate::margin::context::MarginRun;
use crate::margin::passes::Passes;
use crate::second_order::conjugate::{ConjugateGradients, divide, solve_in_place};
use crate::second_order::products::{Extent, cost_of_products, weighted_products};
use crate::second_order::system::DIRECT;
use maxmargin_core::{Cancelled, cholesky};
use maxmargin_kernel::features::FeatureRows;

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
        let mut x: Vec<f64> = gradient.iter().map(|g| -g).collect();
        solve_in_place(&hessian, &mut x);
        Ok(Some(x))
    }

    fn identity(&self, column: usize) -> f64 {
        if self.free == Some(column) { LEAST * self.weights.iter().sum::<f64>() + f64::MIN_POSITIVE } else { 1.0 }
    }

    fn iterated(&self, gradient: &[f64], accuracy: f64, run: &mut MarginRun) -> Result<(Vec<f64>, u64), Cancelled> {
        let width = gradient.len();
        let mut diagonal = self.passes.squares(self.weights);
        diagonal.iter_mut().enumerate().for_each(|(j, d)| *d += self.identity(j));
        let mut coef = vec![0.0; self.weights.len()];
        let image = |direction: &[f64], image: &mut [f64]| {
            run.control.control().check(2 * self.passes.cost() + 8 * width as u64)?;
            self.passes.products(direction, &mut coef);
            coef.iter_mut().zip(self.weights).for_each(|(c, h)| *c *= h);
            image.copy_from_slice(&self.passes.combine(&coef));
            for (j, image) in image.iter_mut().enumerate() {
                *image += self.identity_times(j, direction[j]);
            }
            Ok(())
        };
        let mut cg = ConjugateGradients::new(gradient.iter().map(|g| -g).collect(), accuracy);
        cg.run(MOST, image, |r, z| divide(r, &diagonal, z))?;
        run.work.gradients += cg.iterations;
        Ok((cg.x, cg.iterations))
    }

    #[inline]
    fn identity_times(&self, column: usize, value: f64) -> f64 {
        if self.free == Some(column) { 0.0 } else { value }
    }
}
