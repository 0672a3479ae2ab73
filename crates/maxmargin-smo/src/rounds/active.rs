//! SMO on the active variables alone, in kernel rows as short as their number.
//!
//! ```text
//!   1  A ← free variables, near ones of the last A, and the worst violators
//!   2  solve the problem of A by pairs, with all other variables fixed
//!   3  f_k += Σ_{l ∈ A} Δ(s_l α_l) K_kl for all k
//!   4  if a violation among all variables exceeds the goal: go to 1
//! ```
//!
//! Most variables reach a bound early and stay there. Step 3 uses blocks of kernel values that are
//! never stored, so no n × n matrix is held. The end is that of the whole problem: no violation
//! among all variables.

use crate::config::{Shares, SmoConfig};
use crate::pair_budget;
use crate::pairs::{Pairs, left_to_gain};
use crate::rounds::round_layout::RoundLayout;
use crate::rounds::sums::{Changes, sums_of};
use maxmargin_core::{ConvergenceCheck, Dual, EqualityConstraint, Goal, RunControl, SolverControl, Status, Work, bias_is_middle};
use maxmargin_kernel::{PartPages, Rows, part_of};
use maxmargin_simd::passes::Extremes;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A round's goal as a share of the violation at its start. The variables of the next round change
/// its point anyway.
const SHARE: f64 = 0.1;

/// Rounds that begin below this violation take in all variables within [`NEAR`], not those of the
/// last set alone, since these would enter next anyway. The value holds where all samples have one
/// margin. Regression targets may lie closer together, so that many near variables never move.
const CLOSE: f64 = 2.0;
const CLOSE_OF_VALUES: f64 = 0.2;

/// The rounds that should halve the violation.
const SLOW: u32 = 4;

/// The share of rows after which a round computes its whole matrix. It is high because most
/// variables of a set do not move.
const WHOLE: f64 = 0.6;

/// The number of variables that one thread scans at a time.
const STRETCH: usize = 1 << 16;

/// The reason why the whole problem has to go on with all variables.
pub(crate) enum TooManyActive {
    /// The next set would have too large a share of all variables.
    InSet,
    /// More variables move than [`Active::within`] allows.
    Moving,
}

/// The whole problem at its current point.
pub(crate) struct Active<'a, 'g> {
    pub(crate) dual: &'a Dual,
    pub(crate) rows: &'a Rows<'g>,
    pub(crate) alpha: Vec<f64>,
    /// The gradient `Qα + lin`.
    pub(crate) gradient: Vec<f64>,
    pub(crate) work: Work,
    pub(crate) convergence: ConvergenceCheck,
    config: SmoConfig,
    /// The value of `Shrinking::first`, doubled after rounds that did not halve the violation.
    pub(super) first: usize,
    /// See [`Active::prefer`]; empty without a preference.
    pub(super) distance: Vec<f64>,
    /// The violation when it was last halved or doubled, and the rounds since then.
    halved: (f64, u32),
    /// The value of [`CLOSE`] for this problem.
    pub(super) close: f64,
    /// The variables of the last round, and whether they were a sample of all: nothing had moved.
    pub(super) set: Vec<usize>,
    pub(super) sampled: bool,
    /// The shares at which the rounds end.
    pub(super) limits: Shares,
    /// Set if the sums of a round that is probably the last are left to the caller.
    leaves_sums: bool,
    /// α and gradients of the set before a round whose sums were left to the caller.
    before_last: Option<(Vec<f64>, Vec<f64>)>,
    /// The number of kernel values computed.
    values: u64,
    /// The memory pages of a round's rows, reused by the next round and by the run that follows.
    pages: PartPages<'a>,
}

impl<'a, 'g> Active<'a, 'g> {
    /// Begins at `alpha` with its gradient.
    pub(crate) fn new(
        dual: &'a Dual,
        rows: &'a Rows<'g>,
        alpha: &[f64],
        gradient: &[f64],
        aim: Goal,
        config: &SmoConfig,
    ) -> Self {
        Self {
            dual,
            rows,
            config: *config,
            first: config.shrinking.first.max(2),
            close: if dual.linear_term().windows(2).all(|pair| pair[0] == pair[1]) { CLOSE } else { CLOSE_OF_VALUES },
            alpha: alpha.to_vec(),
            gradient: gradient.to_vec(),
            work: Work::default(),
            convergence: ConvergenceCheck::new(aim),
            distance: Vec::new(),
            halved: (f64::INFINITY, 0),
            set: Vec::new(),
            sampled: false,
            limits: Shares::ANY,
            leaves_sums: false,
            before_last: None,
            values: 0,
            pages: rows.part_pages(),
        }
    }

    /// Prefers violators at a small `distance` from the threshold, by a point near by, while the
    /// violation is large: the changes of many α have then moved all `f` alike, and how much a
    /// variable violates says little.
    pub(crate) fn prefer(&mut self, distance: Vec<f64>) {
        self.distance = distance;
        self.first = self.first.max(self.dual.len() / 24);
    }

    /// Leaves the sums of one round to the caller, who computes the exact gradient of the point
    /// next: the first round that reaches the goal with all variables near a violation in its set.
    /// Until [`Active::refresh`], all other variables have the gradients from before it.
    pub(crate) fn leave_last_sums(&mut self) {
        self.leaves_sums = true;
    }

    /// Takes the exact gradient of the point. Returns true if that of the last round was lacking.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) -> bool {
        self.gradient.copy_from_slice(gradient);
        self.before_last.take().is_some()
    }

    /// Takes back a round whose sums are lacking.
    pub(crate) fn withdraw(&mut self) {
        let Some((alpha, gradient)) = self.before_last.take() else { return };
        for (&k, (alpha, gradient)) in self.set.iter().zip(alpha.into_iter().zip(gradient)) {
            (self.alpha[k], self.gradient[k]) = (alpha, gradient);
        }
    }

    /// Ends the rounds when larger shares of the variables move.
    pub(crate) fn within(self, limits: Shares) -> Self {
        Self { limits, ..self }
    }

    /// Continues the counts from `work`.
    pub(crate) fn go_on_from(&mut self, work: Work) {
        self.values = work.rows_computed * self.dual.len() as u64;
        self.work = work;
    }

    /// Returns whether `s α` of a variable may grow, and whether it may fall.
    pub(super) fn room(&self, k: usize) -> (bool, bool) {
        let (above, below) = (self.alpha[k] < self.dual.upper()[k], self.alpha[k] > 0.0);
        if self.dual.sign()[k] > 0.0 { (above, below) } else { (below, above) }
    }

    pub(super) fn f(&self, k: usize) -> f64 {
        self.dual.sign()[k] * self.gradient[k]
    }

    /// Applies `look` to each stretch of the variables and returns the results in order.
    pub(super) fn survey<T: Send>(&self, look: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let n = self.dual.len();
        self.rows.par().map(n.div_ceil(STRETCH), |t| look(t * STRETCH..n.min((t + 1) * STRETCH)))
    }

    /// Returns the extremes of `f` over all variables.
    pub(crate) fn band(&self) -> Extremes {
        let look = |variables: Range<usize>| {
            let mut found = Extremes::NONE;
            for k in variables {
                let (f, (up, low)) = (self.f(k), self.room(k));
                if up && f < found.min_up {
                    (found.min_up, found.argmin_up) = (f, k);
                }
                if low && f > found.max_low {
                    (found.max_low, found.argmax_low) = (f, k);
                }
            }
            found
        };
        let mut found = Extremes::NONE;
        self.survey(look).into_iter().for_each(|later| found.join(later, 0));
        found
    }

    /// Makes rounds until all variables reach the goal.
    pub(crate) fn iterate(&mut self, control: &mut SolverControl) -> Result<Status, TooManyActive> {
        loop {
            let band = self.band();
            let violation = band.violation();
            let Self { dual, alpha, gradient, convergence, .. } = self;
            // Each round checks the goal, even after few iterations.
            convergence.aim(convergence.aimed_at());
            let point = || (alpha.clone(), gradient.clone());
            if band.argmin_up == usize::MAX
                || band.argmax_low == usize::MAX
                || convergence.reached(dual, violation, control.iterations, point)
            {
                return Ok(Status::Converged);
            }
            control.look(dual, point);
            let aim = convergence.violation_to_reach(violation);
            if let Some(status) = control.check_now(convergence.measure(violation)) {
                return Ok(status);
            }
            self.make_room(violation);
            self.choose(&band)?;
            // The last round aims at the goal itself. A round that holds all near variables tries
            // to be the last.
            let share = if SHARE * violation < 2.0 * aim { aim } else { SHARE * violation };
            let far = if violation < self.close { aim } else { share };
            let status = self.round(share, far, violation, control);
            if status != Status::Converged || self.before_last.is_some() {
                return Ok(status);
            }
        }
    }

    /// Doubles the sets of the next rounds if [`SLOW`] rounds have not halved the violation. Where
    /// more variables are near a violation than fit into a set, those outside come to violate as
    /// much as those inside did.
    fn make_room(&mut self, violation: f64) {
        let (before, rounds) = self.halved;
        // The first rounds from zero may raise it.
        if violation <= 0.5 * before || violation > 2.0 * before {
            self.halved = (violation, 0);
        } else if rounds + 1 < SLOW {
            self.halved.1 += 1;
        } else {
            self.halved = (violation, 0);
            let most = (4 * self.config.shrinking.first).max(self.dual.len() / 12);
            self.first = (2 * self.first).min(most);
        }
    }

    /// Solves the problem of the set to `aim` and updates the gradients of all variables (steps 2
    /// and 3), unless that is left to the caller. `far` is the goal where the set holds all
    /// variables near a violation.
    fn round(&mut self, aim: f64, far: f64, violation: f64, control: &mut SolverControl) -> Status {
        let solved = self.solve_set(aim, far, control);
        if self.may_leave_sums(violation, &solved) {
            self.count(&solved, 0, Duration::ZERO);
            self.leave(solved);
            control.owed = support(&self.alpha);
            return Status::Converged;
        }
        self.add_up(&solved, violation, control)
    }

    /// Solves the problem of the set to `aim` (step 2). It continues to `far` while that costs less
    /// than another round.
    fn solve_set(&mut self, aim: f64, far: f64, control: &mut SolverControl) -> SolvedSet {
        let n = self.dual.len();
        let RoundLayout { set, ids, row } = RoundLayout::new(self.dual, &self.set);
        self.set = set;
        let part = self.dual.among(&self.set, row, &self.alpha, &self.gradient);
        let before: Vec<f64> = self.set.iter().map(|&k| self.alpha[k]).collect();
        let gram = part_of(self.rows.gram(), &ids);
        let bytes = (4 * (ids.len() * ids.len()) as u64).min(self.rows.spare());
        let held = self.rows.reserve(bytes);
        let rows = Rows::in_pages(&*gram, bytes, self.rows.par(), self.pages.clone());
        let mut pairs = Pairs::new(&part, &rows, &before, part.linear_term(), Goal::Kkt(aim), WHOLE, &self.config);
        pairs.stall.limit_gain(left_to_gain(self.dual, &self.alpha, &self.gradient));
        pairs.others = Some(support(&self.alpha) - support(&before));
        let mut ended = Some(pairs.iterate(control));
        if ended == Some(Status::Converged) && far < aim {
            let changed = pairs.state.alpha().iter().zip(&before).filter(|(after, before)| after != before).count();
            let round = (changed * n) as f64 * self.rows.gram().value_cost();
            let most = round / pair_budget::iteration(self.set.len());
            pairs.convergence.aim(Goal::Kkt(far));
            ended = pairs.iterate_until(control.iterations + most as u64, control);
        }
        let after = pairs.state.alpha();
        let reached = ended == Some(Status::Converged) && !bias_is_middle(&part, &after);
        let gradient = (reached && self.leaves_sums).then(|| pairs.state.gradient());
        let (work, time) = (pairs.work(), rows.work().time);
        // Drop the rows before their memory reservation, so the budget never undercounts.
        drop(pairs);
        drop(rows);
        drop(held);
        let values = work.rows_computed * ids.len() as u64;
        SolvedSet { status: ended.unwrap_or(Status::Converged), before, after, gradient, work, values, time }
    }

    /// Updates the gradients of all variables (step 3).
    fn add_up(&mut self, solved: &SolvedSet, violation: f64, control: &mut SolverControl) -> Status {
        let SolvedSet { status, before, after, .. } = solved;
        let (changed, coef) = Changes { set: &self.set, before, after }.of(self.dual);
        let add_up = |control: &RunControl| sums_of(self.dual, self.rows, &changed, &coef, control);
        let begun = Instant::now();
        // A run that spent its pair budget may still use the time limit.
        let goes_on = matches!(status, Status::Converged | Status::Stalled)
            || control.check_now(self.convergence.measure(violation)).is_none();
        let done = if goes_on {
            control.run(self.convergence.measure(violation), add_up)
        } else {
            control.run_final(add_up).ok_or(*status)
        };
        self.count(solved, (changed.len() * self.dual.len()) as u64, begun.elapsed());
        let sums = match done {
            Ok(sums) => sums,
            // Without the sums, the point before the round is the last with a known gradient.
            Err(status) => return status,
        };
        Changes { set: &self.set, before, after }.make(self.dual, &sums, &mut self.alpha, &mut self.gradient);
        control.owed = support(&self.alpha);
        *status
    }

    /// Returns true if the caller may compute the sums of a round: it reached the goal, and its set
    /// held all variables near a violation.
    fn may_leave_sums(&self, violation: f64, solved: &SolvedSet) -> bool {
        solved.gradient.is_some()
            && violation < self.close
            && self.convergence.aimed_at().gap().is_none()
            && matches!(self.dual.balance(), EqualityConstraint::Sum(_))
    }

    /// Takes the point of a round without its sums, once.
    fn leave(&mut self, solved: SolvedSet) {
        let gradient_before = self.set.iter().map(|&k| self.gradient[k]).collect();
        for (&k, (after, gradient)) in self.set.iter().zip(solved.after.iter().zip(solved.gradient.iter().flatten())) {
            (self.alpha[k], self.gradient[k]) = (*after, *gradient);
        }
        self.before_last = Some((solved.before, gradient_before));
        self.leaves_sums = false;
    }

    /// Counts the work of a round, with the kernel values and the time of its sums.
    fn count(&mut self, solved: &SolvedSet, values: u64, time: Duration) {
        let rows_before = self.work.rows_computed;
        self.values += solved.values + values;
        self.work.rows_requested += solved.work.rows_requested;
        self.work.rows_computed = self.values.div_ceil(self.dual.len() as u64);
        self.rows.count_elsewhere(self.work.rows_computed - rows_before, solved.time + time);
    }
}

/// The number of support vectors.
fn support(alpha: &[f64]) -> u64 {
    alpha.iter().filter(|a| **a != 0.0).count() as u64
}

/// A solution of the problem of a set.
struct SolvedSet {
    status: Status,
    /// α of the set before and after.
    before: Vec<f64>,
    after: Vec<f64>,
    /// The gradients of the set, if they may be needed: it was solved as far as it was to be, and
    /// has a free variable. The bias of a point without one needs the gradients of all.
    gradient: Option<Vec<f64>>,
    work: Work,
    /// The kernel values computed, and the time they took.
    values: u64,
    time: Duration,
}
