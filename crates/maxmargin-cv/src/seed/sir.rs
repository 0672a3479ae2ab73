//! SIR, single instance replacement (Wen et al. 2017, algorithm 3).
//!
//! R are the samples that leave, T those that enter, S the shared ones.
//!
//! ```text
//! for each r in R with α_r > 0:
//! 1. t = the unused sample of T with y_t = y_r and the largest K(x_r, x_t) > 0
//! 2. if there is one: α_t = α_r, mark t as used
//! 3. α_r = 0
//! finally, α_S stays, and:
//! 4. shift all y_t α_t, t in T, equally within their boxes until yᵀα = 0
//! 5. spread what T cannot take over S, free samples first
//! ```
//!
//! Algorithm 3 seeks the largest kernel value from 0 on. Where `K(x_r, x_t)` is 0 for all `t` it
//! replaces nothing. [`Replacement::Always`] is a variant that finds a `t` for every `r` while any
//! is unused.

use super::problem::{FoldProblem, Trained};
use super::start_draft::{SeedResult, StartDraft, spread_over};
use maxmargin_core::Cancelled;

/// The condition on a sample that replaces another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// As printed: the same label and a positive kernel value.
    Similar,
    /// None: without an unused sample of the same label, one of the other label replaces it.
    Always,
}

/// Seeds a fold from the solution of the previous fold.
pub(super) fn seed<'a>(replacement: Replacement, from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let draft = StartDraft::new(from, fold);
    let entering = fold.entering(from);
    let beta = replaced(replacement, &draft, &entering, fold)?;
    adjust(draft, beta, &entering)
}

/// `y α` of every row after steps 1 to 3. Ties go to the lower index.
fn replaced(replacement: Replacement, draft: &StartDraft, entering: &[usize], fold: FoldProblem) -> Result<Vec<f64>, Cancelled> {
    let FoldProblem { boxes, rows, .. } = fold;
    let leaving = draft.leaving();
    rows.fetch(&leaving, fold.control)?;
    let mut beta = draft.beta().to_vec();
    let mut used = vec![false; entering.len()];
    for r in leaving {
        // Step 1.
        let row = draft.row(r)?;
        let alike = |at: usize| row.at(rows.place(entering[at]));
        let same_label = |at: usize| boxes.same_side(entering[at], r);
        let nearest = |may: &dyn Fn(usize) -> bool| {
            let open = (0..entering.len()).filter(|&at| !used[at] && may(at));
            open.max_by(|&a, &b| alike(a).total_cmp(&alike(b)).then(b.cmp(&a)))
        };
        let found = match replacement {
            Replacement::Similar => nearest(&|at| same_label(at) && alike(at) > 0.0),
            Replacement::Always => nearest(&same_label).or_else(|| nearest(&|_| true)),
        };
        // Step 2.
        if let Some(at) = found {
            let t = entering[at];
            used[at] = true;
            beta[t] = boxes.carried(t, beta[r]);
        }
        // Step 3.
        beta[r] = 0.0;
    }
    Ok(beta)
}

/// Shifts `y α` of the samples that enter equally within their boxes until `yᵀα = 0`. What they
/// cannot take is spread over the shared samples, free ones first (Wen et al. 2017, section 3,
/// "Adjusting").
pub(super) fn adjust<'a>(mut draft: StartDraft<'a>, mut beta: Vec<f64>, entering: &[usize]) -> SeedResult<'a> {
    let boxes = draft.boxes();
    let lack = -beta.iter().sum::<f64>();
    spread_over(boxes, &mut beta, entering, lack);
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}

#[cfg(test)]
#[path = "sir_tests.rs"]
mod tests;
