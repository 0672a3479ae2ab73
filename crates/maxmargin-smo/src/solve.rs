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

use crate::config::{ActiveUse, Shrinking, SmoConfig, SmoError};
use crate::neighbours::NeighbourPairs;
use crate::pairs::Pairs;
use crate::rounds::active::{Active, TooManyActive};
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
/// to a problem of another size.
///
/// # Panics
///
/// When the problem names samples that the Gram matrix does not have.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &SmoConfig,
    stop: &Stop,
    control: &RunControl,
) -> Result<Solution, SmoError> {
    check(dual, &start)?;
    let mut control = SolverControl::new(rows, stop, control);
    // 1: α and its gradient.
    let gradient = match start.gradient() {
        Some(gradient) => gradient.to_vec(),
        None => match control.exact_gradient(dual, rows.gram(), start.alpha(), f64::INFINITY) {
            Ok(gradient) => gradient,
            Err(status) => return Ok(Solution::without_gradient(start.into_parts().0, status)),
        },
    };
    let mut aim = stop.goal.times(AIM);
    let mut strategy = Strategy::new(dual, rows, start.alpha(), &gradient, aim, config);
    let mut last_violation = f64::INFINITY;
    let mut refinements = 0;
    let (mut confirmed, mut gradient) = (NearGradients::default(), None);
    let status = loop {
        // 2 to 5: pair steps until the violation is at most ε.
        let status = strategy.iterate(&mut control, config);
        if config.refine == Refine::Never || !matches!(status, Status::Converged | Status::Stalled) {
            break status;
        }
        // Few variables change between two confirmations, so `NearGradients` updates the last
        // gradient.
        let alpha = strategy.alpha();
        let exact = control.run(strategy.violation(), |control| confirmed.at(dual, rows.gram(), &alpha, rows.par(), control));
        let exact = match exact {
            Ok(exact) => exact,
            Err(status) => break status,
        };
        // 6: f from exact kernel values.
        strategy.refresh(&exact);
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
        aim = closer(aim, stop.goal);
        strategy.aim(aim);
    };
    Ok(solution_of(dual, rows, &strategy, Ending { status, gradient, refinements, iterations: control.iterations }, config))
}

/// Checks that SMO solves the problem, and that the start belongs to it.
fn check(dual: &Dual, start: &Start) -> Result<(), SmoError> {
    if !matches!(dual.balance(), EqualityConstraint::Sum(_) | EqualityConstraint::PerSign(..)) {
        return Err(SmoError::EqualityConstraint(dual.balance()));
    }
    if start.alpha().len() != dual.len() {
        return Err(SmoError::Start { found: start.alpha().len(), expected: dual.len() });
    }
    Ok(())
}

/// The end of a run.
struct Ending {
    status: Status,
    /// The last exact gradient, if there was a refinement.
    gradient: Option<Vec<f64>>,
    refinements: u64,
    iterations: u64,
}

/// Returns the solution at the current point, with its bias (step 8).
fn solution_of(dual: &Dual, rows: &Rows, strategy: &Strategy, ending: Ending, config: &SmoConfig) -> Solution {
    let Ending { status, gradient, refinements, iterations } = ending;
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
    let work = Work { iterations, refinements, ..strategy.work() };
    Solution { alpha, bias, gradient, status, work }
}

/// Returns a goal 10 % below `aim`, but at least half of `goal`.
fn closer(aim: Goal, goal: Goal) -> Goal {
    let each = |goal: Option<f64>, aim: Option<f64>| goal.zip(aim).map(|(goal, aim)| (0.5 * goal).max(aim * 0.9));
    Goal::of(each(goal.kkt(), aim.kkt()), each(goal.gap(), aim.gap())).unwrap_or(aim)
}

/// The share of all rows after which the whole matrix is computed: most of the remaining rows will
/// be needed. It is lower for rows of one-byte codes, which take little memory.
const WHOLE: f64 = 0.3;
const WHOLE_OF_CODES: f64 = 0.15;

fn whole(rows: &Rows) -> f64 {
    if rows.gram().table().is_some() { WHOLE_OF_CODES } else { WHOLE }
}

/// The strategy for the rows of a problem.
enum Strategy<'a, 'g> {
    /// Uses all variables in every pass, until the control has counted this many iterations.
    Whole(Box<Pairs<'a, 'g>>, u64),
    /// Uses the active variables only, in rows of their number.
    Active(Box<Active<'a, 'g>>),
    /// Uses the neighbours of each sample only.
    Neighbours(Box<NeighbourPairs<'a>>),
}

/// A number of iterations that no run reaches.
const NO_LIMIT: u64 = u64::MAX;

impl ActiveUse {
    /// Returns the iterations after which a run over all variables goes on with the active ones.
    fn long_run(&self, dual: &Dual) -> u64 {
        if self.in_long_runs { Shrinking::LONG * dual.len() as u64 } else { NO_LIMIT }
    }
}

/// Returns the same problem at the same point, to continue with the active variables.
fn active_from<'a, 'g>(pairs: &Pairs<'a, 'g>, config: &SmoConfig) -> Active<'a, 'g> {
    let (alpha, gradient) = (pairs.state.alpha(), pairs.state.gradient());
    let mut active = Active::new(pairs.dual, pairs.rows, &alpha, &gradient, pairs.convergence.aimed_at(), config);
    active.go_on_from(pairs.work());
    active
}

impl<'a, 'g> Strategy<'a, 'g> {
    fn new(dual: &'a Dual, rows: &'a Rows<'g>, alpha: &[f64], gradient: &[f64], aim: Goal, config: &SmoConfig) -> Self {
        if let Some(pairs) = NeighbourPairs::new(dual, rows.gram(), alpha, gradient, aim, config) {
            return Self::Neighbours(Box::new(pairs));
        }
        let uses = config.shrinking.uses(dual, rows, alpha);
        if uses.at_once {
            let active = Active::new(dual, rows, alpha, gradient, aim, config);
            return Self::Active(Box::new(active.within(uses.limits)));
        }
        let pairs = Pairs::new(dual, rows, alpha, gradient, aim, whole(rows), config);
        Self::Whole(Box::new(pairs), uses.long_run(dual))
    }

    fn iterate(&mut self, control: &mut SolverControl, config: &SmoConfig) -> Status {
        loop {
            match self {
                Self::Whole(pairs, until) => match pairs.iterate_until(*until, control) {
                    Some(status) => return status,
                    None => *self = Self::Active(Box::new(active_from(pairs, config))),
                },
                Self::Neighbours(pairs) => return pairs.iterate(control),
                Self::Active(active) => {
                    let until = match active.iterate(control) {
                        Ok(status) => return status,
                        Err(TooManyActive::InSet) => NO_LIMIT,
                        Err(TooManyActive::Moving) => {
                            config.shrinking.uses(active.dual, active.rows, &active.alpha).long_run(active.dual)
                        }
                    };
                    // The rows of the next phase come from the row store, which the control counts
                    // itself.
                    control.owed = 0;
                    let Active { dual, rows, alpha, gradient, convergence, work, .. } = &mut **active;
                    let mut pairs = Pairs::new(dual, rows, alpha, gradient, convergence.aimed_at(), whole(rows), config);
                    pairs.before = *work;
                    *self = Self::Whole(Box::new(pairs), until);
                }
            }
        }
    }

    /// Sets the goal of the next iterations.
    fn aim(&mut self, aim: Goal) {
        match self {
            Self::Whole(pairs, _) => pairs.convergence.aim(aim),
            Self::Active(active) => active.convergence.aim(aim),
            Self::Neighbours(pairs) => pairs.convergence.aim(aim),
        }
    }

    fn alpha(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.alpha(),
            Self::Active(active) => active.alpha.clone(),
            Self::Neighbours(pairs) => pairs.alpha(),
        }
    }

    fn gradient(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.gradient(),
            Self::Active(active) => active.gradient.clone(),
            Self::Neighbours(pairs) => pairs.gradient(),
        }
    }

    fn violation(&mut self) -> f64 {
        match self {
            Self::Whole(pairs, _) => pairs.state.extremes().violation(),
            Self::Active(active) => active.band().violation(),
            Self::Neighbours(pairs) => pairs.violation(),
        }
    }

    fn refresh(&mut self, gradient: &[f64]) {
        match self {
            Self::Whole(pairs, _) => pairs.refresh(gradient),
            Self::Active(active) => active.gradient.copy_from_slice(gradient),
            Self::Neighbours(pairs) => pairs.refresh(gradient),
        }
    }

    fn work(&self) -> Work {
        match self {
            Self::Whole(pairs, _) => pairs.work(),
            Self::Active(active) => active.work,
            Self::Neighbours(pairs) => pairs.work(),
        }
    }
}
