//! Pair after pair over the rows of one matrix: the loop of SMO.

use crate::active::Active;
use crate::patience::{self, PairBudget};
use crate::prefetch::Prefetch;
use crate::solve::SmoConfig;
use crate::state::State;
use maxmargin_core::{Asking, Clock, Dual, Goal, Looking, Status, Work};
use maxmargin_kernel::{RowRef, Rows};
use maxmargin_simd::passes::Extremes;

/// A problem, the rows of its matrix, and where the pairs have taken it.
pub(crate) struct Pairs<'r, 'g> {
    pub(crate) state: State,
    pub(crate) looking: Looking,
    dual: &'r Dual,
    rows: &'r Rows<'g>,
    prefetch: Prefetch,
    pace: Pace,
    requested: u64,
    /// Iterations after which the run has stalled ([`most_of`]).
    most: u64,
    patience: Option<PairBudget>,
    /// What was done before these pairs.
    pub(crate) before: Work,
    /// How many are support vectors whatever these pairs do, where there are more variables than
    /// theirs.
    pub(crate) others: Option<u64>,
}

impl<'r, 'g> Pairs<'r, 'g> {
    /// At `alpha` with its gradient. Once the share `whole` of all rows was needed all are
    /// computed.
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
        let terms = alpha.iter().zip(gradient).zip(dual.linear_term());
        let objective = terms.map(|((a, g), p)| 0.5 * a * (g + p)).sum::<f64>().abs();
        Self {
            prefetch: Prefetch::new(state.layout.padded(), whole),
            state,
            looking: Looking::new(aim),
            dual,
            rows,
            pace: Pace::new(dual.len(), objective),
            requested: 0,
            most: most_of(dual.len()),
            patience: config.patience,
            before: Work::default(),
            others: None,
        }
    }

    /// The same problem at the same point, to go on with what still moves.
    pub(crate) fn by_active(&self, config: &SmoConfig) -> Active<'r, 'g> {
        let (alpha, gradient) = (self.state.alpha(), self.state.gradient());
        let mut active = Active::new(self.dual, self.rows, &alpha, &gradient, self.looking.aimed_at(), config);
        active.go_on_from(self.work());
        active
    }

    /// Replaces the gradient by a better one; the pace is measured anew.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) {
        self.state.refresh(self.dual, gradient);
        self.pace = Pace::new(self.dual.len(), self.pace.objective + self.pace.gained);
    }

    /// What it took so far; iterations are counted by the clock.
    pub(crate) fn work(&self) -> Work {
        let mut work = self.before;
        work += Work { rows_requested: self.requested, rows_computed: self.prefetch.computed, ..Work::default() };
        work
    }

    /// Optimises pairs until what the solver knows shows the aim; how that ended.
    pub(crate) fn iterate(&mut self, clock: &mut Clock) -> Status {
        // There are not as many iterations.
        self.iterate_until(u64::MAX, clock).unwrap_or(Status::IterationLimit)
    }

    /// The same, or nothing when the clock shows so many iterations before.
    pub(crate) fn iterate_until(&mut self, turn: u64, clock: &mut Clock) -> Option<Status> {
        let mut extremes = self.state.extremes();
        loop {
            let violation = extremes.violation();
            let Self { state, dual, looking, .. } = self;
            let point = || (state.alpha(), state.gradient());
            if extremes.argmin_up == usize::MAX
                || extremes.argmax_low == usize::MAX
                || looking.reached(dual, violation, clock.iterations, point)
            {
                return Some(Status::Converged);
            }
            if let Some(others) = self.others.filter(|_| clock.iterations.is_multiple_of(COUNTED)) {
                // The gradients of all the others are to be brought up to date in `f32`, for half
                // of what exact values cost.
                let support = state.alpha().iter().filter(|a| **a != 0.0).count() as u64;
                clock.owed = others + support + support / 2;
            }
            if let Some(status) = clock.ended(looking.measure(violation)) {
                return Some(status);
            }
            if clock.iterations >= turn {
                return None;
            }
            if clock.iterations.is_multiple_of(patience::BETWEEN) && self.is_out_of_patience(clock.iterations) {
                return Some(Status::IterationLimit);
            }
            if clock.iterations >= self.most {
                return Some(Status::Stalled);
            }
            let i = extremes.argmin_up;
            let row_i = match self.row(i, &extremes, clock) {
                Ok(row) => row,
                Err(status) => return Some(status),
            };
            let j = self.state.partner(i, &row_i).index;
            // The squares of violations this small are 0: no step gains anything.
            if j == usize::MAX {
                return Some(Status::Stalled);
            }
            let row_j = match self.row(j, &extremes, clock) {
                Ok(row) => row,
                Err(status) => return Some(status),
            };
            let step = self.state.step(i, j, &row_i, &row_j);
            extremes = step.extremes;
            clock.iterations += 1;
            if self.pace.stalls(step.gain, violation) {
                return Some(Status::Stalled);
            }
        }
    }

    /// See [`PairBudget`].
    fn is_out_of_patience(&self, iterations: u64) -> bool {
        let free = || self.state.alpha().iter().zip(self.dual.upper()).filter(|(a, u)| **a > 0.0 && a < u).count();
        self.patience.is_some_and(|patience| patience.is_over(iterations, self.dual.len(), free))
    }

    /// The row at a place, unless the run was ended while it was computed.
    fn row(&mut self, place: usize, extremes: &Extremes, clock: &mut Clock) -> Result<RowRef, Status> {
        self.requested += 1;
        let id = self.state.layout.id(place);
        self.prefetch.note(place);
        if !self.rows.contains(id) {
            let violation = self.looking.measure(extremes.violation());
            let (prefetch, state, rows) = (&mut self.prefetch, &self.state, self.rows);
            clock.asked(violation, |asking: &Asking| prefetch.fetch(state, rows, place, extremes, asking))?;
        }
        Ok(self.rows.row(id))
    }
}

/// Iterations between two counts of the support vectors of a round: less than a hundredth of their
/// time.
const COUNTED: u64 = 256;

/// Iterations after which a run of so many variables counts as stalled: a tenth of the ten million
/// after which LIBSVM gives up, and the hundred for each variable that it allows where those are
/// more. Who names a limit of iterations gets that one instead.
fn most_of(variables: usize) -> u64 {
    1_000_000 + 100 * variables as u64
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
    /// Windows since the least violation fell by a tenth, and what they gained.
    idle: u32,
    gained_idle: f64,
    least_then: f64,
}

/// Windows without a violation less by a tenth, in which the objective moves by less than [`CREEP`]
/// of itself, after which a run has stalled: where it still gets on, one or the other moves in half
/// a million iterations.
const IDLE: u32 = 5;
const CREEP: f64 = 0.01;

impl Pace {
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
        }
    }

    /// Whether a whole window of iterations gained next to nothing and came no nearer to the
    /// tolerance: where the objective stands still the violation may still shrink, since gains are
    /// its square, and where the violation is noise there are phantom gains along directions that
    /// are flat in `f32`. Or whether both creep for long: on features that nobody has scaled pairs
    /// undo each other's work, and ten million of them end nowhere.
    fn stalls(&mut self, gain: f64, violation: f64) -> bool {
        self.gained += gain;
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
