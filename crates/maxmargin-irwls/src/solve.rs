//! The run: working sets one after the other, and convergence confirmed on exact kernel values.

use crate::chunk::Chunk;
use crate::config::{IrwlsConfig, IrwlsError, Outcome, Selection};
use crate::exact::fill;
use crate::finish::Finish;
use crate::least_squares::LeastSquares;
use crate::select::{Chooser, Wanted};
use crate::state::{Extremes, State};
use maxmargin_core::warm::close;
use maxmargin_core::{
    Clock, Dual, EqualityConstraint, Goal, Refine, Solution, Start, Status, Stop, Watch, Work, bias_of, exact_gradient,
    rounding_of_sums,
};
use maxmargin_kernel::Rows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// Working sets in `f32` aim a little below the tolerance, so that rounding rarely costs a second
/// round.
const AIM: f64 = 0.95;

/// What kernel values in `f32` leave of a gradient, relative to `‖α‖ max K_ii`: working sets of
/// exact values take over there.
const SINGLE: f64 = 5e-8;

/// Towards a gap working sets aim at this share of the present violation.
const CLOSER: f64 = 0.1;

/// The aim of a working set as a share of that of the run.
const INSIDE: f64 = 0.5;

/// Working sets without progress before a run counts as stalled.
const PATIENCE: u32 = 50;

/// As many working sets as one counts for whose violation is within rounding.
const HOPELESS: u32 = 10;

/// What working sets have to gain together to count as progress, as a share of the objective:
/// rounding alone makes gains of 10⁻¹⁵ for ever.
const GAIN: f64 = 1e-13;

/// Rounds with exact values that do not halve the violation before a run counts as stalled.
const ROUNDS: u32 = 3;

/// Samples of a working set with exact values, at most, unless the caller's are larger.
const EXACT_SET: usize = 2048;

pub(crate) fn check(dual: &Dual, alpha: &[f64], working_set: usize) -> Result<(), IrwlsError> {
    if !matches!(dual.balance(), EqualityConstraint::Sum(_)) {
        return Err(IrwlsError::EqualityConstraint(dual.balance()));
    }
    if working_set < 2 {
        return Err(IrwlsError::WorkingSet(working_set));
    }
    if alpha.len() != dual.len() {
        return Err(IrwlsError::Start { found: alpha.len(), expected: dual.len() });
    }
    Ok(())
}

/// Solves `dual` over the kernel rows of `rows` from `start`.
///
/// Every returned point is feasible; `status` says how the run ended and `gradient` is exact
/// (`f64`) after [`Refine::Exact`] when the status is [`Status::Converged`].
///
/// # Errors
///
/// When the problem's balance is not a single sum, the start belongs to a problem of another size,
/// or a working set has fewer than 2 samples.
///
/// # Panics
///
/// When the problem names samples that the Gram matrix does not have.
pub fn solve(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    config: &IrwlsConfig<'_>,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<Outcome, IrwlsError> {
    let (alpha, gradient) = start.into_parts();
    check(dual, &alpha, config.working_set)?;
    let mut clock = Clock::new(rows, stop, watch);
    let gradient = match gradient.map_or_else(|| clock.exact_gradient(dual, rows.gram(), &alpha, f64::INFINITY), Ok) {
        Ok(gradient) => gradient,
        Err(status) => return Ok(Outcome::without_gradient(alpha, status)),
    };
    let mut run = Run::new(dual, rows, config, alpha, &gradient, clock);
    // Where all that moves is one working set, rows in `f32` would only come near to what exact
    // values then do once more.
    let single = if run.is_of_exact_values(stop.goal) { Status::Stalled } else { run.single_precision(stop.goal) };
    Ok(match (config.refine, single) {
        (Refine::Exact, Status::Converged | Status::Stalled) => run.exactly(stop.goal),
        (_, status) => run.outcome(status, None),
    })
}

/// Where a phase of working sets ends.
#[derive(Clone, Copy, Debug)]
struct Aim {
    goal: Goal,
    /// The violation below which the values at hand tell nothing.
    floor: f64,
}

impl Aim {
    fn is_reached(&self, run: &Run, violation: f64) -> bool {
        violation <= self.floor || self.goal.shown(run.state.dual, violation, &run.state.alpha, || run.state.gradient())
    }

    /// The violation that a working set is solved for; a gap does not tell, and is come nearer to
    /// step by step.
    fn of_a_working_set(&self, violation: f64) -> f64 {
        let kkt = match self.goal {
            Goal::Kkt(kkt) => kkt,
            Goal::Both { kkt, .. } => kkt.min(CLOSER * violation),
            Goal::Gap(_) => CLOSER * violation,
        };
        kkt.max(self.floor)
    }
}

/// A run on the way.
pub(crate) struct Run<'a, 'g> {
    state: State<'a>,
    rows: &'a Rows<'g>,
    config: &'a IrwlsConfig<'a>,
    clock: Clock<'a, 'g>,
    chooser: Chooser,
    chunk: Chunk,
    seen: Vec<bool>,
    /// The largest kernel value of a sample with itself.
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
        clock: Clock<'a, 'g>,
    ) -> Self {
        let diagonal = rows.gram().diagonal();
        Self {
            state: State::new(dual, alpha, gradient, config.par),
            rows,
            config,
            clock,
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

    /// Working sets from rows in `f32`, to the tolerance or to what that precision can tell.
    fn single_precision(&mut self, goal: Goal) -> Status {
        let wanted = |run: &Self| run.config.working_set.min(run.state.alpha.len());
        self.iterate(false, wanted, |run| match run.config.refine {
            Refine::Exact => Aim { goal: goal.times(AIM), floor: run.single() },
            Refine::Never => Aim { goal, floor: 0.0 },
        })
    }

    /// The violation below which rows in `f32` tell nothing.
    fn single(&self) -> f64 {
        SINGLE * self.largest * self.state.norm()
    }

    /// Whether rows in `f32` do not carry the goal, and a working set has room for all that is free
    /// or violates its condition.
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

    /// Variables of a working set of exact values, at most; a caller who asks for more than the
    /// room has said so.
    fn most_exact(&self) -> usize {
        self.config.working_set.max(EXACT_SET.min(Finish::fitting(self.rows.room())))
    }

    /// Rounds of working sets from exact values, each confirmed by a gradient computed afresh.
    pub(crate) fn exactly(mut self, goal: Goal) -> Outcome {
        let (mut last, mut idle, mut aim) = (f64::INFINITY, 0, goal.times(AIM));
        loop {
            let (dual, gram) = (self.state.dual, self.rows.gram());
            let gradient = match self.clock.exact_gradient(dual, gram, &self.state.alpha, last) {
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

    /// Working sets of exact values until the gradient that they update shows `aim`.
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
            let ended = self.clock.ended(violation).or_else(|| self.clock.look(violation));
            if let Some(status) = ended {
                return status;
            }
            let wanted = Wanted {
                // What is left for exact values is few samples, near the optimum: all of them if
                // they fit.
                rule: if exact { Selection::Random } else { self.config.selection },
                count: count(self),
                // Others move by about the violation, and who is pushed off a bound later is left
                // to another working set.
                near: if exact { violation } else { f64::INFINITY },
                slack: 0.5 * aim,
            };
            let set = self.chooser.next(&self.state, &extremes, wanted);
            match self.improve(&set, INSIDE * aim, violation, exact) {
                Ok(gain) => {
                    objective -= gain;
                    self.idle_chunks += u64::from(gain <= GAIN * objective.abs());
                }
                Err(status) => return status,
            }
            // The violation may rise while the objective falls, which is progress, and fall while
            // gains are below rounding, which is as well. Where the violation may be rounding, so
            // may gains be that it predicts.
            let gains = objective < lowest - GAIN * lowest.abs() && violation > self.rounding();
            let progress = gains || violation < 0.9 * least;
            if progress {
                lowest = lowest.min(objective);
            }
            least = least.min(violation);
            // What is lost in rounding is not worth many more.
            let by = if violation <= self.rounding() { HOPELESS } else { 1 };
            idle = if progress { 0 } else { idle + by };
            if idle > PATIENCE || violation.is_nan() {
                return Status::Stalled;
            }
        }
    }

    /// Solves one working set and updates all errors; the decrease of the objective.
    fn improve(&mut self, set: &[usize], tol: f64, violation: f64, exact: bool) -> Result<f64, Status> {
        let dual = self.state.dual;
        let _held = self.rows.reserve(Finish::bytes(set.len()));
        let Self { clock, chunk, state, rows, .. } = self;
        clock.asked(violation, |asking| fill(chunk, state, rows, set, exact, asking))?;
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
        let clock = &mut self.clock;
        // What is left for exact values is few samples and many digits: not the place to try
        // solvers.
        let solver = if exact { &LeastSquares } else { self.config.chunks };
        solver.solve(&mut self.chunk, tol, &mut || {
            let go_on = clock.ended(violation).or_else(|| clock.look(violation)).is_none();
            clock.iterations += u64::from(go_on);
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
            let Self { clock, state, rows, .. } = self;
            if let Err(status) = clock.asked(violation, |asking| state.update_exactly(rows, &changes, asking)) {
                // Without its gradient the step has not been made.
                changes.iter().zip(old_alpha).for_each(|(change, old)| state.alpha[change.0] = old);
                return Err(status);
            }
        } else {
            self.state.update(self.rows, &changes);
        }
        Ok(changes.iter().zip(&before).map(|(&(k, change), f)| -0.5 * change * (f + self.state.f[k])).sum())
    }

    /// The KKT violation that no solver tells from rounding.
    fn rounding(&self) -> f64 {
        rounding_of_sums(self.state.alpha.iter().sum(), self.largest)
    }

    /// `½ αᵀQα + linᵀα` by the gradient that is known.
    fn objective(&self) -> f64 {
        let terms = self.state.alpha.iter().zip(&self.state.f).enumerate();
        terms.map(|(k, (a, f))| 0.5 * a * (self.state.dual.sign()[k] * f + self.state.dual.linear_term()[k])).sum()
    }

    /// Ends the run at the present point; `gradient` is the exact one, where it is known.
    pub(crate) fn outcome(mut self, status: Status, mut gradient: Option<Vec<f64>>) -> Outcome {
        self.work.iterations = self.clock.iterations;
        if gradient.is_some() && close(self.state.dual, &mut self.state.alpha) {
            gradient = Some(exact_gradient(self.state.dual, self.rows.gram(), &self.state.alpha, self.config.par));
        }
        let gradient = gradient.unwrap_or_else(|| self.state.gradient());
        let bias = bias_of(self.state.dual, &self.state.alpha, &gradient);
        // Comparisons pass over what is not a number.
        let finite = gradient.iter().all(|g| g.is_finite());
        let status = if status == Status::Converged && !finite { Status::Stalled } else { status };
        let solution = Solution { alpha: self.state.alpha, bias, gradient, status, work: self.work };
        let Self { chunks, exact_chunks, idle_chunks, optimiser, .. } = self;
        Outcome { solution, chunks, exact_chunks, idle_chunks, optimiser }
    }
}
