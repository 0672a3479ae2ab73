//! Coordinate descent at a fixed bias: what repairs a point whose neighbourhood has changed.

use crate::active::{Shrinking, furthest};
use crate::arranged::RoundLayout;
use crate::state::State;
use crate::sums::{Changes, sums_of};
use maxmargin_core::Dual;
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::{Rows, part_of};

/// A point after [`relax`].
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxed {
    /// α, inside the box; the balance need not hold.
    pub alpha: Vec<f64>,
    /// `Qα + lin`.
    pub gradient: Vec<f64>,
    /// Steps made: each reads one kernel row once, about half of an SMO iteration.
    pub steps: u64,
}

/// What [`relax`] shall do.
#[derive(Clone, Copy, Debug)]
pub struct Relaxation {
    /// The bias that is held.
    pub bias: f64,
    /// The most steps.
    pub steps: u64,
    /// The violation to reach.
    pub tol: f64,
    /// When to go by rows of those alone that may move.
    pub shrinking: Shrinking,
}

/// Minimises `½ αᵀQα + linᵀα + bias · Σ s_k α_k` over the box by single-coordinate steps, always on
/// the variable that violates its optimality condition most, until no violation exceeds the
/// tolerance or all steps are made.
///
/// With the bias held where a nearby solution has it, the balance constraint drops out, variables
/// move one at a time, and what a removed sample leaves behind is absorbed by the samples that its
/// removal disturbed. The balance is then off by little; the caller restores it. Where SMO would
/// keep no rows of all variables neither does this: the worst violators alone move, three for each
/// step.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// When `alpha` or `gradient` do not have one entry per variable.
pub fn relax(
    dual: &Dual,
    rows: &Rows,
    alpha: &[f64],
    gradient: &[f64],
    relaxation: &Relaxation,
    asking: &Asking,
) -> Result<Relaxed, Halted> {
    assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
    let near = if relaxation.shrinking.pays(dual, rows) { relaxation.near(dual, alpha, gradient) } else { vec![] };
    if near.is_empty() || 2 * near.len() > dual.len() {
        return relaxation.all(dual, rows, alpha, gradient, asking);
    }
    relaxation.among(&near, dual, rows, alpha, gradient, asking)
}

/// Variables that violate their condition by no less than this, half of a margin, may be moved
/// where rows are not kept: what steps disturb is near what they mend.
const NEAR: f64 = -0.5;

/// The worst of them: so many for each step, or as many as come into a round where those are more.
const EACH: usize = 3;

impl Relaxation {
    /// Variables that violate their condition of optimality, or nearly.
    fn near(&self, dual: &Dual, alpha: &[f64], gradient: &[f64]) -> Vec<usize> {
        let threshold = -self.bias;
        let by = |k: usize| {
            let away = threshold - dual.sign()[k] * gradient[k];
            let (grows, falls) = (alpha[k] < dual.upper()[k], alpha[k] > 0.0);
            let (up, low) = if dual.sign()[k] > 0.0 { (grows, falls) } else { (falls, grows) };
            f64::max(if up { away } else { f64::NEG_INFINITY }, if low { -away } else { f64::NEG_INFINITY })
        };
        let mut near: Vec<(f64, usize)> = (0..dual.len()).map(|k| (by(k), k)).filter(|(by, _)| *by >= NEAR).collect();
        furthest(&mut near, self.shrinking.first.max(EACH * self.steps as usize));
        let mut near: Vec<usize> = near.into_iter().map(|(_, k)| k).collect();
        near.sort_unstable();
        near
    }

    fn all(&self, dual: &Dual, rows: &Rows, alpha: &[f64], gradient: &[f64], asking: &Asking) -> Result<Relaxed, Halted> {
        let threshold = -self.bias;
        let mut state = State::new(dual, rows.gram(), alpha, gradient, Par::Seq);
        let mut extremes = state.extremes();
        let mut made = 0;
        while made < self.steps {
            let (above, below) = (threshold - extremes.min_up, extremes.max_low - threshold);
            if above.max(below) <= self.tol {
                break;
            }
            let place = if above >= below { extremes.argmin_up } else { extremes.argmax_low };
            let id = state.layout.id(place);
            asking.spend(if rows.contains(id) { 1 } else { rows.gram().value_operations() } * dual.len() as u64)?;
            let row = rows.row(id);
            extremes = state.single(place, threshold, &row);
            made += 1;
        }
        Ok(Relaxed { alpha: state.alpha(), gradient: state.gradient(), steps: made })
    }

    /// The same for some variables, in rows of these alone; what they did to the gradients of all
    /// is added up at the end.
    fn among(
        &self,
        variables: &[usize],
        dual: &Dual,
        rows: &Rows,
        alpha: &[f64],
        gradient: &[f64],
        asking: &Asking,
    ) -> Result<Relaxed, Halted> {
        let RoundLayout { set, ids, row } = RoundLayout::new(dual, variables);
        let part = dual.among(&set, row, alpha, gradient);
        let before: Vec<f64> = set.iter().map(|&k| alpha[k]).collect();
        let gram = part_of(rows.gram(), &ids);
        let bytes = (4 * ids.len() as u64 * self.steps.min(ids.len() as u64)).min(rows.spare());
        let held = rows.reserve(bytes);
        let pages = rows.part_pages();
        let short = Rows::with_pages(&*gram, bytes, Par::Seq, pages.clone());
        let relaxed = self.all(&part, &short, &before, part.linear_term(), asking);
        // Their memory is free again before what is lent for it is.
        drop(short);
        drop(held);
        let relaxed = relaxed?;
        let changes = Changes { set: &set, before: &before, after: &relaxed.alpha };
        let (moved, coef) = changes.of(dual);
        let sums = sums_of(dual, rows, &moved, &coef, asking)?;
        let (mut alpha, mut gradient) = (alpha.to_vec(), gradient.to_vec());
        changes.make(dual, &sums, &mut alpha, &mut gradient);
        Ok(Relaxed { alpha, gradient, steps: relaxed.steps })
    }
}
