//! The loop of SMO: one pair after another over the rows of one matrix (steps 2 to 5 of
//! `solve.rs`).

use crate::config::SmoConfig;
use crate::pair_budget::{self, PairBudget};
use crate::passes::state::State;
use crate::prefetch::Prefetch;
use maxmargin_core::{ConvergenceCheck, Dual, Goal, RunControl, SolverControl, Status, Work};
use maxmargin_kernel::{RowRef, Rows};
use maxmargin_simd::passes::Extremes;

/// A problem, the rows of its matrix and the current point.
pub(crate) struct Pairs<'r, 'g> {
    pub(crate) state: State,
    pub(crate) convergence: ConvergenceCheck,
    pub(crate) dual: &'r Dual,
    pub(crate) rows: &'r Rows<'g>,
    prefetch: Prefetch,
    pub(crate) stall: StallDetector,
    requested: u64,
    /// The number of iterations after which the run counts as stalled ([`max_iterations_of`]).
    max_iterations: u64,
    pair_budget: Option<PairBudget>,
    /// The work done before this loop began.
    pub(crate) before: Work,
    /// The number of support vectors outside this problem, if it is a part of a larger one.
    pub(crate) others: Option<u64>,
}

impl<'r, 'g> Pairs<'r, 'g> {
    /// Begins at `alpha` with its gradient. After a share `whole` of all rows was needed, the whole
    /// matrix is computed.
    pub(crate) fn new(
        dual: &'r Dual,
        rows: &'r Rows<'g>,
        alpha: &[f64],
        gradient: &[f64],
        aim: Goal,
        whole: f64,
        config: &SmoConfig,
    ) -> Self {
        let state = State::new(dual, rows.gram(), alpha, gradient, config.par);
        let state = if config.conjugate { state.by_conjugate_steps() } else { state };
        Self {
            prefetch: Prefetch::new(state.layout.padded(), whole, rows.gram().tile().together),
            state,
            convergence: ConvergenceCheck::new(aim),
            dual,
            rows,
            stall: StallDetector::at(dual, alpha, gradient),
            requested: 0,
            max_iterations: max_iterations_of(dual.len()),
            pair_budget: config.pair_budget,
            before: Work::default(),
            others: None,
        }
    }

    /// Replaces the gradient by a more exact one and restarts the stall detection.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) {
        self.state.refresh(self.dual, gradient);
        self.stall = self.stall.again();
    }

    /// Returns the work so far. The clock counts the iterations.
    pub(crate) fn work(&self) -> Work {
        let mut work = self.before;
        work += Work { rows_requested: self.requested, rows_computed: self.prefetch.computed, ..Work::default() };
        work
    }

    /// Iterates until the goal is reached by the solver's own gradient, and returns how the run
    /// ended.
    pub(crate) fn iterate(&mut self, control: &mut SolverControl) -> Status {
        // No run makes u64::MAX iterations.
        self.iterate_until(u64::MAX, control).unwrap_or(Status::IterationLimit)
    }

    /// Iterates as [`Pairs::iterate`] does; returns `None` if it has counted `until` iterations
    /// before the end.
    pub(crate) fn iterate_until(&mut self, until: u64, control: &mut SolverControl) -> Option<Status> {
        let mut extremes = self.state.extremes();
        loop {
            // 2: stop if the violation is at most ε.
            let violation = extremes.violation();
            let Self { state, dual, convergence, .. } = self;
            let point = || (state.alpha(), state.gradient());
            if extremes.argmin_up == usize::MAX
                || extremes.argmax_low == usize::MAX
                || convergence.reached(dual, violation, control.iterations, point)
            {
                return Some(Status::Converged);
            }
            if self.others.is_none() && control.iterations.is_multiple_of(COUNTED) {
                control.look(dual, || (state.alpha(), state.gradient()));
            }
            if let Some(others) = self.others.filter(|_| control.iterations.is_multiple_of(COUNTED)) {
                // Afterwards the gradients of all other variables must be updated in `f32`. That
                // costs half of exact values, hence `support / 2`.
                let support = state.alpha().iter().filter(|a| **a != 0.0).count() as u64;
                control.owed = others + support + support / 2;
            }
            if let Some(status) = control.ended(convergence.measure(violation)) {
                return Some(status);
            }
            if control.iterations >= until {
                return None;
            }
            if control.iterations.is_multiple_of(pair_budget::BETWEEN) && self.is_over_budget(control.iterations) {
                return Some(Status::IterationLimit);
            }
            if control.iterations >= self.max_iterations {
                return Some(Status::Stalled);
            }
            // 2: i, the variable with the smallest f over I_up.
            let i = extremes.argmin_up;
            let row_i = match self.row(i, &extremes, control) {
                Ok(row) => row,
                Err(status) => return Some(status),
            };
            // 3: j, the partner with the greatest second-order gain.
            let j = self.state.partner(i, &row_i).index;
            // The squares of such small violations underflow to 0: no step has a gain.
            if j == usize::MAX {
                return Some(Status::Stalled);
            }
            let row_j = match self.row(j, &extremes, control) {
                Ok(row) => row,
                Err(status) => return Some(status),
            };
            // 4, 5: the step, and f with the extremes after it.
            let step = self.state.step(i, j, &row_i, &row_j);
            extremes = step.extremes;
            control.iterations += 1;
            if self.stall.stalls(step.gain, violation) {
                return Some(Status::Stalled);
            }
        }
    }

    /// Returns true if the run has used its [`PairBudget`].
    fn is_over_budget(&self, iterations: u64) -> bool {
        let counts = || {
            let alpha = self.state.alpha();
            let free = alpha.iter().zip(self.dual.upper()).filter(|(a, u)| **a > 0.0 && a < u).count();
            [free, alpha.iter().filter(|a| **a != 0.0).count() + self.others.unwrap_or(0) as usize]
        };
        self.pair_budget.is_some_and(|budget| budget.is_over(iterations, self.dual.len(), counts))
    }

    /// Returns the row at a place, or the status if the run ended while the row was computed.
    fn row(&mut self, place: usize, extremes: &Extremes, control: &mut SolverControl) -> Result<RowRef, Status> {
        self.requested += 1;
        let id = self.state.layout.id(place);
        self.prefetch.note(place);
        if !self.rows.contains(id) {
            let violation = self.convergence.measure(extremes.violation());
            let (prefetch, state, rows) = (&mut self.prefetch, &self.state, self.rows);
            control.run(violation, |control: &RunControl| prefetch.fetch(state, rows, place, extremes, control))?;
        }
        Ok(self.rows.row(id))
    }
}

/// `½ αᵀQα + linᵀα`.
pub(crate) fn objective(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    alpha.iter().zip(gradient).zip(dual.linear_term()).map(|((a, g), p)| 0.5 * a * (g + p)).sum()
}

/// Returns what is left to gain from a point at most ([`Dual::lowest_objective`]).
pub(crate) fn left_to_gain(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    // Gains are sums with rounding.
    ROOM * (objective(dual, alpha, gradient) - dual.lowest_objective())
}

/// The factor of what is left to gain from which on a gain is an error.
const ROOM: f64 = 1.01;

/// Iterations between two counts of the support vectors of a round, and between two looks at the
/// clock of reports. Counting takes less than a hundredth of the time.
pub(crate) const COUNTED: u64 = 256;

/// The number of iterations after which a run over so many variables counts as stalled. It is a
/// tenth of LIBSVM's ten million, plus LIBSVM's hundred per variable. A limit that the caller sets
/// takes precedence.
pub(crate) fn max_iterations_of(variables: usize) -> u64 {
    1_000_000 + 100 * variables as u64
}

/// Detects runs that make no progress any more.
pub(crate) struct StallDetector {
    window: u64,
    iterations: u64,
    /// The absolute objective, estimated from the gains since the start.
    objective: f64,
    /// The gain of this window.
    gained: f64,
    /// The least violation of this window, and of all windows before.
    least: f64,
    least_before: f64,
    /// The windows since the least violation last fell by a tenth, and their gain.
    idle: u32,
    gained_idle: f64,
    least_then: f64,
    /// The gain of all windows, and the most that any run can gain.
    total: f64,
    most: f64,
}

/// A run has stalled after this many windows in which the violation does not fall by a tenth and
/// the objective changes by less than [`CREEP`] of itself. Runs that progress change one or the
/// other within half a million iterations.
const IDLE: u32 = 5;
const CREEP: f64 = 0.01;

impl StallDetector {
    fn new(variables: usize, objective: f64) -> Self {
        let window = 100_000.max(variables as u64);
        Self {
            window,
            iterations: 0,
            objective,
            gained: 0.0,
            least: f64::INFINITY,
            least_before: f64::INFINITY,
            idle: 0,
            gained_idle: 0.0,
            least_then: f64::INFINITY,
            total: 0.0,
            most: f64::INFINITY,
        }
    }

    /// Begins at a point.
    pub(crate) fn at(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> Self {
        Self::new(dual.len(), objective(dual, alpha, gradient).abs())
    }

    /// Ends a run that gains more than `most`, what is left to gain ([`left_to_gain`]).
    pub(crate) fn limit_gain(&mut self, most: f64) {
        self.most = most;
    }

    /// Begins again at the present objective, for a gradient that is more exact.
    pub(crate) fn again(&self) -> Self {
        Self { window: self.window, total: self.total, most: self.most, ..Self::new(0, self.objective + self.gained) }
    }

    /// Returns true if the run has stalled.
    ///
    /// The first case is a whole window that gains almost nothing and comes no nearer to the
    /// tolerance. Gains are squares of violations, so the violation may still fall while the
    /// objective stands still. Where the violation is noise, directions that are flat in `f32` show
    /// false gains.
    ///
    /// The second case is slow progress of both for many windows. On unscaled features pairs undo
    /// each other's steps, and ten million of them do not converge.
    ///
    /// The third case is a gain that no point has. Rounding in `f32` rows then exceeds the ridge,
    /// their matrix is not positive semidefinite, and without bounds its objective has no minimum.
    pub(crate) fn stalls(&mut self, gain: f64, violation: f64) -> bool {
        self.gained += gain;
        self.total += gain;
        if self.total > self.most {
            return true;
        }
        self.least = self.least.min(violation);
        self.iterations += 1;
        if !self.iterations.is_multiple_of(self.window) {
            return false;
        }
        self.objective += self.gained;
        let still = self.gained <= 1e-12 * self.objective && self.least >= self.least_before;
        if self.least < 0.9 * self.least_then {
            (self.idle, self.gained_idle, self.least_then) = (0, 0.0, self.least);
        } else {
            self.idle += 1;
            self.gained_idle += self.gained;
        }
        let creeps = self.idle >= IDLE && self.gained_idle <= CREEP * self.objective;
        self.least_before = self.least_before.min(self.least);
        (self.gained, self.least) = (0.0, f64::INFINITY);
        still || creeps
    }
}
