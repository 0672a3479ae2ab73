//! FULL: every fold from the model of all data, independently of the other folds.

use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained};
use crate::seed::row_boxes::{alpha_of, gradient_of};
use maxmargin_core::Halted;
use maxmargin_smo::{Relaxation, Relaxed, Shrinking, relax};

/// Takes the α of the hidden samples away, then repairs in two moves:
///
/// 1. at the bias of the model of all data, one coordinate step for each α taken, always on the
///    worst violator: the samples near a removed one take over its part, by the amount that is
///    optimal for each;
/// 2. what the balance then lacks is spread evenly over the free samples: the exact answer where
///    samples do not interact, and a small change of the bias elsewhere.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let Fold { dual, rows, tol, .. } = fold;
    let mut draft = StartDraft::new(from, fold);
    let leaving = draft.leaving();
    // Copies move together where they are one variable to the solver.
    let joined = rows.joined(dual);
    draft.by_sums = rows.are_passed_by(dual, joined.as_ref());
    draft.take_all(&leaving)?;
    let alpha = alpha_of(dual, draft.beta());
    let gradient = gradient_of(dual, &alpha, |i| draft.sum(i));
    let relaxation = Relaxation { bias: from.bias, steps: leaving.len() as u64, tol, shrinking: Shrinking::default() };
    let relaxed = match &joined {
        Some(joined) => {
            let (alpha, gradient) = (joined.merge(&alpha), joined.gradient(&gradient));
            let relaxed = relax(joined.dual(), joined.rows(), &alpha, &gradient, &relaxation, fold.asking)?;
            let (alpha, gradient) = joined.split_point(dual, &relaxed.alpha, &relaxed.gradient);
            Relaxed { alpha, gradient, ..relaxed }
        }
        None => relax(dual, rows.all(), &alpha, &gradient, &relaxation, fold.asking)?,
    };
    draft.adopt(&relaxed);
    spread_over_free(&mut draft, from, fold)?;
    Ok(draft.spread()?.then_some(draft))
}

/// Spreads the lack of balance evenly over the samples that were free in the model of all data and
/// still are, using its sums of their rows: the rows read are those of the few that no longer take
/// part.
fn spread_over_free(draft: &mut StartDraft, from: &Trained, fold: Fold) -> Result<(), Halted> {
    let Some(free_sums) = &from.free_sums else { return Ok(()) };
    let boxes = fold.boxes;
    let was_free = |i: &usize| boxes.is_free(*i, from.beta[*i]);
    let lack = draft.lack();
    let mut able: Vec<usize> = draft.seen().filter(|i| was_free(i) && draft.is_free(*i)).collect();
    // Those whose box is too small for their share stand back, and the share of the others grows.
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
    let mut takes_part = vec![false; boxes.len()];
    able.iter().for_each(|&i| takes_part[i] = true);
    let left: Vec<usize> = (0..boxes.len()).filter(|i| was_free(i) && !takes_part[*i]).collect();
    if left.len() > able.len() {
        return Ok(());
    }
    let mut kernel_sums = free_sums.clone();
    if draft.by_sums {
        let gone = fold.rows.sums(&left, &vec![1.0; left.len()], fold.asking)?;
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
