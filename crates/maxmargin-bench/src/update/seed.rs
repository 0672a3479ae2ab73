//! Where a seeded solver starts after an update: alpha seeding as Karasuyama and Takeuchi compare
//! with (section 4).

use maxmargin::core::start::shift_to_sum;
use maxmargin::core::{Dual, Start, StartError};
use maxmargin::kernel::{RowRef, Rows};

/// A solution over some rows of the pool.
#[derive(Clone, Debug)]
pub(crate) struct WarmStart {
    /// Rows, ascending.
    pub(crate) ids: Vec<usize>,
    /// `y α` of each.
    pub(crate) beta: Vec<f64>,
    /// `Qα + lin` of each.
    pub(crate) gradient: Vec<f64>,
}

/// α of `before` for those that stay, repaired: what the others leave, `δ = Σ y α`, goes to the
/// free α in equal parts as far as the box allows, and what is left to all others. From zero where
/// no such point exists.
///
/// The gradient is that of `before`, moved along the rows of the samples whose α has changed, so
/// that no other row is read.
pub(crate) fn start(dual: &Dual, rows: &Rows, before: &WarmStart) -> Result<Start, StartError> {
    let (ids, sign) = (dual.ids(), dual.sign());
    let place: Vec<Option<usize>> = ids.iter().map(|id| before.ids.binary_search(id).ok()).collect();
    let kept: Vec<f64> = (0..dual.len()).map(|k| place[k].map_or(0.0, |old| sign[k] * before.beta[old])).collect();
    let mut alpha = kept.clone();
    if !repair(dual, &mut alpha) {
        return Start::zero(dual);
    }
    let gone = (0..before.ids.len()).filter(|&old| before.beta[old] != 0.0 && ids.binary_search(&before.ids[old]).is_err());
    let mut moved: Vec<(usize, f64)> = gone.map(|old| (before.ids[old], -before.beta[old])).collect();
    moved.extend((0..dual.len()).filter(|&k| alpha[k] != kept[k]).map(|k| (ids[k], sign[k] * (alpha[k] - kept[k]))));
    let mut shift = vec![0.0; rows.gram().len()];
    for (id, change) in moved {
        rows.row(id).entries().add_to(&mut shift, change);
    }
    let decision =
        |row: &RowRef| -> f64 { (0..dual.len()).filter(|&l| alpha[l] != 0.0).map(|l| sign[l] * alpha[l] * row.at(ids[l])).sum() };
    let gradient = (0..dual.len()).map(|k| match place[k] {
        Some(old) => before.gradient[old] + sign[k] * shift[ids[k]],
        None => dual.linear_term()[k] + sign[k] * decision(&rows.row(ids[k])),
    });
    let gradient = gradient.collect();
    Ok(Start::checked(dual, alpha)?.with_gradient(gradient))
}

/// Moves `alpha` so that `Σ y α = 0`: the free ones first, then the others. False when the box has
/// no room.
fn repair(dual: &Dual, alpha: &mut [f64]) -> bool {
    let (sign, upper) = (dual.sign(), dual.upper());
    let total = |alpha: &[f64]| -> f64 { sign.iter().zip(alpha).map(|(y, a)| y * a).sum() };
    let (free, bound): (Vec<usize>, Vec<usize>) = (0..alpha.len()).partition(|&k| alpha[k] > 0.0 && alpha[k] < upper[k]);
    let lack = -total(alpha);
    if lack == 0.0 || shift(sign, upper, alpha, &free, lack) {
        return true;
    }
    for &k in &free {
        alpha[k] = if (sign[k] > 0.0) == (lack > 0.0) { upper[k] } else { 0.0 };
    }
    let lack = -total(alpha);
    shift(sign, upper, alpha, &bound, lack)
}

/// Spreads `more` of `Σ y α` over `chosen`; leaves α alone and says false when they have no room
/// for it.
fn shift(sign: &[f64], upper: &[f64], alpha: &mut [f64], chosen: &[usize], more: f64) -> bool {
    let of = |values: &[f64]| -> Vec<f64> { chosen.iter().map(|&k| values[k]).collect() };
    let (sign, upper, mut moved) = (of(sign), of(upper), of(alpha));
    let now: f64 = sign.iter().zip(&moved).map(|(y, a)| y * a).sum();
    if shift_to_sum(&sign, &upper, &mut moved, now + more).is_err() {
        return false;
    }
    chosen.iter().zip(moved).for_each(|(&k, a)| alpha[k] = a);
    true
}

#[cfg(test)]
mod tests {
    use super::{WarmStart, repair, start};
    use maxmargin::core::{Dual, figures};
    use maxmargin::data::Par;
    use maxmargin::kernel::{FnGram, Gram, Rows};

    fn dual(sign: &[f64]) -> Dual {
        Dual::c_svc((0..sign.len()).collect(), sign.to_vec(), vec![1.0; sign.len()]).expect("problem")
    }

    #[test]
    fn free_samples_take_what_they_can() {
        let dual = dual(&[1.0, -1.0, 1.0, -1.0]);
        let mut alpha = [0.25, 0.5, 0.0, 0.0];
        assert!(repair(&dual, &mut alpha));
        // A lack of ¼ in two equal parts.
        assert_eq!(alpha, [0.375, 0.375, 0.0, 0.0]);
        let mut alpha = [0.5, 1.0, 0.0, 1.0];
        assert!(repair(&dual, &mut alpha));
        // The free one is full at 1; the other 1 is shared by the three others: ⅓ each.
        assert_eq!(alpha[0], 1.0);
        assert!((alpha[2] - 1.0 / 3.0).abs() < 1e-15 && (alpha[1] - 2.0 / 3.0).abs() < 1e-15, "{alpha:?}");
    }

    #[test]
    fn the_gradient_follows_the_change() {
        let point = |i: usize| (i as f64 * 0.37).sin();
        let gram = FnGram::new(6, move |i, j| (-(point(i) - point(j)).powi(2)).exp());
        let rows = Rows::new(&gram, 1 << 20, Par::Seq);
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let exact = |ids: &[usize], beta: &[f64]| -> Vec<f64> {
            let column = |id: usize| {
                let mut row = vec![0.0; 6];
                gram.fill_exact(&[id], 0..6, &mut row);
                sign(id) * ids.iter().zip(beta).map(|(&l, b)| b * row[l]).sum::<f64>() - 1.0
            };
            ids.iter().map(|&id| column(id)).collect()
        };
        let (ids, beta) = (vec![0, 1, 2, 3, 4], vec![0.5, -0.25, 0.25, -1.0, 0.5]);
        let before = WarmStart { gradient: exact(&ids, &beta), ids, beta };
        let after = Dual::c_svc((1..6).collect(), (1..6).map(sign).collect(), vec![1.0; 5]).expect("problem");
        let start = start(&after, &rows, &before).expect("start");
        let signed: Vec<f64> = (1..6).zip(start.alpha()).map(|(id, a)| sign(id) * a).collect();
        let expected = exact(after.ids(), &signed);
        let found = start.gradient().expect("gradient");
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        assert!(figures(&after, start.alpha(), 0.0, found).infeasible <= 1e-12);
        assert!(start.alpha().iter().any(|a| *a > 0.0), "a seeded start is not zero");
    }
}
