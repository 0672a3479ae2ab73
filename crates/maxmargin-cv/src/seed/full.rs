//! FULL: starts every fold from the model of all data, independently of the other folds (see
//! `docs/math/seeding.md`).
//!
//! R are the samples that leave, b the bias of the model of all data.
//!
//! ```text
//! 1. α_R = 0; update the gradient
//! 2. at the fixed bias b, repeat |R| times, or until no sample violates by more than ε:
//!        one exact coordinate step on the worst violator
//! 3. δ = −yᵀα; A = the samples that were free in the model of all data and still are
//! 4. leave out of A the samples whose box has no room for δ / |A|, until all have it
//! 5. add δ / |A| to y_i α_i of every i in A
//! 6. spread what is left of δ as AVG does
//! ```

use super::problem::{FoldProblem, Trained};
use super::row_boxes::alpha_of;
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_core::{Cancelled, gradient_from_sums};
use maxmargin_smo::{Relaxation, Relaxed, Shrinking, relax};

/// Seeds a fold from the model of all data.
///
/// In step 2, the samples near a removed one take over its part, each by its optimal amount. Steps
/// 3 to 5 restore the equality constraint: the exact answer if samples do not interact, and a small
/// change of the bias otherwise.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let FoldProblem { dual, rows, tol, .. } = fold;
    let mut draft = StartDraft::new(from, fold);
    let leaving = draft.leaving();
    // Copies of a sample move together if they are one variable of the solver.
    let joined = rows.joined(dual);
    draft.by_sums = rows.are_passed_by(dual, joined.as_ref(), draft.beta());
    // Step 1.
    draft.take_all(&leaving)?;
    let alpha = alpha_of(dual, draft.beta());
    let gradient = gradient_from_sums(dual, &alpha, |i| draft.sum(i));
    // Step 2.
    let relaxation = Relaxation { bias: from.bias, steps: leaving.len() as u64, tol, shrinking: Shrinking::default() };
    let relaxed = match &joined {
        Some(joined) => {
            let (alpha, gradient) = (joined.merge(&alpha), joined.gradient(&gradient));
            let relaxed = relax(joined.dual(), joined.rows(), &alpha, &gradient, &relaxation, fold.control)?;
            let (alpha, gradient) = joined.split_point(dual, &relaxed.alpha, &relaxed.gradient);
            Relaxed { alpha, gradient, ..relaxed }
        }
        None => relax(dual, rows.all(), &alpha, &gradient, &relaxation, fold.control)?,
    };
    draft.adopt(&relaxed);
    // Steps 3 to 5.
    spread_over_free(&mut draft, from, fold)?;
    // Step 6.
    Ok(draft.spread()?.then_some(draft))
}

/// Spreads the residual of the equality constraint evenly over the samples that were free in the
/// model of all data and still are. It starts from that model's sums of their rows, so that only
/// the rows of the few samples that drop out are read.
fn spread_over_free(draft: &mut StartDraft, from: &Trained, fold: FoldProblem) -> Result<(), Cancelled> {
    let Some(free_sums) = &from.free_sums else { return Ok(()) };
    let boxes = fold.boxes;
    let was_free = |i: &usize| boxes.is_free(*i, from.beta[*i]);
    // Step 3.
    let lack = draft.lack();
    let mut able: Vec<usize> = draft.seen().filter(|i| was_free(i) && draft.is_free(*i)).collect();
    // Step 4. The share of the others grows with every sample that is left out.
    for _ in 0..20 {
        let share = lack / able.len() as f64;
        let before = able.len();
        able.retain(|&i| draft.room(i, share) > share.abs());
        if able.len() == before {
            break;
        }
    }
    let share = lack / able.len() as f64;
    if able.is_empty() || able.iter().any(|&i| draft.room(i, share) <= share.abs()) {
        return Ok(());
    }
    // Step 5.
    let mut takes_part = vec![false; boxes.len()];
    able.iter().for_each(|&i| takes_part[i] = true);
    let left: Vec<usize> = (0..boxes.len()).filter(|i| was_free(i) && !takes_part[*i]).collect();
    if left.len() > able.len() {
        return Ok(());
    }
    let mut kernel_sums = free_sums.clone();
    if draft.by_sums {
        let gone = fold.rows.sums(&left, &vec![1.0; left.len()], fold.control)?;
        kernel_sums.iter_mut().zip(gone).for_each(|(sum, gone)| *sum -= gone);
    } else {
        for &i in &left {
            draft.row(i)?.entries().add_to(&mut kernel_sums, -1.0);
        }
    }
    draft.steps += left.len() as u64;
    draft.shift_together(&able, share, &kernel_sums);
    Ok(())
}
