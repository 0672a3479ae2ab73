//! Coordinate descent at a fixed bias: repairs a point after a change of the problem nearby.

use crate::config::{Shrinking, SmoConfig};
use crate::neighbours::NeighbourPairs;
use crate::passes::state::State;
use crate::rounds::candidates::furthest;
use crate::rounds::round_layout::RoundLayout;
use crate::rounds::sums::{Changes, sums_of};
use maxmargin_core::{Dual, Goal};
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_kernel::{Rows, part_of};

/// The point that [`relax`] returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxed {
    /// α, inside the box; the equality constraint need not hold.
    pub alpha: Vec<f64>,
    /// The gradient `Qα + lin`.
    pub gradient: Vec<f64>,
    /// The number of steps. Each reads one kernel row once, about half of an SMO iteration.
    pub steps: u64,
}

/// The parameters of [`relax`].
#[derive(Clone, Copy, Debug)]
pub struct Relaxation {
    /// The fixed bias.
    pub bias: f64,
    /// The largest number of steps.
    pub steps: u64,
    /// The violation to reach.
    pub tol: f64,
    /// The problem sizes from which short rows of the near variables are used.
    pub shrinking: Shrinking,
}

/// Minimises `½ αᵀQα + linᵀα + bias · Σ s_k α_k` over the box by single-coordinate steps, always on
/// the variable that violates its optimality condition most, until no violation exceeds the
/// tolerance or all steps are made.
///
/// With the bias of a nearby solution fixed, the equality constraint drops out and variables move
/// one at a time. The samples that a removal disturbed absorb its effect. The constraint is then
/// off by a little; the caller restores it. Where SMO would keep no rows of all variables, only the
/// worst violators move, three for each step.
///
/// # Errors
///
/// When the run is cancelled.
///
/// # Panics
///
/// When `alpha` or `gradient` do not have one entry per variable, or the problem names rows that
/// the Gram matrix does not have.
pub fn relax(
    dual: &Dual,
    rows: &Rows,
    alpha: &[f64],
    gradient: &[f64],
    relaxation: &Relaxation,
    control: &RunControl,
) -> Result<Relaxed, Cancelled> {
    assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
    assert!(dual.missing_row(rows.gram().len()).is_none(), "the problem names rows of the Gram matrix");
    let config = SmoConfig::default();
    if let Some(pairs) = NeighbourPairs::new(dual, rows.gram(), alpha, gradient, Goal::Kkt(relaxation.tol), &config) {
        return relaxation.over_neighbours(pairs, control);
    }
    let near = if relaxation.shrinking.pays(dual, rows, alpha) { relaxation.near(dual, alpha, gradient) } else { vec![] };
    if near.is_empty() || 2 * near.len() > dual.len() {
        return relaxation.all(dual, rows, alpha, gradient, control);
    }
    relaxation.among(&near, dual, rows, alpha, gradient, control)
}

/// The least violation of the variables that may move if full rows are not kept; negative, half of
/// a margin inside. Steps disturb only variables near the repaired ones.
const NEAR: f64 = -0.5;

/// The number of near variables per step. At least the variables of a round are taken.
const EACH: usize = 3;

impl Relaxation {
    /// Returns the variables that violate their condition of optimality, or nearly.
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

    fn all(&self, dual: &Dual, rows: &Rows, alpha: &[f64], gradient: &[f64], control: &RunControl) -> Result<Relaxed, Cancelled> {
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
            control.check(if rows.contains(id) { 1 } else { rows.gram().value_operations() } * dual.len() as u64)?;
            let row = rows.row(id);
            extremes = state.single(place, threshold, &row);
            made += 1;
        }
        Ok(Relaxed { alpha: state.alpha(), gradient: state.gradient(), steps: made })
    }

    fn over_neighbours(&self, mut pairs: NeighbourPairs, control: &RunControl) -> Result<Relaxed, Cancelled> {
        let threshold = -self.bias;
        let mut made = 0;
        while made < self.steps {
            let (up, low) = (pairs.up.best(), pairs.low.best());
            let (above, below) = (threshold + up.key, low.key - threshold);
            if above.max(below) <= self.tol {
                break;
            }
            control.check(8 * pairs.visited())?;
            pairs.single(if above >= below { up.place } else { low.place }, threshold);
            made += 1;
        }
        Ok(Relaxed { alpha: pairs.alpha(), gradient: pairs.gradient(), steps: made })
    }

    /// Relaxes some variables in rows of these alone, and adds up their effect on all gradients at
    /// the end.
    fn among(
        &self,
        variables: &[usize],
        dual: &Dual,
        rows: &Rows,
        alpha: &[f64],
        gradient: &[f64],
        control: &RunControl,
    ) -> Result<Relaxed, Cancelled> {
        let RoundLayout { set, ids, row } = RoundLayout::new(dual, variables);
        let part = dual.among(&set, row, alpha, gradient);
        let before: Vec<f64> = set.iter().map(|&k| alpha[k]).collect();
        let gram = part_of(rows.gram(), &ids);
        let bytes = (4 * ids.len() as u64 * self.steps.min(ids.len() as u64)).min(rows.spare());
        let held = rows.reserve(bytes);
        let pages = rows.part_pages();
        let short = Rows::in_pages(&*gram, bytes, Par::Seq, pages.clone());
        let relaxed = self.all(&part, &short, &before, part.linear_term(), control);
        // Drop the rows before their memory reservation, so the budget never undercounts.
        drop(short);
        drop(held);
        let relaxed = relaxed?;
        let changes = Changes { set: &set, before: &before, after: &relaxed.alpha };
        let (moved, coef) = changes.of(dual);
        let sums = sums_of(dual, rows, &moved, &coef, control)?;
        let (mut alpha, mut gradient) = (alpha.to_vec(), gradient.to_vec());
        changes.make(dual, &sums, &mut alpha, &mut gradient);
        Ok(Relaxed { alpha, gradient, steps: relaxed.steps })
    }
}
