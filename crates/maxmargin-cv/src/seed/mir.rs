//! MIR, multiple instance replacement (Wen et al. 2017, algorithm 2).
//!
//! X is the previous training set, R the samples that leave it, T those that enter, S the shared
//! ones.
//!
//! ```text
//! 1. Δf_i = b − f_i for i in I_u ∪ I_l, 0 for the free samples I_m
//! 2. solve [Q_XT; y_Tᵀ] α_T ≈ [y ⊙ Δf + Q_XR α_R; y_Rᵀ α_R] by least squares (equations 17, 18)
//! 3. α_R = 0; α_S stays; clip α_T to [0, C]
//! 4. shift all y_t α_t, t in T, equally within their boxes until yᵀα = 0
//! 5. spread what T cannot take over S, free samples first
//! ```
//!
//! The paper inverts the normal matrix of step 2. Here conjugate gradients on the normal equations
//! (CGLS) stop at a relative residual of [`TOL`] or after [`MAX_ITERATIONS`]. The result is then
//! not the exact least-squares solution. The solver that starts there does the rest.

use super::problem::{FoldProblem, Trained};
use super::sir::adjust;
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_core::Cancelled;

/// Norm of the residual of the normal equations, relative to that at zero, at which the
/// least-squares solution is accurate enough for a start.
const TOL: f64 = 1e-3;

/// Maximum number of iterations of the least-squares solver.
const MAX_ITERATIONS: usize = 60;

/// Seeds a fold from the solution of the previous fold.
///
/// In signed variables `β = y α` the rows of the system are `K_XT β_T ≈ Δf + K_XR β_R`. Conjugate
/// gradients on the normal equations, started at zero, tend to the minimum-norm solution (the
/// paper's pseudo-inverse) without forming a matrix.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let FoldProblem { boxes, rows, .. } = fold;
    let draft = StartDraft::new(from, fold);
    let targets = fold.entering(from);
    rows.all().fetch(&draft.leaving(), fold.control)?;
    rows.all().fetch(&targets, fold.control)?;
    // Steps 1 and 2.
    let system = System { draft: &draft, targets: &targets, unseen: from.hidden };
    let solution = system.least_squares(system.right_side(-from.bias)?)?;
    // Step 3.
    let mut beta = draft.beta().to_vec();
    fold.hidden.iter().for_each(|&i| beta[i] = 0.0);
    targets.iter().zip(solution).for_each(|(&t, b)| beta[t] = boxes.clamp(t, b));
    // Steps 4 and 5.
    adjust(draft, beta, &targets)
}

/// The rows of the system that no `β_T` has met yet.
struct Residual {
    /// One for each sample; 0 outside X.
    samples: Vec<f64>,
    /// The one of the equality constraint.
    balance: f64,
}

/// The matrix `A = [K_XT; 1ᵀ]`, as products by rows of the kernel.
struct System<'s, 'a> {
    draft: &'s StartDraft<'a>,
    targets: &'s [usize],
    /// Rows outside the training set X.
    unseen: &'s [usize],
}

impl System<'_, '_> {
    /// `Δf + K_XR β_R` with `Δf` for the threshold `b` of the previous solution (step 1), and
    /// `Σ β_R`.
    fn right_side(&self, threshold: f64) -> Result<Residual, Cancelled> {
        let draft = self.draft;
        let change = |i: usize| if draft.is_free(i) { 0.0 } else { threshold - draft.indicator(i) };
        let mut samples: Vec<f64> = (0..draft.beta().len()).map(change).collect();
        let mut balance = 0.0;
        for r in draft.leaving() {
            draft.whole_row(r)?.entries().add_to(&mut samples, draft.beta()[r]);
            balance += draft.beta()[r];
        }
        self.unseen.iter().for_each(|&i| samples[i] = 0.0);
        Ok(Residual { samples, balance })
    }

    /// `Aᵀ residual`.
    fn transposed(&self, residual: &Residual) -> Result<Vec<f64>, Cancelled> {
        let product = |&t: &usize| Ok(self.draft.whole_row(t)?.entries().dot(&residual.samples) + residual.balance);
        self.targets.iter().map(product).collect()
    }

    /// `A v` without the last row; 0 for samples outside X.
    fn times(&self, v: &[f64], n: usize) -> Result<Vec<f64>, Cancelled> {
        let mut product = vec![0.0; n];
        for (&t, &v) in self.targets.iter().zip(v) {
            self.draft.whole_row(t)?.entries().add_to(&mut product, v);
        }
        self.unseen.iter().for_each(|&i| product[i] = 0.0);
        Ok(product)
    }

    /// Solves by conjugate gradients on the normal equations (CGLS, Björck 1996, section 7.4).
    fn least_squares(&self, mut residual: Residual) -> Result<Vec<f64>, Cancelled> {
        let mut beta = vec![0.0; self.targets.len()];
        let mut gradient = self.transposed(&residual)?;
        let mut direction = gradient.clone();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let mut norm = square(&gradient);
        let first = norm;
        for _ in 0..MAX_ITERATIONS {
            if norm <= TOL * TOL * first {
                break;
            }
            let image = self.times(&direction, residual.samples.len())?;
            let image_balance: f64 = direction.iter().sum();
            let step = norm / (square(&image) + image_balance * image_balance);
            beta.iter_mut().zip(&direction).for_each(|(b, d)| *b += step * d);
            residual.samples.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
            residual.balance -= step * image_balance;
            gradient = self.transposed(&residual)?;
            let next = square(&gradient);
            direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + next / norm * *d);
            norm = next;
        }
        Ok(beta)
    }
}

#[cfg(test)]
#[path = "mir_tests.rs"]
mod tests;
