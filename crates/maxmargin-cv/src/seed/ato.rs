//! ATO, adjusting alpha towards optimum (Wen et al. 2017, algorithm 1).

use super::Draft;
use super::dec::walk;
use crate::problem::{Fold, Trained};
use maxmargin_path::{Added, Config, Path};

/// The path may cost as many multiply-adds as this many passes over the whole matrix: a training from zero takes about four.
const PASSES: f64 = 256.0;

/// From the solution of the previous fold, made exact: `R` gives up its α while `T` takes some, `M` keeps its margin, until `R` is
/// empty. To factor the margin costs `|M|³/3`, a breakpoint `|M|² + n |M|`; where the limit comes first (with a large margin before
/// the first breakpoint), what is left in `R` is dropped and the balance restored, as in the paper.
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> Option<Draft<'a>> {
    let pool = fold.pool;
    let (n, free) = (pool.labels.len(), (0..pool.labels.len()).filter(|&i| is_free(from.alpha[i], pool.upper[i])).count());
    let (width, margin) = (n as f64, free as f64);
    let left = PASSES * width * width - margin.powi(3) / 3.0;
    let most = (left / (margin * margin + width * margin).max(1.0)).max(0.0) as usize;
    let mut draft = Draft::new(from, fold);
    let mut alpha = from.alpha.clone();
    if most > 0 {
        follow(from, fold, most, &mut draft, &mut alpha)?;
    }
    alpha[fold.hidden.clone()].fill(0.0);
    draft.replace(&alpha);
    draft.spread().then_some(draft)
}

fn is_free(alpha: f64, upper: f64) -> bool {
    alpha > 0.0 && alpha < upper
}

/// Writes α at the end of the path into `alpha`, or where it has got to after `most` breakpoints.
fn follow(from: &Trained, fold: Fold, most: usize, draft: &mut Draft, alpha: &mut [f64]) -> Option<()> {
    let Fold { hidden, pool, rows, .. } = fold;
    let ids: Vec<usize> = (0..alpha.len()).filter(|i| !from.hidden.contains(i)).collect();
    let pick = |values: &[f64]| ids.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let begun = Path::from_solution(rows.gram(), &pool.labels, &ids, &pick(&pool.upper), &pick(&from.alpha), Config::default());
    let (mut path, opened) = begun.ok()?;
    let add: Vec<Added> = from.hidden.clone().map(|id| Added { id, upper: pool.upper[id] }).collect();
    let remove: Vec<usize> = hidden.clone().collect();
    let update = walk(&mut path, &add, &remove, most, fold)?;
    for (i, alpha) in alpha.iter_mut().enumerate() {
        *alpha = path.alpha(i).unwrap_or(0.0);
    }
    draft.steps += opened.columns + update.columns;
    draft.breakpoints = update.breakpoints as u64;
    Some(())
}
