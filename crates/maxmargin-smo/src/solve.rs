//! The solver's loop: iterate, refine, stop.

use crate::prefetch::Prefetch;
use crate::state::State;
use maxmargin_core::{Balance, Dual, Progress, Refine, Solution, Start, Status, Stop, Watch, Work, bias_of, exact_gradient};
use maxmargin_data::Par;
use maxmargin_kernel::{RowRef, Rows};
use maxmargin_simd::passes::Extremes;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

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
    /// SMO moves pairs along one equality constraint.
    #[error("SMO solves problems with one balance of sums, not {0:?}")]
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

/// Iterations between looks at the clock.
const LOOK: u64 = 64;

/// Between two reports to the watch.
const REPORT: Duration = Duration::from_millis(50);

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible; `status` says how the run ended and `gradient` is exact (`f64`) after [`Refine::Exact`]
/// when the status is [`Status::Converged`].
///
/// # Errors
///
/// When the problem's balance is not a single sum, or the start belongs to a problem of another size.
///
/// # Panics
///
/// When the problem names samples that the Gram matrix does not have.
#[expect(clippy::needless_pass_by_value, reason = "every solver consumes its start")]
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &SmoConfig,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Solution, SmoError> {
    if !matches!(dual.balance(), Balance::Sum(_)) {
        return Err(SmoError::Balance(dual.balance()));
    }
    if !dual.has_one_ridge() {
        return Err(SmoError::Ridge);
    }
    if start.alpha().len() != dual.len() {
        return Err(SmoError::Start { found: start.alpha().len(), expected: dual.len() });
    }
    let gradient = match start.gradient() {
        Some(gradient) => gradient.to_vec(),
        None => exact_gradient(dual, rows.gram(), start.alpha(), rows.par()),
    };
    let state = State::new(dual, rows.gram(), start.alpha(), &gradient, config.par);
    let terms = start.alpha().iter().zip(&gradient).zip(dual.lin());
    let objective = terms.map(|((a, g), p)| 0.5 * a * (g + p)).sum::<f64>().abs();
    let mut run = Run {
        prefetch: Prefetch::new(state.layout.padded()),
        state,
        rows,
        stop,
        begun: Instant::now(),
        reported: Duration::ZERO,
        work: Work::default(),
        pace: Pace::new(dual.len(), objective),
        ended: None,
    };
    let mut aim = AIM * stop.tol;
    let mut last_violation = f64::INFINITY;
    let mut gradient = None;
    let status = loop {
        let status = run.iterate(aim, watch);
        if config.refine == Refine::Never || !matches!(status, Status::Converged | Status::Stalled) {
            break status;
        }
        run.tell_of_audit(watch);
        let exact = exact_gradient(dual, rows.gram(), &run.state.alpha(), rows.par());
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
    stop: &'a Stop,
    begun: Instant,
    reported: Duration,
    work: Work,
    pace: Pace,
    prefetch: Prefetch,
    /// Set when the run was ended while rows were computed.
    ended: Option<Status>,
}

impl Run<'_, '_> {
    /// Optimises pairs until the violation known to the solver is at most `aim`.
    fn iterate(&mut self, aim: f64, watch: &mut dyn Watch) -> Status {
        let mut extremes = self.state.extremes();
        loop {
            let violation = extremes.max_low - extremes.min_up;
            if violation <= aim || extremes.argmin_up == usize::MAX || extremes.argmax_low == usize::MAX {
                return Status::Converged;
            }
            if let Some(status) = self.limits(violation, watch) {
                return status;
            }
            let i = extremes.argmin_up;
            let row_i = self.row(i, &extremes, watch);
            let j = self.state.partner(i, &row_i).index;
            let row_j = self.row(j, &extremes, watch);
            if let Some(status) = self.ended {
                return status;
            }
            let step = self.state.step(i, j, &row_i, &row_j);
            extremes = step.extremes;
            self.work.iterations += 1;
            if self.pace.stalls(step.gain, violation) {
                return Status::Stalled;
            }
        }
    }

    /// Tells the watch that the tolerance is reached as far as the solver sees, and that exact values come next. It is not asked: they are soon there.
    fn tell_of_audit(&mut self, watch: &mut dyn Watch) {
        let extremes = self.state.extremes();
        let violation = extremes.max_low - extremes.min_up;
        let (iterations, rows_computed) = (self.work.iterations, self.rows.work().computed);
        let _ = watch.tick(&Progress { iterations, violation, tol: self.stop.tol, rows_computed });
    }

    fn row(&mut self, place: usize, extremes: &Extremes, watch: &mut dyn Watch) -> RowRef {
        self.work.rows_requested += 1;
        let id = self.state.layout.id(place);
        self.prefetch.note(place);
        if !self.rows.contains(id) {
            let violation = extremes.max_low - extremes.min_up;
            let (rows, begun, stop, iterations) = (self.rows, self.begun, self.stop, self.work.iterations);
            let ended = &mut self.ended;
            let tick = || {
                let progress = Progress { iterations, violation, tol: stop.tol, rows_computed: rows.work().computed };
                if stop.max_time.is_some_and(|most| begun.elapsed() >= most) {
                    *ended = Some(Status::TimeLimit);
                } else if watch.tick(&progress).is_break() {
                    *ended = Some(Status::Interrupted);
                }
                if ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            self.prefetch.fetch(&self.state, self.rows, place, extremes, tick);
        }
        self.rows.row(id)
    }

    fn limits(&mut self, violation: f64, watch: &mut dyn Watch) -> Option<Status> {
        let iterations = self.work.iterations;
        if self.stop.max_iter.is_some_and(|most| iterations >= most) {
            return Some(Status::IterationLimit);
        }
        if !iterations.is_multiple_of(LOOK) {
            return None;
        }
        let elapsed = self.begun.elapsed();
        if self.stop.max_time.is_some_and(|most| elapsed >= most) {
            return Some(Status::TimeLimit);
        }
        if elapsed.saturating_sub(self.reported) >= REPORT || iterations == 0 {
            self.reported = elapsed;
            let rows_computed = self.rows.work().computed;
            let progress = Progress { iterations, violation, tol: self.stop.tol, rows_computed };
            if watch.tick(&progress).is_break() {
                return Some(Status::Interrupted);
            }
        }
        None
    }
}
