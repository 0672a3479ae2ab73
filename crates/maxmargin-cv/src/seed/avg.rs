//! AVG: the α of removed samples spread evenly over the free ones (`DeCoste` and Wagstaff 2000).

use super::start_draft::spread_over;
use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};

/// Hands each removed `y α` to the free samples in equal shares, clipped at 0 and C and repeated
/// until all is handed out.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let boxes = fold.boxes;
    let mut draft = StartDraft::new(from, fold);
    let mut beta = draft.beta().to_vec();
    let seen: Vec<usize> = draft.seen().collect();
    for r in draft.leaving() {
        let removed = std::mem::take(&mut beta[r]);
        let free: Vec<usize> = seen.iter().copied().filter(|&i| boxes.is_free(i, beta[i])).collect();
        let rest = spread_over(boxes, &mut beta, &free, removed);
        spread_over(boxes, &mut beta, &seen, rest);
    }
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}
