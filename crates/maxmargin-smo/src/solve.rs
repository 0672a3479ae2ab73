//! The solver: iterate, refine, stop.

use crate::active::{Active, Shrinking};
use crate::pairs::Pairs;
use crate::patience::PairBudget;
use maxmargin_core::warm::close;
use maxmargin_core::{
    Clock, Dual, EqualityConstraint, Goal, NearGradients, Refine, Solution, Start, Status, Stop, Watch, Work, bias_of,
    exact_gradient,
};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;

/// Choices of the solver that do not change what it solves.
#[derive(Clone, Copy, Debug)]
pub struct SmoConfig {
    /// See [`Refine`].
    pub refine: Refine,
    /// Threads that share the passes of large problems; they stay awake while the solver runs. The
    /// result has the same bits for any.
    pub par: Par,
    /// When to go by active variables.
    pub shrinking: Shrinking,
    /// Whether steps go on along the last ones where that saves enough (Torres-Barrán, Alaíz and
    /// Dorronsoro 2021); without, each moves a pair alone, as in the papers.
    pub conjugate: bool,
    /// When to leave the problem to somebody else: the run then ends with
    /// [`Status::IterationLimit`].
    pub patience: Option<PairBudget>,
}

impl Default for SmoConfig {
    fn default() -> Self {
        Self { refine: Refine::Exact, par: Par::Seq, shrinking: Shrinking::default(), conjugate: true, patience: None }
    }
}

/// Why SMO cannot take a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmoError {
    /// SMO moves pairs along an equality constraint.
    #[error("SMO solves problems with a sum, of all variables or of each sign, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// Values of the start.
        found: usize,
        /// Variables of the problem.
        expected: usize,
    },
}

/// The inner loop aims a little below the tolerance, so that rounding in `f32` kernel rows rarely
/// costs a second round.
const AIM: f64 = 0.99;

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible; `status` says how the run ended and `gradient` is exact
/// (`f64`) after [`Refine::Exact`] when the status is [`Status::Converged`].
///
/// # Errors
///
/// When the problem's balance is not a sum, of all variables or of each sign, or the start belongs
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
    watch: &mut dyn Watch,
) -> Result<Solution, SmoError> {
    if !matches!(dual.balance(), EqualityConstraint::Sum(_) | EqualityConstraint::PerSign(..)) {
        return Err(SmoError::EqualityConstraint(dual.balance()));
    }
    if start.alpha().len() != dual.len() {
        return Err(SmoError::Start { found: start.alpha().len(), expected: dual.len() });
    }
    let mut clock = Clock::new(rows, stop, watch);
    let gradient = match start.gradient() {
        Some(gradient) => gradient.to_vec(),
        None => match clock.exact_gradient(dual, rows.gram(), start.alpha(), f64::INFINITY) {
            Ok(gradient) => gradient,
            Err(status) => return Ok(Solution::unjudged(start.into_parts().0, status)),
        },
    };
    let mut aim = stop.goal.times(AIM);
    let mut way = Strategy::new(dual, rows, start.alpha(), &gradient, aim, config);
    let mut last_violation = f64::INFINITY;
    let mut refinements = 0;
    let (mut confirmed, mut gradient) = (NearGradients::default(), None);
    let status = loop {
        let status = way.iterate(&mut clock, config);
        if config.refine == Refine::Never || !matches!(status, Status::Converged | Status::Stalled) {
            break status;
        }
        // Between two confirmations little has changed.
        let alpha = way.alpha();
        let exact = clock.asked(way.violation(), |asking| confirmed.at(dual, rows.gram(), &alpha, rows.par(), asking));
        let exact = match exact {
            Ok(exact) => exact,
            Err(status) => break status,
        };
        way.refresh(&exact);
        refinements += 1;
        let violation = way.violation();
        let shown = stop.goal.shown(dual, violation, &alpha, || &exact);
        gradient = Some(exact);
        if shown {
            break Status::Converged;
        }
        // Rounds that do not halve the violation are at the floor of f32 rows, at once where the
        // iterations stalled as well. Without a violation nothing is left to do, whatever rounding
        // makes of the gap.
        let patience = if status == Status::Stalled { 1 } else { 20 };
        if violation <= 0.0 || (violation > 0.5 * last_violation && refinements > patience) {
            break Status::Stalled;
        }
        last_violation = violation;
        aim = closer(aim, stop.goal);
        way.aim(aim);
    };
    let mut alpha = way.alpha();
    let closed = config.refine == Refine::Exact && close(dual, &mut alpha);
    let gradient = match (status, gradient) {
        (Status::Converged, Some(_)) if closed => exact_gradient(dual, rows.gram(), &alpha, rows.par()),
        (Status::Converged, Some(exact)) => exact,
        _ => way.gradient(),
    };
    let bias = bias_of(dual, &alpha, &gradient);
    let work = Work { iterations: clock.iterations, refinements, ..way.work() };
    Ok(Solution { alpha, bias, gradient, status, work })
}

/// A little below `aim`, not below half of the goal.
fn closer(aim: Goal, goal: Goal) -> Goal {
    let each = |goal: Option<f64>, aim: Option<f64>| goal.zip(aim).map(|(goal, aim)| (0.5 * goal).max(aim * 0.9));
    Goal::of(each(goal.kkt(), aim.kkt()), each(goal.gap(), aim.gap())).unwrap_or(aim)
}

/// Once this share of all rows was needed most of them will be, or near enough where a row is of
/// codes and takes little memory.
const WHOLE: f64 = 0.3;
const WHOLE_OF_CODES: f64 = 0.15;

fn whole(rows: &Rows) -> f64 {
    if rows.gram().table().is_some() { WHOLE_OF_CODES } else { WHOLE }
}

/// How the rows of a problem are gone through.
enum Strategy<'a, 'g> {
    /// All of them in every pass, until the clock shows so many iterations.
    Whole(Box<Pairs<'a, 'g>>, u64),
    /// Those that still move, in rows as short as they are few.
    Active(Box<Active<'a, 'g>>),
}

/// Iterations that no run makes.
const NEVER: u64 = u64::MAX;

impl<'a, 'g> Strategy<'a, 'g> {
    fn new(dual: &'a Dual, rows: &'a Rows<'g>, alpha: &[f64], gradient: &[f64], aim: Goal, config: &SmoConfig) -> Self {
        let (now, later) = Active::pays(dual, rows, &config.shrinking);
        if now {
            return Self::Active(Box::new(Active::new(dual, rows, alpha, gradient, aim, config)));
        }
        let pairs = Pairs::new(dual, rows, alpha, gradient, aim, whole(rows), config);
        Self::Whole(Box::new(pairs), if later { Shrinking::LONG * dual.len() as u64 } else { NEVER })
    }

    fn iterate(&mut self, clock: &mut Clock, config: &SmoConfig) -> Status {
        loop {
            match self {
                Self::Whole(pairs, turn) => match pairs.iterate_until(*turn, clock) {
                    Some(status) => return status,
                    None => *self = Self::Active(Box::new(pairs.by_active(config))),
                },
                Self::Active(active) => {
                    if let Ok(status) = active.iterate(clock) {
                        return status;
                    }
                    // All rows are those of the store again.
                    clock.owed = 0;
                    let Active { dual, rows, alpha, gradient, looking, work, .. } = &mut **active;
                    let mut pairs = Pairs::new(dual, rows, alpha, gradient, looking.aimed_at(), whole(rows), config);
                    pairs.before = *work;
                    *self = Self::Whole(Box::new(pairs), NEVER);
                }
            }
        }
    }

    /// Works towards `aim` from now on.
    fn aim(&mut self, aim: Goal) {
        match self {
            Self::Whole(pairs, _) => pairs.looking.aim(aim),
            Self::Active(active) => active.looking.aim(aim),
        }
    }

    fn alpha(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.alpha(),
            Self::Active(active) => active.alpha.clone(),
        }
    }

    fn gradient(&self) -> Vec<f64> {
        match self {
            Self::Whole(pairs, _) => pairs.state.gradient(),
            Self::Active(active) => active.gradient.clone(),
        }
    }

    fn violation(&self) -> f64 {
        match self {
            Self::Whole(pairs, _) => pairs.state.extremes().violation(),
            Self::Active(active) => active.band().violation(),
        }
    }

    fn refresh(&mut self, gradient: &[f64]) {
        match self {
            Self::Whole(pairs, _) => pairs.refresh(gradient),
            Self::Active(active) => active.gradient.copy_from_slice(gradient),
        }
    }

    fn work(&self) -> Work {
        match self {
            Self::Whole(pairs, _) => pairs.work(),
            Self::Active(active) => active.work,
        }
    }
}
