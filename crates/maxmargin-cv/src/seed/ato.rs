//! ATO, adjusting alpha towards optimum (Wen et al. 2017, algorithm 1).

use super::dec::walk;
use super::{SeedResult, StartDraft};
use crate::seed::problem::{Fold, Trained, without};
use maxmargin_path::{Added, Config, Path, PathError};

/// The path may cost as many multiply-adds as this many passes over the whole matrix: a training
/// from zero takes about four.
const PASSES: f64 = 256.0;

/// From the solution of the previous fold, made exact: `R` gives up its α while `T` takes some, `M`
/// keeps its margin, until `R` is empty. To factor the margin costs `|M|³/3`, a breakpoint `|M|² +
/// n |M|`; where the limit comes first (with a large margin before the first breakpoint), what is
/// left in `R` is dropped and the balance restored, as in the paper.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
    let boxes = fold.boxes;
    let (n, free) = (boxes.len(), (0..boxes.len()).filter(|&i| boxes.is_free(i, from.beta[i])).count());
    let (width, margin) = (n as f64, free as f64);
    let left = PASSES * width * width - margin.powi(3) / 3.0;
    let most = (left / (margin * margin + width * margin).max(1.0)).max(0.0) as usize;
    let mut draft = StartDraft::new(from, fold);
    let mut beta = from.beta.clone();
    if most > 0 {
        follow(from, fold, most, &mut draft, &mut beta)?;
    }
    fold.hidden.iter().for_each(|&i| beta[i] = 0.0);
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}

/// Writes `y α` at the end of the path into `beta`, or where it has got to after `most`
/// breakpoints.
fn follow(from: &Trained, fold: Fold, most: usize, draft: &mut StartDraft, beta: &mut [f64]) -> Result<(), PathError> {
    let Fold { boxes, rows, .. } = fold;
    // One variable for each row, in their order.
    let (sign, upper) = (boxes.dual().sign(), boxes.dual().upper());
    let ids: Vec<usize> = without(0..beta.len(), from.hidden).collect();
    let pick = |values: &[f64]| ids.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let alpha: Vec<f64> = ids.iter().map(|&i| sign[i] * from.beta[i]).collect();
    let config = Config::default().with_memory(fold.memory);
    let mut path = Path::new(rows.all().gram(), sign, config)?.asking(fold.go_on);
    let opened = path.adopt(&ids, &pick(upper), &alpha)?;
    let add: Vec<Added> = fold.entering(from).into_iter().map(|id| Added { id, upper: upper[id] }).collect();
    let remove = fold.leaving(from);
    let update = walk(&mut path, &add, &remove, Some(most), fold)?;
    for (i, beta) in beta.iter_mut().enumerate() {
        *beta = sign[i] * path.alpha(i).unwrap_or(0.0);
    }
    draft.steps += opened.columns + update.columns;
    draft.breakpoints = update.breakpoints as u64;
    Ok(())
}
