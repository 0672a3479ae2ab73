//! The solver: iterate, refine, stop.
//!
//! The notation of Fan, Chen and Lin (2005), with `p` the linear term and `f = s ∘ (Qα + p)`:
//!
//! ```text
//!   1  α ← the start;  f_k ← s_k (Qα + p)_k
//!   2  i ← argmin f over I_up;  stop if max f over I_low − f_i ≤ ε
//!   3  j ← argmax (f_j − f_i)² / a_ij over I_low with f_j > f_i,  a_ij = K_ii + K_jj − 2 K_ij
//!   4  t ← min((f_j − f_i) / a_ij, room of i upwards, room of j downwards)
//!   5  s_i α_i += t;  s_j α_j −= t;  f += t (K_i − K_j);  go to 2
//!   6  f ← s ∘ (Qα + p) from exact f64 kernel values
//!   7  if max f over I_low − min f over I_up > tolerance: lower ε, go to 2
//!   8  b ← −f of the free variables
//! ```
//!
//! Steps 2 to 5 run over kernel rows in `f32` (`pairs.rs`, `state.rs`). On large problems they run
//! on the active variables alone (`active.rs`), and over kernels that are mostly zero on neighbours
//! (`neighbours.rs`). Conjugate steps replace 3 to 5 by the steps of `direction.rs`.

use crate::config::{SmoConfig, SmoError};
use crate::pairs::objective;
use crate::stages::{Point, SampleSolution, staged_start};
use crate::strategy::Strategy;
use maxmargin_core::warm::close;
use maxmargin_core::{
    Dual, EqualityConstraint, Goal, NearGradients, Refine, RunControl, Solution, SolverControl, Start, Status, Stop, Work,
    bias_of, exact_gradient,
};
use maxmargin_kernel::Rows;

/// The inner loop aims a little below the tolerance, so that rounding in `f32` kernel rows rarely
/// costs a second round.
const AIM: f64 = 0.99;

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible. `status` says how the run ended. After [`Refine::Exact`] the
/// gradient is exact (`f64`) if the status is [`Status::Converged`].
///
/// # Errors
///
/// When the constraint is not a sum over all variables or one sum per sign. When the start belongs
/// to a problem of another size, or the problem names rows that the Gram matrix does not have.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &SmoConfig,
    stop: &Stop,
    control: &RunControl,
) -> Result<Solution, SmoError> {
    check(dual, &start, rows.gram().len())?;
    let mut control = SolverControl::new(rows, stop, control);
    let mut aim = stop.goal.times(AIM);
    // 1: α and its gradient.
    let point = match point_of(dual, rows, start, aim, config, &mut control) {
        Ok(point) => point,
        Err((before, status)) => {
            let work = Work { iterations: control.iterations, ..Work::default() };
            return Ok(Solution { bias: before.bias, work, ..Solution::without_gradient(before.alpha, status) });
        }
    };
    let mut strategy = begin(dual, rows, &point, aim, config);
    let (mut last_violation, mut refinements) = (f64::INFINITY, 0);
    let (mut confirmed, mut gradient) = (NearGradients::default(), None);
    let status = loop {
        // 2 to 5: pair steps until the violation is at most ε.
        let status = strategy.iterate(&mut control, config);
        if config.refine != Refine::Exact || !matches!(status, Status::Converged | Status::Stalled) {
            break status;
        }
        // Few variables change between two confirmations, so `NearGradients` updates the last
        // gradient.
        let alpha = strategy.alpha();
        let exact = control.run(strategy.violation(), |control| confirmed.at(dual, rows.gram(), &alpha, rows.par(), control));
        let exact = match exact {
            Ok(exact) => exact,
            Err(status) => {
                strategy.withdraw();
                break status;
            }
        };
        // 6: f from exact kernel values.
        let was_partial = strategy.refresh(&exact);
        refinements += 1;
        let violation = strategy.violation();
        // 7: stop at the tolerance, or lower ε.
        let shown = stop.goal.shown(dual, violation, &alpha, || &exact);
        gradient = Some(exact);
        if shown {
            break Status::Converged;
        }
        // Rounds that no longer halve the violation have reached the precision of f32 rows. If the
        // iterations stalled as well, one such round is enough. At violation 0 no step is left,
        // even if rounding leaves a gap.
        let allowed = if status == Status::Stalled { 1 } else { 20 };
        if violation <= 0.0 || (violation > 0.5 * last_violation && refinements > allowed) {
            break Status::Stalled;
        }
        last_violation = violation;
        // Variables that the last round did not know of violate; it reached its goal otherwise.
        if !was_partial {
            aim = closer(aim, stop.goal);
            strategy.aim(aim);
        }
    };
    let work = Work { iterations: control.iterations, refinements, ..point.work };
    let is_better = |before: &SampleSolution| before.objective < objective(dual, &strategy.alpha(), &strategy.gradient());
    if let Some(before) = point.before.filter(|before| status != Status::Converged && is_better(before)) {
        return Ok(Solution { bias: before.bias, work, ..Solution::without_gradient(before.alpha, status) });
    }
    Ok(solution_of(dual, rows, &strategy, Ending { status, gradient, work }, config))
}

/// Returns the loop of steps 2 to 5 at the first point.
fn begin<'a, 'g>(dual: &'a Dual, rows: &'a Rows<'g>, point: &Point, aim: Goal, config: &SmoConfig) -> Strategy<'a, 'g> {
    let mut strategy = Strategy::new(dual, rows, &point.alpha, &point.gradient, aim, config);
    if let Some(distance) = &point.distance {
        strategy.prefer(distance.clone());
    }
    if config.refine != Refine::Never {
        strategy.leave_last_sums();
    }
    strategy
}

/// Returns the first point: the start with its gradient, or a better one for a large problem whose
/// start is zero.
fn point_of(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    aim: Goal,
    config: &SmoConfig,
    control: &mut SolverControl,
) -> Result<Point, (SampleSolution, Status)> {
    if let Some(point) = staged_start(dual, rows, start.alpha(), aim, config, control)? {
        return Ok(point);
    }
    let gradient = match start.gradient() {
        Some(gradient) => Ok(gradient.to_vec()),
        None => control.exact_gradient(dual, rows.gram(), start.alpha(), f64::INFINITY),
    };
    let alpha = start.into_parts().0;
    match gradient {
        Ok(gradient) => Ok(Point { alpha, gradient, distance: None, before: None, work: Work::default() }),
        Err(status) => Err((SampleSolution { alpha, ..SampleSolution::default() }, status)),
    }
}

/// Checks that SMO solves the problem, and that the start belongs to it.
fn check(dual: &Dual, start: &Start, rows: usize) -> Result<(), SmoError> {
    if !matches!(dual.balance(), EqualityConstraint::Sum(_) | EqualityConstraint::PerSign(..)) {
        return Err(SmoError::EqualityConstraint(dual.balance()));
    }
    if start.alpha().len() != dual.len() {
        return Err(SmoError::Start { found: start.alpha().len(), expected: dual.len() });
    }
    dual.missing_row(rows).map_or(Ok(()), |row| Err(SmoError::Row { row, rows }))
}

/// The end of a run.
struct Ending {
    status: Status,
    /// The last exact gradient, if there was a refinement.
    gradient: Option<Vec<f64>>,
    /// The iterations and refinements, and the rows of the start.
    work: Work,
}

/// Returns the solution at the current point, with its bias (step 8).
fn solution_of(dual: &Dual, rows: &Rows, strategy: &Strategy, ending: Ending, config: &SmoConfig) -> Solution {
    let Ending { status, gradient, work } = ending;
    let mut alpha = strategy.alpha();
    let closed = config.refine == Refine::Exact && close(dual, &mut alpha);
    let gradient = match (status, gradient) {
        (Status::Converged, Some(_)) if closed => {
            exact_gradient(dual, rows.gram(), &alpha, rows.par(), &RunControl::unlimited()).expect("unlimited")
        }
        (Status::Converged, Some(exact)) => exact,
        _ => strategy.gradient(),
    };
    let bias = bias_of(dual, &alpha, &gradient);
    let rows = strategy.work();
    let work = Work {
        rows_requested: work.rows_requested + rows.rows_requested,
        rows_computed: work.rows_computed + rows.rows_computed,
        ..work
    };
    Solution { alpha, bias, gradient, status, work, weights: None }
}

/// Returns a goal 10 % below `aim`, but at least half of `goal`.
fn closer(aim: Goal, goal: Goal) -> Goal {
    let each = |goal: Option<f64>, aim: Option<f64>| goal.zip(aim).map(|(goal, aim)| (0.5 * goal).max(aim * 0.9));
    Goal::of(each(goal.kkt(), aim.kkt()), each(goal.gap(), aim.gap())).unwrap_or(aim)
}
