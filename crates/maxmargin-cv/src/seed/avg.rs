//! AVG: spreads the α of removed samples evenly over the free ones (`DeCoste` and Wagstaff 2000).
//!
//! R are the samples that leave the training set of all data.
//!
//! ```text
//! for each r in R:
//! 1. δ = y_r α_r;  α_r = 0
//! 2. repeat until δ = 0 or no sample is free:
//!        add δ / |free| to y_i α_i of every free i, clip to the box; δ -= what was added
//! 3. spread what is left of δ over all samples in the same way
//! finally:
//! 4. restore yᵀα = 0 against rounding
//! ```

use super::problem::{FoldProblem, Trained};
use super::start_draft::{SeedResult, StartDraft, spread_over};

/// Seeds a fold from the model of all data.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let boxes = fold.boxes;
    let mut draft = StartDraft::new(from, fold);
    let mut beta = draft.beta().to_vec();
    let seen: Vec<usize> = draft.seen().collect();
    for r in draft.leaving() {
        // Step 1.
        let removed = std::mem::take(&mut beta[r]);
        // Step 2.
        let free: Vec<usize> = seen.iter().copied().filter(|&i| boxes.is_free(i, beta[i])).collect();
        let rest = spread_over(boxes, &mut beta, &free, removed);
        // Step 3.
        spread_over(boxes, &mut beta, &seen, rest);
    }
    draft.replace(&beta)?;
    // Step 4.
    Ok(draft.spread()?.then_some(draft))
}

#[cfg(test)]
#[path = "avg_tests.rs"]
mod tests;
