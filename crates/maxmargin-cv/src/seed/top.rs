//! TOP: gives the α of removed samples to the most similar remaining ones (Lee et al. 2004).
//!
//! R are the samples that leave the training set of all data.
//!
//! ```text
//! for each r in R:
//! 1. δ = y_r α_r;  α_r = 0
//! 2. for each remaining i, in the order of falling K(x_r, x_i), until δ = 0:
//! 3.     add as much of δ to y_i α_i as the box of i allows; δ -= what was added
//! finally:
//! 4. restore yᵀα = 0 against rounding
//! ```

use super::problem::{FoldProblem, Trained};
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_core::Cancelled;

/// Number of most similar samples that are sorted first. The number grows if they are not enough.
const NEAREST: usize = 16;

/// Seeds a fold from the model of all data.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let rows = fold.rows;
    let mut draft = StartDraft::new(from, fold);
    let leaving = draft.leaving();
    rows.fetch(&leaving, fold.control)?;
    for r in leaving {
        // Step 1.
        let amount = draft.take(r)?;
        hand_over(&mut draft, r, amount)?;
    }
    // Step 4.
    Ok(draft.spread()?.then_some(draft))
}

/// Moves `amount` of `y α` to the samples most similar to `r`, in turn (steps 2 and 3). Ties go to
/// the lower index.
fn hand_over(draft: &mut StartDraft, r: usize, mut amount: f64) -> Result<(), Cancelled> {
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

#[cfg(test)]
#[path = "top_tests.rs"]
mod tests;
