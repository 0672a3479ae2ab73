//! SIR, single instance replacement (Wen et al. 2017, algorithm 3).
//!
//! R are the samples that leave, T those that enter, S the shared ones.
//!
//! ```text
//! for each r in R with α_r > 0:
//! 1. t = the unused sample of T with y_t = y_r and the largest K(x_r, x_t);
//!    without one, the unused sample of T with the largest K(x_r, x_t)
//! 2. α_t = α_r;  α_r = 0;  mark t as used
//! finally, α_S stays, and:
//! 3. shift all y_t α_t, t in T, equally within their boxes until yᵀα = 0
//! 4. spread what T cannot take over S, free samples first
//! ```

use super::problem::{FoldProblem, Trained};
use super::start_draft::{SeedResult, StartDraft, spread_over};

/// Seeds a fold from the solution of the previous fold.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let FoldProblem { boxes, rows, .. } = fold;
    let draft = StartDraft::new(from, fold);
    let entering = fold.entering(from);
    let leaving = draft.leaving();
    rows.fetch(&leaving, fold.control)?;
    let mut beta = draft.beta().to_vec();
    let mut used = vec![false; entering.len()];
    for r in leaving {
        // Step 1.
        let row = draft.row(r)?;
        let best = |same_label: bool| {
            let open = |at: &usize| !used[*at] && (!same_label || boxes.same_side(entering[*at], r));
            let alike = |at: usize| row.at(rows.place(entering[at]));
            (0..entering.len()).filter(open).max_by(|&a, &b| alike(a).total_cmp(&alike(b)).then(b.cmp(&a)))
        };
        // Step 2.
        if let Some(at) = best(true).or_else(|| best(false)) {
            let t = entering[at];
            used[at] = true;
            beta[t] = boxes.carried(t, beta[r]);
        }
        beta[r] = 0.0;
    }
    // Steps 3 and 4.
    adjust(draft, beta, &entering)
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
