//! The run: one working set after another, and convergence confirmed on exact kernel values.
//!
//! The notation of Pérez-Cruz et al. (2000), with `β = s ∘ α` and the errors `e = −f − b`, `f = s ∘
//! (Qα + p)`:
//!
//! ```text
//!   1  α ← the start;  f ← s ∘ (Qα + p)
//!   2  stop if max f over I_low − min f over I_up ≤ ε
//!   3  S ← q samples: the worst violator of each condition and class, then by rule
//!   4  β_S ← weighted least squares on S with the rest fixed (least_squares.rs)
//!   5  f += K Δβ_S for all samples;  go to 2
//!   6  f from exact f64 kernel values;  if the violation exceeds the tolerance:
//!      2 to 5 with exact kernel values and a smaller ε, then 6
//! ```

use crate::config::{FinishConfig, IrwlsConfig, IrwlsError, IrwlsOutcome};
use crate::inner_solver::least_squares::LeastSquares;
use crate::state::{Extremes, State};
use crate::working_set::chunk::Chunk;
use crate::working_set::exact::fill;
use crate::working_set::select::SetSelection;
use crate::working_set::select::{Chooser, SelectionQuery};
use maxmargin_core::warm::close;
use maxmargin_core::{
    Dual, EqualityConstraint, Goal, Refine, Solution, SolverControl, Start, Status, Stop, Work, bias_of, exact_gradient,
    rounding_of_sums,
};
use maxmargin_data::RunControl;
use maxmargin_kernel::Rows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// Working sets in `f32` aim a little below the tolerance, so that rounding rarely costs a second
/// round.
const AIM: f64 = 0.95;

/// The error that kernel values in `f32` leave in a gradient, relative to `‖α‖ max K_ii`. Below it
/// working sets of exact values take over.
const SINGLE: f64 = 5e-8;

/// For a gap, working sets aim at this share of the present violation.
const CLOSER: f64 = 0.1;

/// The tolerance of a working set as a share of that of the run.
const INSIDE: f64 = 0.5;

/// The working sets without progress after which a run counts as stalled.
const IDLE_SETS: u32 = 50;

/// A working set whose violation is within rounding counts as this many.
const ROUNDING_COUNT: u32 = 10;

/// The gain of working sets that counts as progress, as a share of the objective. Rounding alone
/// makes gains of 10⁻¹⁵ without end.
const GAIN: f64 = 1e-13;

/// The rounds with exact values without halving the violation after which a run counts as stalled.
const ROUNDS: u32 = 3;

/// The largest working set with exact values, unless the caller's sets are larger.
const EXACT_SET: usize = 2048;

pub(crate) fn check(dual: &Dual, alpha: &[f64], working_set: usize, rows: usize) -> Result<(), IrwlsError> {
    if !matches!(dual.balance(), EqualityConstraint::Sum(_)) {
        return Err(IrwlsError::EqualityConstraint(dual.balance()));
    }
    if working_set < 2 {
        return Err(IrwlsError::WorkingSet(working_set));
    }
    if alpha.len() != dual.len() {
        return Err(IrwlsError::Start { found: alpha.len(), expected: dual.len() });
    }
    dual.missing_row(rows).map_or(Ok(()), |row| Err(IrwlsError::Row { row, rows }))
}

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible. `status` says how the run ended. After [`Refine::Exact`] the
/// gradient is exact (`f64`) if the status is [`Status::Converged`].
///
/// # Errors
///
/// When the constraint is not a single sum, the start belongs to a problem of another size, a
/// working set has fewer than 2 samples, or the problem names rows that the Gram matrix does not
/// have.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &IrwlsConfig<'_>,
    stop: &Stop,
    control: &RunControl,
) -> Result<IrwlsOutcome, IrwlsError> {
    let (alpha, gradient) = start.into_parts();
    check(dual, &alpha, config.working_set, rows.gram().len())?;
    let mut control = SolverControl::new(rows, stop, control);
    let gradient = match gradient.map_or_else(|| control.exact_gradient(dual, rows.gram(), &alpha, f64::INFINITY), Ok) {
        Ok(gradient) => gradient,
        Err(status) => return Ok(IrwlsOutcome::without_gradient(alpha, status)),
    };
    let mut run = Run::new(dual, rows, config, alpha, &gradient, control);
    // If one working set holds all variables that move, rows in `f32` would only come near the
    // point, and exact values would follow anyway.
    let single = if run.is_of_exact_values(stop.goal) { Status::Stalled } else { run.single_precision(stop.goal) };
    Ok(match (config.refine, single) {
        (Refine::Exact, Status::Converged | Status::Stalled) => run.exactly(stop.goal),
        (_, status) => run.outcome(status, None),
    })
}

/// The goal of a phase of working sets.
#[derive(Clone, Copy, Debug)]
struct Aim {
    goal: Goal,
    /// The violation below which the present kernel values are too inexact.
    floor: f64,
}

impl Aim {
    fn is_reached(&self, run: &Run, violation: f64) -> bool {
        violation <= self.floor || self.goal.shown(run.state.dual, violation, &run.state.alpha, || run.state.gradient())
    }

    /// Returns the violation for which a working set is solved. A gap implies none, so it is
    /// approached step by step.
    fn of_a_working_set(&self, violation: f64) -> f64 {
        let kkt = match self.goal {
            Goal::Kkt(kkt) => kkt,
            Goal::Both { kkt, .. } => kkt.min(CLOSER * violation),
            Goal::Gap(_) => CLOSER * violation,
        };
        kkt.max(self.floor)
    }
}

/// The state of a run.
pub(crate) struct Run<'a, 'g> {
    state: State<'a>,
    rows: &'a Rows<'g>,
    config: &'a IrwlsConfig<'a>,
    control: SolverControl<'a, 'g>,
    chooser: Chooser,
    chunk: Chunk,
    seen: Vec<bool>,
    /// The largest diagonal kernel value.
    largest: f64,
    work: Work,
    chunks: u64,
    exact_chunks: u64,
    idle_chunks: u64,
    optimiser: Duration,
}

impl<'a, 'g> Run<'a, 'g> {
    pub(crate) fn new(
        dual: &'a Dual,
        rows: &'a Rows<'g>,
        config: &'a IrwlsConfig<'a>,
        alpha: Vec<f64>,
        gradient: &[f64],
        control: SolverControl<'a, 'g>,
    ) -> Self {
        let diagonal = rows.gram().diagonal();
        Self {
            state: State::new(dual, alpha, gradient, config.par),
            rows,
            config,
            control,
            chooser: Chooser::new(dual.len(), ChaCha8Rng::seed_from_u64(config.seed)),
            chunk: Chunk::default(),
            seen: vec![false; rows.gram().len()],
            largest: dual.ids().iter().fold(0.0, |m: f64, &id| m.max(diagonal[id].abs())),
            work: Work::default(),
            chunks: 0,
            exact_chunks: 0,
            idle_chunks: 0,
            optimiser: Duration::ZERO,
        }
    }

    /// Solves working sets from rows in `f32`, to the tolerance or to their precision.
    fn single_precision(&mut self, goal: Goal) -> Status {
        let size = |run: &Self| run.config.working_set.min(run.state.alpha.len());
        self.iterate(false, size, |run| match run.config.refine {
            Refine::Exact => Aim { goal: goal.times(AIM), floor: run.single() },
            Refine::Never | Refine::PointOnly => Aim { goal, floor: 0.0 },
        })
    }

    /// Returns the violation below which rows in `f32` are too inexact.
    fn single(&self) -> f64 {
        SINGLE * self.largest * self.state.norm()
    }

    /// Returns true if rows in `f32` are too inexact for the goal, and one working set holds all
    /// variables that are free or violate their condition.
    fn is_of_exact_values(&self, goal: Goal) -> bool {
        let Some(kkt) = goal.kkt().filter(|kkt| AIM * kkt < self.single() && self.config.refine == Refine::Exact) else {
            return false;
        };
        let Extremes { min_up, max_low, .. } = self.state.extremes();
        let threshold = f64::midpoint(min_up, max_low);
        let moves = |k: &usize| {
            let (rises, falls) = self.state.moves(*k);
            let error = threshold - self.state.f[*k];
            rises && (falls || error > 0.5 * kkt) || falls && -error > 0.5 * kkt
        };
        (0..self.state.alpha.len()).filter(moves).count() <= self.most_exact()
    }

    /// Returns the largest number of variables in a working set of exact values. A larger size that
    /// the caller asks for takes precedence over the room.
    fn most_exact(&self) -> usize {
        self.config.working_set.max(EXACT_SET.min(FinishConfig::fitting(self.rows.room())))
    }

    /// Makes rounds of working sets from exact values, each confirmed by a recomputed gradient
    /// (step 6).
    pub(crate) fn exactly(mut self, goal: Goal) -> IrwlsOutcome {
        let (mut last, mut idle, mut aim) = (f64::INFINITY, 0, goal.times(AIM));
        loop {
            let (dual, gram) = (self.state.dual, self.rows.gram());
            let gradient = match self.control.exact_gradient(dual, gram, &self.state.alpha, last) {
                Ok(gradient) => gradient,
                Err(status) => return self.outcome(status, None),
            };
            self.state.refresh(&gradient);
            self.work.refinements += 1;
            let violation = self.state.extremes().violation();
            if goal.shown(dual, violation, &self.state.alpha, || &gradient) {
                return self.outcome(Status::Converged, Some(gradient));
            }
            idle = if violation <= 0.5 * last { 0 } else { idle + 1 };
            if idle > ROUNDS {
                return self.outcome(Status::Stalled, Some(gradient));
            }
            last = last.min(violation);
            match self.iterate_exactly(aim) {
                Status::Converged | Status::Stalled => {}
                status => return self.outcome(status, None),
            }
            aim = aim.times(0.5);
        }
    }

    /// Solves working sets of exact values until the gradient that they update shows `aim`.
    pub(crate) fn iterate_exactly(&mut self, aim: Goal) -> Status {
        let most = self.most_exact();
        self.iterate(true, move |run| most.min(run.state.alpha.len()), move |_| Aim { goal: aim, floor: 0.0 })
    }

    fn iterate(&mut self, exact: bool, count: impl Fn(&Self) -> usize, aim: impl Fn(&Self) -> Aim) -> Status {
        let (mut objective, mut idle, mut least) = (self.objective(), 0, f64::INFINITY);
        let mut lowest = objective;
        loop {
            let extremes = self.state.extremes();
            let (violation, phase) = (extremes.violation(), aim(self));
            if phase.is_reached(self, violation) {
                return Status::Converged;
            }
            let aim = phase.of_a_working_set(violation);
            self.control.look(self.state.dual, || (self.state.alpha.clone(), self.state.gradient()));
            let ended = self.control.ended(violation).or_else(|| self.control.check_now(violation));
            if let Some(status) = ended {
                return status;
            }
            let query = SelectionQuery {
                // Few samples near the optimum are left for exact values: take all if they fit.
                rule: if exact { SetSelection::Random } else { self.config.selection },
                count: count(self),
                // Variables move by about the violation. A sample that leaves its bound later
                // belongs to a later working set.
                near: if exact { violation } else { f64::INFINITY },
                slack: 0.5 * aim,
            };
            let set = self.chooser.next(&self.state, &extremes, query);
            match self.improve(&set, INSIDE * aim, violation, exact) {
                Ok(gain) => {
                    objective -= gain;
                    self.idle_chunks += u64::from(gain <= GAIN * objective.abs());
                }
                Err(status) => return status,
            }
            // The violation may rise while the objective falls, or fall while gains are below
            // rounding: both are progress. If the violation may be rounding, so may the gains that
            // follow from it.
            let gains = objective < lowest - GAIN * lowest.abs() && violation > self.rounding();
            let progress = gains || violation < 0.9 * least;
            if progress {
                lowest = lowest.min(objective);
            }
            least = least.min(violation);
            // A violation within rounding is not worth many more working sets.
            let by = if violation <= self.rounding() { ROUNDING_COUNT } else { 1 };
            idle = if progress { 0 } else { idle + by };
            if idle > IDLE_SETS || violation.is_nan() {
                return Status::Stalled;
            }
        }
    }

    /// Solves one working set and updates all errors (steps 4 and 5); returns the decrease of the
    /// objective.
    fn improve(&mut self, set: &[usize], tol: f64, violation: f64, exact: bool) -> Result<f64, Status> {
        let dual = self.state.dual;
        let _held = self.rows.reserve(FinishConfig::bytes(set.len()));
        let Self { control, chunk, state, rows, .. } = self;
        control.run(violation, |control| fill(chunk, state, rows, set, exact, control))?;
        self.chunks += 1;
        self.exact_chunks += u64::from(exact);
        if !exact {
            self.work.rows_requested += set.len() as u64;
            for &k in set {
                let seen = &mut self.seen[dual.ids()[k]];
                self.work.rows_computed += u64::from(!*seen);
                *seen = true;
            }
        }
        let begun = Instant::now();
        let control = &mut self.control;
        // Few samples and many digits are left for exact values, so the caller's solver is not
        // used.
        let solver = if exact { &LeastSquares } else { self.config.chunks };
        solver.solve(&mut self.chunk, tol, &mut || {
            let go_on = control.ended(violation).or_else(|| control.check_now(violation)).is_none();
            control.iterations += u64::from(go_on);
            go_on
        });
        self.optimiser += begun.elapsed();
        let (mut changes, mut old_alpha) = (Vec::new(), Vec::new());
        for (&k, &beta) in set.iter().zip(&self.chunk.beta) {
            let (s, old) = (dual.sign()[k], self.state.alpha[k]);
            let alpha = s * beta;
            if alpha != old {
                changes.push((k, s * (alpha - old)));
                old_alpha.push(old);
                self.state.alpha[k] = alpha;
            }
        }
        let before: Vec<f64> = changes.iter().map(|&(k, _)| self.state.f[k]).collect();
        if exact {
            let Self { control, state, rows, .. } = self;
            if let Err(status) = control.run(violation, |control| state.update_exactly(rows, &changes, control)) {
                // Without its gradient the step is undone.
                changes.iter().zip(old_alpha).for_each(|(change, old)| state.alpha[change.0] = old);
                return Err(status);
            }
        } else {
            self.state.update(self.rows, &changes);
        }
        Ok(changes.iter().zip(&before).map(|(&(k, change), f)| -0.5 * change * (f + self.state.f[k])).sum())
    }

    /// Returns the KKT violation that cannot be told from rounding.
    fn rounding(&self) -> f64 {
        rounding_of_sums(self.state.alpha.iter().sum(), self.largest)
    }

    /// Returns `½ αᵀQα + linᵀα` by the present gradient.
    fn objective(&self) -> f64 {
        let terms = self.state.alpha.iter().zip(&self.state.f).enumerate();
        terms.map(|(k, (a, f))| 0.5 * a * (self.state.dual.sign()[k] * f + self.state.dual.linear_term()[k])).sum()
    }

    /// Ends the run at the present point; `gradient` is the exact one, if known.
    pub(crate) fn outcome(mut self, status: Status, mut gradient: Option<Vec<f64>>) -> IrwlsOutcome {
        self.work.iterations = self.control.iterations;
        if gradient.is_some() && close(self.state.dual, &mut self.state.alpha) {
            gradient = Some(
                exact_gradient(self.state.dual, self.rows.gram(), &self.state.alpha, self.config.par, &RunControl::unlimited())
                    .expect("unlimited"),
            );
        }
        let gradient = gradient.unwrap_or_else(|| self.state.gradient());
        let bias = bias_of(self.state.dual, &self.state.alpha, &gradient);
        // Comparisons ignore NaN, so check for it.
        let finite = gradient.iter().all(|g| g.is_finite());
        let status = if status == Status::Converged && !finite { Status::Stalled } else { status };
        let solution = Solution { alpha: self.state.alpha, bias, gradient, status, work: self.work, weights: None };
        let Self { chunks, exact_chunks, idle_chunks, optimiser, .. } = self;
        IrwlsOutcome { solution, chunks, exact_chunks, idle_chunks, optimiser }
    }
}
