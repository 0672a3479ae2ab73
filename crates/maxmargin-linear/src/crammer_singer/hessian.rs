//! Newton systems of all classes: `(I + σ Σ_i x_i x_iᵀ ⊗ U_i U_iᵀ) d = r` over the free classes of
//! each row (free.rs), in the smaller of two forms: of all weights, or by Woodbury's identity of
//! all columns of `B = (x_i ⊗ U_i)`: `d = r − B (I/σ + BᵀB)⁻¹ Bᵀ r`.

use crate::crammer_singer::free::{FreeClasses, FreeRow};
use crate::crammer_singer::passes::{scores, weights_of};
use crate::second_order::conjugate::solve_in_place;
use crate::second_order::products::{row_products, weighted_products};
use faer::Mat;
use maxmargin_core::{Cancelled, RunControl, cholesky};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;

/// The largest number of unknowns of a system: its matrix has 128 MiB.
pub(super) const LARGEST: usize = 4096;

/// The share of the diagonal that is added to a matrix that is not positive definite to working
/// precision.
const SHIFTS: [f64; 3] = [0.0, 1e-12, 1e-9];

/// Bytes of a system with so many unknowns: the matrix, its factor, and sums of its blocks.
pub(super) fn bytes(unknowns: usize) -> u64 {
    8 * 3 * (unknowns as u64).pow(2)
}

/// A Newton system.
pub(super) struct NewtonSystem<'a, R> {
    pub(super) rows: &'a R,
    pub(super) free: FreeClasses,
    pub(super) sigma: f64,
    pub(super) par: Par,
}

/// The rows in which two classes are free, with their entries of `U Uᵀ`.
struct Members {
    classes: (usize, usize),
    rows: Vec<(usize, f64)>,
}

impl<R: FeatureRows> NewtonSystem<'_, R> {
    /// Returns the solution for the right-hand side `r`, or nothing if the system is not positive
    /// definite to working precision.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(super) fn solve(&self, r: &[f64], control: &RunControl) -> Result<Option<Vec<f64>>, Cancelled> {
        let (unknowns, rank) = (self.rows.width() * self.free.classes, self.free.rank());
        if rank == 0 {
            return Ok(Some(r.to_vec()));
        }
        if unknowns <= rank { self.of_weights(r, control) } else { self.of_columns(r, control) }
    }

    /// The solution of the system of all weights: those of one class follow each other.
    fn of_weights(&self, r: &[f64], control: &RunControl) -> Result<Option<Vec<f64>>, Cancelled> {
        let (width, classes) = (self.rows.width(), self.free.classes);
        let members = self.members();
        let blocks = self.par.map(members.len(), |at| weighted_products(self.rows, &members[at].rows, Par::Seq, control));
        let mut hessian = Mat::<f64>::zeros(width * classes, width * classes);
        for ((one, other), block) in members.iter().map(|of| of.classes).zip(blocks) {
            let block = block?;
            // The blocks are symmetric, and their lower triangles known.
            for j in 0..width {
                let values = &block.col_as_slice(j)[j..];
                let column = &mut hessian.col_as_slice_mut(one * width + j)[other * width + j..];
                column.iter_mut().zip(values).for_each(|(out, value)| *out = self.sigma * value);
                for (i, value) in (j..).zip(values) {
                    hessian[(other * width + j, one * width + i)] = self.sigma * value;
                }
            }
        }
        (0..width * classes).for_each(|j| hessian[(j, j)] += 1.0);
        let right: Vec<f64> = (0..width * classes).map(|at| r[at % width * classes + at / width]).collect();
        let x = solved(&hessian, &right, self.par, control)?;
        Ok(x.map(|x| (0..width * classes).map(|at| x[at % classes * width + at / classes]).collect()))
    }

    /// The members of all pairs of classes that have some.
    fn members(&self) -> Vec<Members> {
        let classes = self.free.classes;
        let mut all: Vec<Vec<(usize, f64)>> = vec![Vec::new(); classes * classes];
        for FreeRow { row, classes: free, .. } in &self.free.rows {
            let share = 1.0 / free.len() as f64;
            for (a, &one) in free.iter().enumerate() {
                all[one as usize * classes + one as usize].push((*row, 1.0 - share));
                free[a + 1..].iter().for_each(|&other| all[one as usize * classes + other as usize].push((*row, -share)));
            }
        }
        let pairs = (0..classes * classes).map(|at| (at / classes, at % classes));
        pairs.zip(all).filter(|(_, rows)| !rows.is_empty()).map(|(classes, rows)| Members { classes, rows }).collect()
    }

    /// The solution by the system of the columns of B.
    fn of_columns(&self, r: &[f64], control: &RunControl) -> Result<Option<Vec<f64>>, Cancelled> {
        let (free, classes, rank) = (&self.free.rows, self.free.classes, self.free.rank());
        let ids: Vec<usize> = free.iter().map(|of| of.row).collect();
        let products = row_products(self.rows, &ids, None, self.par, control)?;
        let mut gram = vec![0.0; rank * rank];
        control.check((rank * rank) as u64 / 2)?;
        for (one, of) in free.iter().enumerate() {
            let products = &products[one * free.len()..][..free.len()];
            self.par.for_chunks(&mut gram[of.begin * rank..of.end() * rank], rank, |a, column| {
                for (other, product) in free[one..].iter().zip(&products[one..]) {
                    for (b, out) in column[other.begin..other.end()].iter_mut().enumerate() {
                        *out = product * of.product(a, other, b);
                    }
                }
                column[of.begin + a] += 1.0 / self.sigma;
            });
        }
        let matrix = Mat::from_fn(rank, rank, |i, j| gram[j * rank + i]);
        drop(gram);
        let seen = scores(self.rows, r, classes, self.par);
        let mut right = Vec::with_capacity(rank);
        free.iter().for_each(|of| of.reduce(&seen[of.row * classes..(of.row + 1) * classes], &mut right));
        let Some(t) = solved(&matrix, &right, self.par, control)? else { return Ok(None) };
        let mut back = vec![0.0; seen.len()];
        for of in free {
            of.expand(&t[of.begin..of.end()], &mut back[of.row * classes..(of.row + 1) * classes]);
        }
        let mut direction = weights_of(self.rows, &back, classes, self.par);
        direction.iter_mut().zip(r).for_each(|(out, r)| *out = r - *out);
        Ok(Some(direction))
    }
}

/// The solution with the lower triangle of a symmetric matrix.
fn solved(matrix: &Mat<f64>, right: &[f64], par: Par, control: &RunControl) -> Result<Option<Vec<f64>>, Cancelled> {
    for shift in SHIFTS {
        let mut factor = matrix.clone();
        (0..right.len()).for_each(|j| factor[(j, j)] *= 1.0 + shift);
        if cholesky(factor.as_mut(), par, control)? {
            let mut x = right.to_vec();
            solve_in_place(&factor, &mut x);
            return Ok(Some(x));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::Samples;
    use maxmargin_kernel::Matrix;
    use maxmargin_kernel::features::Job;
    use proptest::prelude::*;

    /// The solutions of both forms of a system, and the largest error of the first in the system.
    struct BothForms {
        alpha: Vec<f64>,
        right: Vec<f64>,
        sigma: f64,
    }

    impl Job for BothForms {
        type Out = (Vec<f64>, Vec<f64>, f64);

        fn run<R: FeatureRows>(self, rows: &R) -> Self::Out {
            let classes = self.right.len() / rows.width();
            let (free, control) = (FreeClasses::of(&self.alpha, classes, |_, _| 0.0), RunControl::unlimited());
            let system = NewtonSystem { rows, free, sigma: self.sigma, par: Par::Seq };
            let of_weights = system.of_weights(&self.right, &control).expect("not cancelled").expect("positive definite");
            let of_columns = system.of_columns(&self.right, &control).expect("not cancelled").expect("positive definite");
            // H d, by the definition.
            let seen = scores(rows, &of_weights, classes, Par::Seq);
            let mut moved = vec![0.0; seen.len()];
            for of in &system.free.rows {
                let free: Vec<usize> = of.classes.iter().map(|&m| of.row * classes + m as usize).collect();
                let mean = free.iter().map(|&at| seen[at]).sum::<f64>() / free.len() as f64;
                free.iter().for_each(|&at| moved[at] = self.sigma * (seen[at] - mean));
            }
            let image = weights_of(rows, &moved, classes, Par::Seq);
            let error = |at: usize| (of_weights[at] + image[at] - self.right[at]).abs();
            let error = (0..self.right.len()).map(error).fold(0.0, f64::max);
            (of_weights, of_columns, error)
        }
    }

    proptest! {
        /// Both forms solve the system, whichever rows have free classes.
        #[test]
        fn both_forms_solve_the_system(
            numbers in proptest::collection::vec(-2.0..2.0_f64, 9 * 4),
            // A variable below its bound, which is 0 here, is free.
            alpha in proptest::collection::vec(prop_oneof![Just(0.0), Just(-1.0)], 9 * 5),
            right in proptest::collection::vec(-2.0..2.0_f64, 4 * 5),
            sigma in 0.01..100.0_f64,
        ) {
            prop_assume!(alpha.chunks(5).any(|alpha| alpha.iter().filter(|a| **a < 0.0).count() > 1));
            let samples = Samples::from_dense(9, 4, numbers).expect("samples");
            let (one, other, error) = Matrix::new(&samples, None, Par::Seq).visit(BothForms { alpha, right, sigma });
            prop_assert!(error < 1e-9, "{error}");
            for (a, b) in one.iter().zip(&other) {
                prop_assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }
    }
}
