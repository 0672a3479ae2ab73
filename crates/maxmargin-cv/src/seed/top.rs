//! TOP: the α of removed samples handed to the most similar remaining ones (Lee et al. 2004).

use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};
use maxmargin_core::Halted;

/// Similar samples looked at before the search widens.
const NEAREST: usize = 16;

/// Gives each removed `y α` to the samples with the largest `K` to it, in turn, as much as their
/// box takes.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let rows = fold.rows;
    let mut draft = StartDraft::new(from, fold);
    let leaving = draft.leaving();
    rows.fetch_asking(&leaving, fold.asking)?;
    for r in leaving {
        let amount = draft.take(r)?;
        hand_over(&mut draft, r, amount)?;
    }
    Ok(draft.spread()?.then_some(draft))
}

/// Moves `amount` of `y α` to the samples most similar to `r`, in turn; ties go to the lower index.
fn hand_over(draft: &mut StartDraft, r: usize, mut amount: f64) -> Result<(), Halted> {
    let (rows, row) = (draft.rows(), draft.row(r)?);
    let mut open: Vec<usize> = draft.seen().filter(|&i| draft.room(i, amount) > 0.0).collect();
    let mut width = NEAREST;
    while amount != 0.0 && !open.is_empty() {
        let take = width.min(open.len());
        let nearer = |a: &usize, b: &usize| row.at(rows.place(*b)).total_cmp(&row.at(rows.place(*a))).then(a.cmp(b));
        if take < open.len() {
            open.select_nth_unstable_by(take - 1, nearer);
        }
        let rest = open.split_off(take);
        open.sort_unstable_by(nearer);
        for i in open {
            amount -= draft.shift(i, amount)?;
            if amount == 0.0 {
                break;
            }
        }
        open = rest;
        width *= 4;
    }
    Ok(())
}
