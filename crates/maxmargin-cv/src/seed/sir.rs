//! SIR, single instance replacement (Wen et al. 2017, algorithm 3).

use super::draft::spread_over;
use super::{Draft, Found};
use crate::problem::{Fold, Trained};
use std::ops::Range;

/// For each sample `r` that leaves with `α_r > 0`: the most similar unused sample `t` that enters with the same label takes
/// `α_r`; when that label is used up, any unused one. Then [`adjust`].
pub(super) fn seed<'a>(from: &Trained, fold: Fold<'a>) -> Found<'a> {
    let Fold { pool, rows, .. } = fold;
    let draft = Draft::new(from, fold);
    let entering = from.hidden.clone();
    let leaving = draft.leaving();
    rows.fetch_asking(&leaving, fold.asking)?;
    let mut beta = draft.beta().to_vec();
    let mut used = vec![false; entering.len()];
    for r in leaving {
        let row = draft.row(r)?;
        let best = |same_label: bool| {
            let open = |t: &usize| !used[t - entering.start] && (!same_label || pool.same_side(*t, r));
            entering.clone().filter(open).max_by(|&a, &b| row.at(a).total_cmp(&row.at(b)).then(b.cmp(&a)))
        };
        if let Some(t) = best(true).or_else(|| best(false)) {
            used[t - entering.start] = true;
            beta[t] = pool.carried(t, beta[r]);
        }
        beta[r] = 0.0;
    }
    adjust(draft, beta, entering)
}

/// Shifts `y α` of the samples that enter uniformly within the box until the balance holds; what they cannot absorb is spread over
/// the shared samples, free ones first (paper 1, section 3, "Adjusting").
pub(super) fn adjust(mut draft: Draft<'_>, mut beta: Vec<f64>, entering: Range<usize>) -> Found<'_> {
    let pool = draft.pool();
    let lack = -beta.iter().sum::<f64>();
    let entering: Vec<usize> = entering.collect();
    spread_over(pool, &mut beta, &entering, lack);
    draft.replace(&beta)?;
    Ok(draft.spread()?.then_some(draft))
}
