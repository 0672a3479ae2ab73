//! Conjugate gradients for Newton systems with many features.
//!
//! ```text
//!   1  eliminate the columns that one active row alone has (shared.rs)
//!   2  stiff rows S: those with the largest h'_k Σ_j c_kj² / Δ_j;  Δ ← 1 + Σ_{k not in S} h'_k c_k²
//!   3  L Lᵀ ← diag(1/h'_S) + C_S Δ⁻¹ C_Sᵀ: with Woodbury's identity the inverse of the preconditioner
//!      Δ + Σ_{k in S} h'_k c_k c_kᵀ
//!   4  conjugate gradients;  while they need too many iterations: double S and go to 2
//!   5  the eliminated columns from the others
//! ```
//!
//! Without stiff rows this is the diagonal preconditioner, with all of them a direct method. At a
//! large C the diagonal alone takes thousands of iterations, and a few hundred stiff rows take
//! them to a hundred.

use crate::second_order::conjugate::{ConjugateGradients, solve_in_place};
use crate::second_order::products::weighted_gram;
use crate::second_order::shared::Shared;
use faer::Mat;
use maxmargin_core::{Cancelled, RunControl, cholesky};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_kernel::{MemoryBudget, Reservation};

/// The stiff rows of the first system: their factor costs less than a tenth of the iterations.
pub(crate) const FIRST: usize = 256;

/// The largest number of stiff rows.
const MOST: usize = 4096;

/// The largest number of iterations with as many stiff rows as possible.
const GRADIENTS: u64 = 2000;

/// The number of stiff rows doubles when the iterations have cost this many times the larger
/// factor.
const COST_RATIO: f64 = 2.0;

/// A Newton system with many features.
pub(crate) struct WideSystem<'m> {
    shared: Shared,
    memory: &'m MemoryBudget,
    par: Par,
    preconditioner: Preconditioner<'m>,
    next: usize,
}

/// `Δ` and the factor of the stiff rows.
struct Preconditioner<'m> {
    /// The stiff rows, ascending.
    stiff: Vec<usize>,
    /// `1 / Δ`.
    inverse: Vec<f64>,
    factor: Option<Mat<f64>>,
    /// The memory of the factor.
    held: Option<Reservation<'m>>,
}

/// The solution of a system.
pub(crate) struct WideSolution {
    pub(crate) x: Vec<f64>,
    pub(crate) iterations: u64,
}

impl<'m> WideSystem<'m> {
    /// Prepares the system with this number of stiff rows.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn new<R: FeatureRows>(
        rows: &R,
        memory: &'m MemoryBudget,
        ids: &[usize],
        weights: &[f64],
        stiff: usize,
        par: Par,
        control: &RunControl,
    ) -> Result<Self, Cancelled> {
        let shared = Shared::new(rows, ids, weights);
        let preconditioner = Preconditioner::new(&shared, memory, stiff, par, control)?;
        Ok(Self { shared, memory, par, preconditioner, next: stiff })
    }

    /// The number of stiff rows in use.
    fn stiff(&self) -> usize {
        self.preconditioner.stiff.len()
    }

    /// The number of stiff rows for the next system of a run.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    /// Returns the iterations with `stiff` stiff rows that cost as much as [`COST_RATIO`] factors
    /// of `larger` ones: about a nanosecond for an entry, a tenth of one for blocked arithmetic.
    fn iterations_before(&self, stiff: usize, larger: usize) -> u64 {
        let rows = self.shared.rows.len().max(1) as f64;
        let (entries, stiff, larger) = (self.shared.rows.entries() as f64, stiff as f64, larger as f64);
        let iteration = 2.0 * entries + 0.7 * stiff * stiff + 5.0 * self.shared.width() as f64;
        let factor = 0.5 * larger * larger * entries / rows + larger.powi(3) / 60.0;
        ((COST_RATIO * factor / iteration) as u64).clamp(10, GRADIENTS)
    }

    /// Returns the solution for the right-hand side `r` to a relative accuracy in the norm of the
    /// preconditioner.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn solve(&mut self, r: &[f64], accuracy: f64, control: &RunControl) -> Result<WideSolution, Cancelled> {
        let (right, own) = self.shared.eliminate(r);
        let mut cg = ConjugateGradients::new(right, accuracy);
        loop {
            let (stiff, all) = (self.stiff(), self.shared.rows.len().min(MOST));
            let larger = (2 * stiff).max(FIRST).min(all);
            let most = if stiff < larger { self.iterations_before(stiff, larger) } else { GRADIENTS };
            let most = cg.iterations + most;
            let reached = self.iterate(&mut cg, most, control)?;
            if reached || stiff == larger {
                break;
            }
            self.preconditioner = Preconditioner::new(&self.shared, self.memory, larger, self.par, control)?;
            if self.stiff() <= stiff {
                // There is no memory for a larger factor.
                let most = cg.iterations + GRADIENTS;
                self.iterate(&mut cg, most, control)?;
                break;
            }
        }
        let (stiff, cheap) = (self.stiff(), self.iterations_before(self.stiff(), self.stiff()));
        self.next = if cg.iterations < cheap / 4 { (stiff / 2).max(FIRST / 2) } else { stiff };
        Ok(WideSolution { x: self.shared.complete(r, &cg.x, &own), iterations: cg.iterations })
    }

    /// Iterates with the present preconditioner; returns whether the goal was reached.
    fn iterate(&self, cg: &mut ConjugateGradients, most: u64, control: &RunControl) -> Result<bool, Cancelled> {
        let Self { shared, preconditioner, par, .. } = self;
        let m = preconditioner.stiff.len();
        let mut coef = vec![0.0; shared.rows.len()];
        let image = |direction: &[f64], image: &mut [f64]| {
            control.check((4 * shared.rows.entries() + 2 * m * m + 8 * shared.width()) as u64)?;
            shared.image(direction, &mut coef, image, *par);
            Ok(())
        };
        let mut sum = vec![0.0; shared.width()];
        cg.run(most, image, |r, z| preconditioner.apply(shared, r, &mut sum, z))
    }
}

impl<'m> Preconditioner<'m> {
    fn new(shared: &Shared, memory: &'m MemoryBudget, most: usize, par: Par, control: &RunControl) -> Result<Self, Cancelled> {
        // 2: the stiff rows and the diagonal of the others.
        let mut diagonal = vec![1.0; shared.width()];
        add_squares(shared, 0..shared.rows.len(), &mut diagonal);
        let m = most.min(shared.rows.len()).min(MOST);
        let held = memory.reserve(16 * (m * m) as u64);
        let mut stiff = if held.is_some() { stiffest(shared, &diagonal, m, par) } else { Vec::new() };
        diagonal.fill(1.0);
        let mut is_stiff = vec![false; shared.rows.len()];
        stiff.iter().for_each(|&k| is_stiff[k] = true);
        add_squares(shared, (0..shared.rows.len()).filter(|&k| !is_stiff[k]), &mut diagonal);
        // 3: the factor.
        let mut factor = None;
        if !stiff.is_empty() {
            let weights = stiff.iter().map(|&k| shared.reduced[k]);
            let mut gram = weighted_gram(&shared.rows, &stiff, Some(&diagonal), weights, par, control)?;
            if cholesky(gram.as_mut(), par, control)? {
                factor = Some(gram);
            } else {
                add_squares(shared, stiff.iter().copied(), &mut diagonal);
                stiff.clear();
            }
        }
        diagonal.iter_mut().for_each(|d| *d = 1.0 / *d);
        Ok(Self { stiff, inverse: diagonal, factor, held })
    }

    /// Computes `z = M⁻¹ r`; `sum` is scratch, one number a column.
    fn apply(&self, shared: &Shared, r: &[f64], sum: &mut [f64], z: &mut [f64]) {
        let _ = &self.held;
        z.iter_mut().zip(r).zip(&self.inverse).for_each(|((z, r), inverse)| *z = r * inverse);
        let Some(factor) = &self.factor else { return };
        let mut y: Vec<f64> = self.stiff.iter().map(|&k| shared.rows.dot(k, z)).collect();
        solve_in_place(factor, &mut y);
        sum.fill(0.0);
        self.stiff.iter().zip(y).for_each(|(&k, y)| shared.rows.add(k, y, sum));
        z.iter_mut().zip(sum).zip(&self.inverse).for_each(|((z, sum), inverse)| *z -= *sum * inverse);
    }
}

/// Adds `h'_k c_k²` to the diagonal.
fn add_squares(shared: &Shared, of: impl Iterator<Item = usize>, diagonal: &mut [f64]) {
    for k in of {
        let h = shared.reduced[k];
        shared.rows.each(k, |j, v| diagonal[j] += h * v * v);
    }
}

/// Returns the `m` rows with the largest `h'_k Σ_j c_kj² / Δ_j`, ascending.
fn stiffest(shared: &Shared, diagonal: &[f64], m: usize, par: Par) -> Vec<usize> {
    let n = shared.rows.len();
    let mut order: Vec<usize> = (0..n).collect();
    if m < n && m > 0 {
        let leverage = par.map(n.div_ceil(512), |chunk| {
            let of = |k: usize| {
                let mut sum = 0.0;
                shared.rows.each(k, |j, v| sum += v * v / diagonal[j]);
                shared.reduced[k] * sum
            };
            (chunk * 512..n.min((chunk + 1) * 512)).map(of).collect::<Vec<f64>>()
        });
        let leverage = leverage.concat();
        order.select_nth_unstable_by(m - 1, |&a, &b| leverage[b].total_cmp(&leverage[a]).then(a.cmp(&b)));
    }
    order.truncate(m);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_kernel::Matrix;
    use maxmargin_kernel::features::Job;
    use maxmargin_simd::sums::dot;

    /// Rows with common columns, columns of their own, a copy and no entries.
    fn samples() -> maxmargin_data::Samples {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..40_u32 {
            for j in (0..12).filter(|j| i != 7 && (i * i + 3 * j) % 5 < 2) {
                columns.push(j);
                values.push(f64::from((i * 7 + j) % 9 + 1) / 3.0);
            }
            if i % 3 == 1 && i != 7 {
                columns.push(12 + i);
                values.push(2.0);
            }
            offsets.push(columns.len());
        }
        maxmargin_data::Samples::from_sparse(60, offsets, columns, values).expect("samples")
    }

    struct Solve<'a> {
        weights: &'a [f64],
        stiff: usize,
        right: &'a [f64],
        budget: u64,
    }

    impl Job for Solve<'_> {
        type Out = (WideSolution, f64);

        /// Returns the solution and the norm of its residual.
        fn run<R: FeatureRows>(self, rows: &R) -> Self::Out {
            let ids: Vec<usize> = (0..self.weights.len()).collect();
            let (memory, control) = (MemoryBudget::new(self.budget), RunControl::unlimited());
            let mut system =
                WideSystem::new(rows, &memory, &ids, self.weights, self.stiff, Par::Seq, &control).expect("not cancelled");
            let solution = system.solve(self.right, 1e-12, &control).expect("not cancelled");
            let mut residual: Vec<f64> = self.right.iter().zip(&solution.x).map(|(r, x)| r - x).collect();
            for (k, h) in self.weights.iter().enumerate() {
                rows.add(k, -h * rows.dot(k, &solution.x), &mut residual);
            }
            (solution, dot(&residual, &residual).sqrt())
        }
    }

    #[test]
    fn any_number_of_stiff_rows_solves_the_system() {
        let samples = samples();
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let right: Vec<f64> = (0..60).map(|j| f64::from(j % 7) - 3.0).collect();
        for weight in [1e-3, 1.0, 1e5] {
            let weights: Vec<f64> = (0..40).map(|k| weight * f64::from(1 + k % 3)).collect();
            let of = |stiff, budget| matrix.visit(Solve { weights: &weights, stiff, right: &right, budget });
            for (stiff, budget) in [(0, u64::MAX), (5, u64::MAX), (40, u64::MAX), (40, 0)] {
                let (_, residual) = of(stiff, budget);
                assert!(residual < 1e-9 * weight.max(1.0), "weight {weight}, {stiff} stiff rows: {residual}");
            }
            let (all, none) = (of(40, u64::MAX).0.iterations, of(0, u64::MAX).0.iterations);
            assert!(all <= 2 && all < none, "all rows stiff is a direct method: {all}, {none}");
        }
    }
}
