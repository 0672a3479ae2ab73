//! MIR, multiple instance replacement (Wen et al. 2017, algorithm 2).
//!
//! X is the previous training set, R the samples that leave it, T those that enter, S the shared
//! ones.
//!
//! ```text
//! 1. Δf_i = b − f_i for i in I_u ∪ I_l, 0 for the free samples I_m
//! 2. solve [Q_XT; y_Tᵀ] α_T ≈ [y ⊙ Δf + Q_XR α_R; y_Rᵀ α_R] by least squares (equation 12)
//! 3. α_R = 0; α_S stays; clip α_T to [0, C]
//! 4. shift all y_t α_t, t in T, equally within their boxes until yᵀα = 0
//! 5. spread what T cannot take over S, free samples first
//! ```

use super::problem::{FoldProblem, Trained};
use super::sir::adjust;
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_core::Cancelled;

/// Relative residual of the normal equations at which the least-squares solution is accurate enough
/// for a start.
const TOL: f64 = 1e-3;

/// Maximum number of iterations of the least-squares solver.
const MAX_ITERATIONS: usize = 60;

/// Seeds a fold from the solution of the previous fold.
///
/// In signed variables `β = y α` the rows of the system are `K_XT β_T ≈ Δf + K_XR β_R`. Conjugate
/// gradients on the normal equations, started at zero, reach the minimum-norm solution (the paper's
/// pseudo-inverse) without forming a matrix.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let FoldProblem { boxes, rows, .. } = fold;
    let draft = StartDraft::new(from, fold);
    let targets = fold.entering(from);
    let n = boxes.len();
    let leaving = draft.leaving();
    rows.all().fetch(&leaving, fold.control)?;
    rows.all().fetch(&targets, fold.control)?;
    // Step 1.
    let threshold = -from.bias;
    let mut wanted: Vec<f64> = (0..n).map(|i| if draft.is_free(i) { 0.0 } else { threshold - draft.indicator(i) }).collect();
    // Step 2.
    let mut balance = 0.0;
    for &r in &leaving {
        draft.whole_row(r)?.entries().add_to(&mut wanted, draft.beta()[r]);
        balance += draft.beta()[r];
    }
    // Samples outside the previous training set are no rows of the system.
    from.hidden.iter().for_each(|&i| wanted[i] = 0.0);
    let system = System { draft: &draft, targets: &targets, unseen: from.hidden };
    let solution = system.least_squares(wanted, balance)?;
    // Step 3.
    let mut beta = draft.beta().to_vec();
    fold.hidden.iter().for_each(|&i| beta[i] = 0.0);
    targets.iter().zip(solution).for_each(|(&t, b)| beta[t] = boxes.clamp(t, b));
    // Steps 4 and 5.
    adjust(draft, beta, &targets)
}

/// The matrix `A = [K_XT; 1ᵀ]`, as products by rows of the kernel.
struct System<'s, 'a> {
    draft: &'s StartDraft<'a>,
    targets: &'s [usize],
    /// Rows outside the training set X.
    unseen: &'s [usize],
}

impl System<'_, '_> {
    /// `Aᵀ (residual, balance)`.
    fn transposed(&self, residual: &[f64], balance: f64) -> Result<Vec<f64>, Cancelled> {
        self.targets.iter().map(|&t| Ok(self.draft.whole_row(t)?.entries().dot(residual) + balance)).collect()
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
    fn least_squares(&self, mut residual: Vec<f64>, mut balance: f64) -> Result<Vec<f64>, Cancelled> {
        let mut beta = vec![0.0; self.targets.len()];
        let mut gradient = self.transposed(&residual, balance)?;
        let mut direction = gradient.clone();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let mut norm = square(&gradient);
        let first = norm;
        for _ in 0..MAX_ITERATIONS {
            if norm <= TOL * TOL * first {
                break;
            }
            let image = self.times(&direction, residual.len())?;
            let image_balance: f64 = direction.iter().sum();
            let step = norm / (square(&image) + image_balance * image_balance);
            beta.iter_mut().zip(&direction).for_each(|(b, d)| *b += step * d);
            residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= step * q);
            balance -= step * image_balance;
            gradient = self.transposed(&residual, balance)?;
            let next = square(&gradient);
            direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + next / norm * *d);
            norm = next;
        }
        Ok(beta)
    }
}
