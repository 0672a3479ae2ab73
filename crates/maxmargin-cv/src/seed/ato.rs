//! ATO, adjusting alpha towards the optimum (Wen et al. 2017, algorithm 1).
//!
//! R are the samples that leave the training set, T those that enter it, M the free samples.
//!
//! ```text
//! 1. start from the solution of the previous fold, made exact
//! 2. repeat until R is empty, or a set number of breakpoints is passed:
//! 3.     Δα_T = η (C·1 − α_T),  Δα_R = −η α_R,  Δα_M = −η Φ,
//!        with Φ from the bordered system that keeps f_i = b on M and yᵀα = 0
//! 4.     η: the largest step at which no f_i of I_u ∪ I_l crosses b and no α_M leaves [0, C]
//! 5.     update α, f, b and the set M
//! 6. α_R = 0; restore yᵀα = 0
//! ```
//!
//! Steps 2 to 5 are the path of `maxmargin-path`. Its square bordered system takes the place of the
//! paper's non-square one.

use super::dec::walk;
use super::problem::{FoldProblem, Trained, without};
use super::start_draft::{SeedResult, StartDraft};
use maxmargin_path::{Added, Path, PathConfig, PathError};

/// Limit on the cost of the path: this many passes over the whole matrix, in multiply-adds. A
/// training from zero takes about four passes.
const PASSES: f64 = 256.0;

/// Seeds a fold from the solution of the previous fold. The factor of the margin costs `|M|³/3`, a
/// breakpoint `|M|² + n |M|`. With a large margin the limit may come before the first breakpoint.
pub(super) fn seed<'a>(from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
    let boxes = fold.boxes;
    let (n, free) = (boxes.len(), (0..boxes.len()).filter(|&i| boxes.is_free(i, from.beta[i])).count());
    let (width, margin) = (n as f64, free as f64);
    let left = PASSES * width * width - margin.powi(3) / 3.0;
    start(from, fold, (left / (margin * margin + width * margin).max(1.0)).max(0.0) as usize)
}

/// The start after at most `max_breakpoints`.
fn start<'a>(from: &Trained, fold: FoldProblem<'a>, max_breakpoints: usize) -> SeedResult<'a> {
    let mut draft = StartDraft::new(from, fold);
    let mut beta = from.beta.clone();
    if max_breakpoints > 0 {
        follow(from, fold, max_breakpoints, &mut draft, &mut beta)?;
    }
    // Step 6.
    fold.hidden.iter().for_each(|&i| beta[i] = 0.0);
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}

/// Follows the path for at most `max_breakpoints`, and writes `y α` at its end into `beta`.
fn follow(
    from: &Trained,
    fold: FoldProblem,
    max_breakpoints: usize,
    draft: &mut StartDraft,
    beta: &mut [f64],
) -> Result<(), PathError> {
    let FoldProblem { boxes, rows, .. } = fold;
    // Each row has one variable, in the order of the rows.
    let (sign, upper) = (boxes.dual().sign(), boxes.dual().upper());
    let ids: Vec<usize> = without(0..beta.len(), from.hidden).collect();
    let pick = |values: &[f64]| ids.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let alpha: Vec<f64> = ids.iter().map(|&i| sign[i] * from.beta[i]).collect();
    let config = PathConfig::default().with_memory(fold.memory);
    let mut path = Path::new(rows.all().gram(), sign, config)?.control(fold.control);
    // Step 1.
    let opened = path.adopt(&ids, &pick(upper), &alpha)?;
    // Steps 2 to 5.
    let add: Vec<Added> = fold.entering(from).into_iter().map(|id| Added { id, upper: upper[id] }).collect();
    let remove = fold.leaving(from);
    let update = walk(&mut path, &add, &remove, Some(max_breakpoints), fold)?;
    for (i, beta) in beta.iter_mut().enumerate() {
        *beta = sign[i] * path.alpha(i).unwrap_or(0.0);
    }
    draft.steps += opened.columns + update.columns;
    draft.breakpoints = update.breakpoints as u64;
    Ok(())
}

#[cfg(test)]
#[path = "ato_tests.rs"]
mod tests;
