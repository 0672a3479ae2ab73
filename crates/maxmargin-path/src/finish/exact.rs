//! The active-set finish for any problem with one equality constraint: takes another solver's α to
//! an exact optimum.

use crate::pool::Pool;
use crate::update::{PathError, check_ids};
use crate::walk::state::{State, StepCounts};
use maxmargin_core::{Dual, EqualityConstraint, RunControl, Solution, Status, Work};
use maxmargin_kernel::Gram;

/// A solution taken to an exact optimum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Polished {
    /// α, bias and gradient in the order of the problem. The status is [`Status::Converged`] if
    /// `kkt` is at most `tolerance`, otherwise [`Status::Stalled`]. Iterations are changes of the
    /// sets.
    pub solution: Solution,
    /// The KKT violation of residuals recomputed in `f64`.
    pub kkt: f64,
    /// The violation that counts as exact: see [`crate::Update::tolerance`].
    pub tolerance: f64,
}

/// Takes `alpha`, an approximate solution of `dual` (for example with a violation of 10⁻³ to 10⁻⁶),
/// to a KKT violation of 10⁻⁸ or less.
///
/// It is a primal active-set method with the Cholesky factor of the free samples. The factor and
/// kernel columns take at most `memory` bytes. All long work checks
/// `control`.
///
/// # Errors
///
/// When the constraint is not `Sum` (nor `Simplex` with positive signs only), a sample appears
/// twice, lengths differ, a number is not finite, or no feasible point exists. When the factor does
/// not fit into memory, or the run has ended.
pub fn polish(dual: &Dual, gram: &dyn Gram, alpha: &[f64], memory: u64, control: &RunControl) -> Result<Polished, PathError> {
    let sum = match dual.balance() {
        EqualityConstraint::Sum(sum) => sum,
        EqualityConstraint::Simplex if dual.sign().iter().all(|s| *s > 0.0) => 1.0,
        _ => return Err(PathError::Unsupported),
    };
    if !dual.has_one_ridge() {
        return Err(PathError::Unsupported);
    }
    if alpha.len() != dual.len() {
        return Err(PathError::Length { what: "alpha", found: alpha.len(), expected: dual.len() });
    }
    check_ids(dual.ids().iter().copied(), gram.len()).map_err(|e| match e {
        PathError::Twice(_) => PathError::Unsupported,
        other => other,
    })?;
    if let Some(k) = alpha.iter().position(|a| !a.is_finite()) {
        return Err(PathError::NotFinite { what: "alpha", id: dual.ids()[k], value: alpha[k] });
    }
    if let Some((id, &value)) = gram.diagonal().iter().enumerate().find(|(_, k)| !k.is_finite()) {
        return Err(PathError::NotFinite { what: "kernel value", id, value });
    }
    let reachable =
        |sign: f64| -> f64 { dual.sign().iter().zip(dual.upper()).filter(|(s, _)| **s == sign).map(|(_, u)| *u).sum() };
    if sum > reachable(1.0) || -sum > reachable(-1.0) {
        return Err(PathError::Infeasible);
    }
    let mut state = State::new(gram, dual.ridge(), sum, memory);
    let entries: Vec<_> = (0..dual.len())
        .map(|k| (dual.ids()[k], dual.sign()[k], -dual.sign()[k] * dual.linear_term()[k], dual.upper()[k]))
        .collect();
    let mut counts = StepCounts::default();
    let pool = Pool { gram, control };
    state.take(pool, &entries, alpha, &mut counts)?;
    let kkt = state.polish(pool, &mut counts)?;
    let tolerance = state.tolerance();
    let status = if kkt <= tolerance { Status::Converged } else { Status::Stalled };
    let by_id = state.solution(status, Work { iterations: counts.repairs as u64, ..Work::default() });
    let mut order: Vec<usize> = (0..dual.len()).collect();
    order.sort_by_key(|&k| dual.ids()[k]);
    let mut solution = by_id.clone();
    for (place, &k) in order.iter().enumerate() {
        solution.alpha[k] = by_id.alpha[place];
        solution.gradient[k] = by_id.gradient[place];
    }
    Ok(Polished { solution, kkt, tolerance })
}
