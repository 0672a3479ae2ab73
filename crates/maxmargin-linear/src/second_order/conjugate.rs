//! Conjugate gradients with any matrix and preconditioner, and the solution by a factor.

use faer::Mat;
use maxmargin_core::Cancelled;
use maxmargin_simd::sums::{add_scaled, dot};

/// Solves `L Lᵀ x = x`: one pass over the columns of `L` for each factor. faer's solutions are for
/// many right-hand sides, and take several times as long for one.
pub(crate) fn solve_in_place(factor: &Mat<f64>, x: &mut [f64]) {
    for j in 0..x.len() {
        let column = &factor.col_as_slice(j)[j..x.len()];
        let (own, below) = x[j..].split_first_mut().expect("j is below the length");
        *own /= column[0];
        add_scaled(below, -*own, &column[1..]);
    }
    for j in (0..x.len()).rev() {
        let column = &factor.col_as_slice(j)[j..x.len()];
        x[j] = (x[j] - dot(&x[j + 1..], &column[1..])) / column[0];
    }
}

/// The state of conjugate gradients for `H x = right`.
pub(crate) struct ConjugateGradients {
    pub(crate) x: Vec<f64>,
    residual: Vec<f64>,
    pub(crate) iterations: u64,
    /// The relative accuracy in the norm of the first preconditioner.
    accuracy: f64,
    /// The squared norm that ends the iteration; the first preconditioner sets it.
    goal: Option<f64>,
}

impl ConjugateGradients {
    pub(crate) fn new(right: Vec<f64>, accuracy: f64) -> Self {
        Self { x: vec![0.0; right.len()], residual: right, iterations: 0, accuracy, goal: None }
    }

    /// Iterates from the present `x` until the residual is small, there are `most` iterations or
    /// `H` has no curvature. `image` computes `H p`, `precondition` an approximation of `H⁻¹ r`.
    /// Returns whether the goal was reached.
    ///
    /// # Errors
    ///
    /// Any error that `image` returns.
    pub(crate) fn run(
        &mut self,
        most: u64,
        mut image: impl FnMut(&[f64], &mut [f64]) -> Result<(), Cancelled>,
        mut precondition: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<bool, Cancelled> {
        let width = self.x.len();
        let (mut z, mut product) = (vec![0.0; width], vec![0.0; width]);
        precondition(&self.residual, &mut z);
        let mut direction = z.clone();
        let mut rz = dot(&self.residual, &z);
        let goal = *self.goal.get_or_insert(self.accuracy * self.accuracy * rz);
        while rz > goal {
            if self.iterations >= most {
                return Ok(false);
            }
            image(&direction, &mut product)?;
            self.iterations += 1;
            let curvature = dot(&direction, &product);
            if curvature <= 0.0 {
                return Ok(false);
            }
            let step = rz / curvature;
            for j in 0..width {
                self.x[j] += step * direction[j];
                self.residual[j] -= step * product[j];
            }
            precondition(&self.residual, &mut z);
            let new = dot(&self.residual, &z);
            let ratio = new / rz;
            rz = new;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + ratio * *d);
        }
        Ok(true)
    }
}

/// Computes `z = r / diagonal`.
pub(crate) fn divide(r: &[f64], diagonal: &[f64], z: &mut [f64]) {
    z.iter_mut().zip(r).zip(diagonal).for_each(|((z, r), d)| *z = r / d);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves with this matrix and its diagonal; returns the solution and the iterations.
    fn solved(h: [[f64; 3]; 3], right: [f64; 3], accuracy: f64) -> (Vec<f64>, u64) {
        let diagonal: Vec<f64> = (0..3).map(|j| h[j][j].max(1.0)).collect();
        let mut cg = ConjugateGradients::new(right.to_vec(), accuracy);
        let image = |p: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(&h).for_each(|(out, row)| *out = row.iter().zip(p).map(|(h, p)| h * p).sum());
            Ok(())
        };
        let Ok(_) = cg.run(50, image, |r, z| divide(r, &diagonal, z)) else { unreachable!("nothing is cancelled") };
        (cg.x, cg.iterations)
    }

    #[test]
    fn as_many_iterations_as_columns_are_exact() {
        let (h, right) = ([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]], [6.0, 10.0, 8.0]);
        let (x, iterations) = solved(h, right, 1e-12);
        assert!(iterations <= 4 && x.iter().zip([1.0, 2.0, 3.0]).all(|(x, of)| (x - of).abs() < 1e-12), "{x:?}");
        let (_, rough) = solved(h, right, 0.3);
        assert!(rough < iterations, "{rough}");
    }

    #[test]
    fn a_factor_solves() {
        let factor = Mat::from_fn(40, 40, |i, j| if i < j { f64::NAN } else { 1.0 + ((3 * i + j) % 7) as f64 / 7.0 });
        let known: Vec<f64> = (0..40_u8).map(|i| f64::from(i % 5) - 2.0).collect();
        let of_transposed = |j: usize| (j..40).map(|i| factor[(i, j)] * known[i]).sum::<f64>();
        let half: Vec<f64> = (0..40).map(of_transposed).collect();
        let mut x: Vec<f64> = (0..40).map(|i| (0..=i).map(|j| factor[(i, j)] * half[j]).sum()).collect();
        solve_in_place(&factor, &mut x);
        assert!(x.iter().zip(&known).all(|(x, known)| (x - known).abs() < 1e-6), "{x:?}");
    }

    #[test]
    fn no_curvature_ends_them() {
        assert_eq!(solved([[0.0; 3]; 3], [1.0; 3], 0.1), (vec![0.0; 3], 1));
    }
}
