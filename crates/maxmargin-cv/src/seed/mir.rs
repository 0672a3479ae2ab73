//! MIR, multiple instance replacement (Wen et al. 2017, algorithm 2).

use super::sir::adjust;
use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};
use maxmargin_core::Halted;

/// Relative residual of the normal equations at which the least-squares solution is good enough for
/// a start.
const TOL: f64 = 1e-3;

/// Most iterations of the least-squares solver.
const MOST: usize = 60;

/// α of the shared samples stays; that of the samples that enter solves, in the least-squares sense
/// over the previous training set X and the balance,
///
/// `[Q_XT; y_Tᵀ] α_T ≈ [y ⊙ Δf + Q_XR α_R; y_Rᵀ α_R]`, with `Δf_i = b − f_i` for the bounded
/// samples and 0 for the free ones (paper 1, equation 12).
///
/// In signed variables `β = y α` the rows are `K_XT β_T ≈ Δf + K_XR β_R`. The minimum-norm solution
/// (the paper's pseudo-inverse) is what conjugate gradients on the normal equations reach from
/// zero, without forming a matrix.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let Fold { boxes, rows, .. } = fold;
    let draft = StartDraft::new(from, fold);
    let targets = fold.entering(from);
    let n = boxes.len();
    let leaving = draft.leaving();
    rows.all().fetch_asking(&leaving, fold.asking)?;
    rows.all().fetch_asking(&targets, fold.asking)?;
    let threshold = -from.bias;
    let mut wanted: Vec<f64> = (0..n).map(|i| if draft.is_free(i) { 0.0 } else { threshold - draft.indicator(i) }).collect();
    let mut balance = 0.0;
    for &r in &leaving {
        draft.whole_row(r)?.entries().add_to(&mut wanted, draft.beta()[r]);
        balance += draft.beta()[r];
    }
    // What was not trained on is no row of the system.
    from.hidden.iter().for_each(|&i| wanted[i] = 0.0);
    let system = System { draft: &draft, targets: &targets, unseen: from.hidden };
    let found = system.least_squares(wanted, balance)?;
    let mut beta = draft.beta().to_vec();
    fold.hidden.iter().for_each(|&i| beta[i] = 0.0);
    targets.iter().zip(found).for_each(|(&t, b)| beta[t] = boxes.clamp(t, b));
    adjust(draft, beta, &targets)
}

/// `A = [K_XT; 1ᵀ]`, by rows of the kernel.
struct System<'s, 'a> {
    draft: &'s StartDraft<'a>,
    targets: &'s [usize],
    /// Rows that were not in the training set that the system is about.
    unseen: &'s [usize],
}

impl System<'_, '_> {
    /// `Aᵀ (residual, balance)`.
    fn transposed(&self, residual: &[f64], balance: f64) -> Result<Vec<f64>, Halted> {
        self.targets.iter().map(|&t| Ok(self.draft.whole_row(t)?.entries().dot(residual) + balance)).collect()
    }

    /// `A v` without the balance row; 0 at the samples that are not rows of the system.
    fn times(&self, v: &[f64], n: usize) -> Result<Vec<f64>, Halted> {
        let mut product = vec![0.0; n];
        for (&t, &v) in self.targets.iter().zip(v) {
            self.draft.whole_row(t)?.entries().add_to(&mut product, v);
        }
        self.unseen.iter().for_each(|&i| product[i] = 0.0);
        Ok(product)
    }

    /// Conjugate gradients on the normal equations (CGLS, Björck 1996, section 7.4).
    fn least_squares(&self, mut residual: Vec<f64>, mut balance: f64) -> Result<Vec<f64>, Halted> {
        let mut beta = vec![0.0; self.targets.len()];
        let mut gradient = self.transposed(&residual, balance)?;
        let mut direction = gradient.clone();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let mut norm = square(&gradient);
        let first = norm;
        for _ in 0..MOST {
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
