//! SIR, single instance replacement (Wen et al. 2017, algorithm 3).

use super::start_draft::spread_over;
use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};

/// For each sample `r` that leaves with `α_r > 0`: the most similar unused sample `t` that enters
/// with the same label takes `α_r`; when that label is used up, any unused one. Then [`adjust`].
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let Fold { boxes, rows, .. } = fold;
    let draft = StartDraft::new(from, fold);
    let entering = fold.entering(from);
    let leaving = draft.leaving();
    rows.fetch_asking(&leaving, fold.asking)?;
    let mut beta = draft.beta().to_vec();
    let mut used = vec![false; entering.len()];
    for r in leaving {
        let row = draft.row(r)?;
        let best = |same_label: bool| {
            let open = |at: &usize| !used[*at] && (!same_label || boxes.same_side(entering[*at], r));
            let alike = |at: usize| row.at(rows.place(entering[at]));
            (0..entering.len()).filter(open).max_by(|&a, &b| alike(a).total_cmp(&alike(b)).then(b.cmp(&a)))
        };
        if let Some(at) = best(true).or_else(|| best(false)) {
            let t = entering[at];
            used[at] = true;
            beta[t] = boxes.carried(t, beta[r]);
        }
        beta[r] = 0.0;
    }
    adjust(draft, beta, &entering)
}

/// Shifts `y α` of the samples that enter uniformly within the box until the balance holds; what
/// they cannot absorb is spread over the shared samples, free ones first (paper 1, section 3,
/// "Adjusting").
pub(super) fn adjust<'a>(mut draft: StartDraft<'a>, mut beta: Vec<f64>, entering: &[usize]) -> SeedResult<'a> {
    let boxes = draft.boxes();
    let lack = -beta.iter().sum::<f64>();
    spread_over(boxes, &mut beta, entering, lack);
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}
