//! Coordinate descent at a fixed bias: what repairs a point whose neighbourhood has changed.

use crate::state::State;
use maxmargin_core::Dual;
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_kernel::Rows;

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

/// Minimises `½ αᵀQα + linᵀα + bias · Σ s_k α_k` over the box by at most `steps` single-coordinate steps, always on the variable
/// that violates its optimality condition most, until no violation exceeds `tol`.
///
/// With the bias held where a nearby solution has it, the balance constraint drops out, variables move one at a time, and what a
/// removed sample leaves behind is absorbed by the samples that its removal disturbed. The balance is then off by little; the
/// caller restores it.
///
/// # Errors
///
/// When it was called off.
///
/// # Panics
///
/// When `alpha` or `gradient` do not have one entry per variable.
#[expect(clippy::too_many_arguments, reason = "a problem, a point of it, when to stop, and who is asked")]
pub fn relax(
    dual: &Dual,
    rows: &Rows,
    alpha: &[f64],
    gradient: &[f64],
    bias: f64,
    steps: u64,
    tol: f64,
    asking: &Asking,
) -> Result<Relaxed, Halted> {
    assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
    let mut state = State::new(dual, rows.gram(), alpha, gradient, Par::Seq);
    let threshold = -bias;
    let mut extremes = state.extremes();
    let mut made = 0;
    while made < steps {
        let (above, below) = (threshold - extremes.min_up, extremes.max_low - threshold);
        if above.max(below) <= tol {
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
