//! The solver's loop: iterate, refine, stop.

use crate::prefetch::Prefetch;
use crate::state::State;
use maxmargin_core::{Asking, Balance, Clock, Dual, Refine, Solution, Start, Status, Stop, Watch, Work, bias_of};
use maxmargin_data::Par;
use maxmargin_kernel::{RowRef, Rows};
use maxmargin_simd::passes::Extremes;

/// Choices of the solver that do not change what it solves.
#[derive(Clone, Copy, Debug)]
pub struct SmoConfig {
    /// See [`Refine`].
    pub refine: Refine,
    /// Threads that share the passes of large problems; they stay awake while the solver runs. The result has the same bits for any.
    pub par: Par,
}

impl Default for SmoConfig {
    fn default() -> Self {
        Self { refine: Refine::Exact, par: Par::Seq }
    }
}

/// Why SMO cannot take a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmoError {
    /// SMO moves pairs along an equality constraint.
    #[error("SMO solves problems with a sum, of all variables or of each sign, not {0:?}")]
    Balance(Balance),
    /// Every variable has the same ridge in this solver.
    #[error("SMO solves problems with one ridge for all variables")]
    Ridge,
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// Values of the start.
        found: usize,
        /// Variables of the problem.
        expected: usize,
    },
}

/// The inner loop aims a little below the tolerance, so that rounding in `f32` kernel rows rarely costs a second round.
const AIM: f64 = 0.99;

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible; `status` says how the run ended and `gradient` is exact (`f64`) after [`Refine::Exact`]
/// when the status is [`Status::Converged`].
///
/// # Errors
///
/// When the problem's balance is not a sum, of all variables or of each sign, or the start belongs to a problem of another size.
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
    if !matches!(dual.balance(), Balance::Sum(_) | Balance::PerSign(..)) {
        return Err(SmoError::Balance(dual.balance()));
    }
    if !dual.has_one_ridge() {
        return Err(SmoError::Ridge);
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
    let state = State::new(dual, rows.gram(), start.alpha(), &gradient, config.par);
    let terms = start.alpha().iter().zip(&gradient).zip(dual.lin());
    let objective = terms.map(|((a, g), p)| 0.5 * a * (g + p)).sum::<f64>().abs();
    let mut run = Run {
        prefetch: Prefetch::new(state.layout.padded()),
        state,
        rows,
        clock,
        work: Work::default(),
        pace: Pace::new(dual.len(), objective),
    };
    let mut aim = AIM * stop.tol;
    let mut last_violation = f64::INFINITY;
    let mut gradient = None;
    let status = loop {
        let status = run.iterate(aim);
        if config.refine == Refine::Never || !matches!(status, Status::Converged | Status::Stalled) {
            break status;
        }
        let seen = run.state.extremes();
        let exact = run.clock.exact_gradient(dual, rows.gram(), &run.state.alpha(), seen.max_low - seen.min_up);
        let exact = match exact {
            Ok(exact) => exact,
            Err(status) => break status,
        };
        run.state.refresh(dual, &exact);
        run.work.refinements += 1;
        let extremes = run.state.extremes();
        let violation = extremes.max_low - extremes.min_up;
        gradient = Some(exact);
        if violation <= stop.tol {
            break Status::Converged;
        }
        // Rounds that do not halve the violation are at the floor of f32 rows, at once where the iterations stalled as well.
        let patience = if status == Status::Stalled { 1 } else { 20 };
        if violation > 0.5 * last_violation && run.work.refinements > patience {
            break Status::Stalled;
        }
        last_violation = violation;
        aim = (0.5 * stop.tol).max(aim * 0.9);
        run.pace = Pace::new(dual.len(), run.pace.objective + run.pace.gained);
    };
    let alpha = run.state.alpha();
    let gradient = match (status, gradient) {
        (Status::Converged, Some(exact)) => exact,
        _ => run.state.gradient(),
    };
    let bias = bias_of(dual, &alpha, &gradient);
    run.work.iterations = run.clock.iterations;
    run.work.rows_computed = run.prefetch.computed;
    Ok(Solution { alpha, bias, gradient, status, work: run.work })
}

/// Watches whether the run still gets anywhere.
struct Pace {
    window: u64,
    iterations: u64,
    /// |objective|, as far as the gains since the start tell.
    objective: f64,
    /// Gain of this window.
    gained: f64,
    /// Least violation of this window, and of those before.
    least: f64,
    least_before: f64,
}

impl Pace {
    fn new(variables: usize, objective: f64) -> Self {
        let window = 100_000.max(variables as u64);
        Self { window, iterations: 0, objective, gained: 0.0, least: f64::INFINITY, least_before: f64::INFINITY }
    }

    /// Whether a whole window of iterations gained next to nothing and came no nearer to the tolerance: where the objective stands
    /// still the violation may still shrink, since gains are its square, and where the violation is noise there are phantom
    /// gains along directions that are flat in `f32`.
    fn stalls(&mut self, gain: f64, violation: f64) -> bool {
        self.gained += gain;
        self.least = self.least.min(violation);
        self.iterations += 1;
        if !self.iterations.is_multiple_of(self.window) {
            return false;
        }
        self.objective += self.gained;
        let still = self.gained <= 1e-12 * self.objective && self.least >= self.least_before;
        self.least_before = self.least_before.min(self.least);
        (self.gained, self.least) = (0.0, f64::INFINITY);
        still
    }
}

struct Run<'a, 'g> {
    state: State,
    rows: &'a Rows<'g>,
    clock: Clock<'a, 'g>,
    work: Work,
    pace: Pace,
    prefetch: Prefetch,
}

impl Run<'_, '_> {
    /// Optimises pairs until the violation known to the solver is at most `aim`.
    fn iterate(&mut self, aim: f64) -> Status {
        let mut extremes = self.state.extremes();
        loop {
            let violation = extremes.max_low - extremes.min_up;
            if violation <= aim || extremes.argmin_up == usize::MAX || extremes.argmax_low == usize::MAX {
                return Status::Converged;
            }
            if let Some(status) = self.clock.ended(violation) {
                return status;
            }
            let i = extremes.argmin_up;
            let row_i = match self.row(i, &extremes) {
                Ok(row) => row,
                Err(status) => return status,
            };
            let j = self.state.partner(i, &row_i).index;
            let row_j = match self.row(j, &extremes) {
                Ok(row) => row,
                Err(status) => return status,
            };
            let step = self.state.step(i, j, &row_i, &row_j);
            extremes = step.extremes;
            self.clock.iterations += 1;
            if self.pace.stalls(step.gain, violation) {
                return Status::Stalled;
            }
        }
    }

    /// The row at a place, unless the run was ended while it was computed.
    fn row(&mut self, place: usize, extremes: &Extremes) -> Result<RowRef, Status> {
        self.work.rows_requested += 1;
        let id = self.state.layout.id(place);
        self.prefetch.note(place);
        if !self.rows.contains(id) {
            let violation = extremes.max_low - extremes.min_up;
            let (clock, prefetch) = (&mut self.clock, &mut self.prefetch);
            let (state, rows) = (&self.state, self.rows);
            clock.asked(violation, |asking: &Asking| prefetch.fetch(state, rows, place, extremes, asking))?;
        }
        Ok(self.rows.row(id))
    }
}
