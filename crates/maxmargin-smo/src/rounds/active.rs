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
use crate::pairs::Pairs;
use crate::rounds::round_layout::RoundLayout;
use crate::rounds::sums::{Changes, sums_of};
use maxmargin_core::{ConvergenceCheck, Dual, Goal, RunControl, SolverControl, Status, Work};
use maxmargin_kernel::{PartPages, Rows, part_of};
use maxmargin_simd::passes::Extremes;
use std::ops::Range;
use std::time::Instant;

/// The largest share of all variables in a set; a larger set saves nothing.
const MOST: f64 = 0.5;

/// A round's goal as a share of the violation at its start. The variables of the next round change
/// its point anyway.
const SHARE: f64 = 0.1;

/// Bounded variables stay in the set while they are within this distance of a violation: half of a
/// margin.
const NEAR: f64 = 0.5;

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
    /// The next set would have more than a share [`MOST`] of all variables.
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
    first: usize,
    /// See [`Active::prefer`]; empty without a preference.
    distance: Vec<f64>,
    /// The violation when it was last halved or doubled, and the rounds since then.
    halved: (f64, u32),
    /// The value of [`CLOSE`] for this problem.
    close: f64,
    /// The variables of the last round, and whether they were a sample of all: nothing had moved.
    set: Vec<usize>,
    sampled: bool,
    /// The shares at which the rounds end.
    limits: Shares,
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
    fn room(&self, k: usize) -> (bool, bool) {
        let (above, below) = (self.alpha[k] < self.dual.upper()[k], self.alpha[k] > 0.0);
        if self.dual.sign()[k] > 0.0 { (above, below) } else { (below, above) }
    }

    fn f(&self, k: usize) -> f64 {
        self.dual.sign()[k] * self.gradient[k]
    }

    /// Applies `look` to each stretch of the variables and returns the results in order.
    fn survey<T: Send>(&self, look: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
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
            if status != Status::Converged {
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

    /// Chooses the variables of the next round (step 1).
    fn choose(&mut self, band: &Extremes) -> Result<(), TooManyActive> {
        let (n, violation) = (self.dual.len(), band.violation());
        let most = (MOST * n as f64) as usize;
        let middle = f64::midpoint(band.min_up, band.max_low);
        let mut was = vec![false; n];
        self.set.iter().for_each(|&k| was[k] = true);
        let (near, all) = (-NEAR.min(violation), violation < self.close);
        let preferred = !all && !self.distance.is_empty();
        let look = |variables: Range<usize>| {
            let mut found = Candidates::default();
            for k in variables {
                let (up, low) = self.room(k);
                // The violation of a variable; negative if it is settled.
                let up_by = if up { middle - self.f(k) } else { f64::NEG_INFINITY };
                let by = up_by.max(if low { self.f(k) - middle } else { f64::NEG_INFINITY });
                found.support += usize::from(self.alpha[k] != 0.0);
                if up && low {
                    found.free.push(k);
                } else if (was[k] || all) && by > near {
                    found.nearby.push((by, k));
                } else if by > 0.0 {
                    found.wanted.push((if preferred { -self.distance[k] } else { by }, k));
                }
            }
            found
        };
        let found = self.survey(look).into_iter().reduce(Candidates::join);
        let Candidates { free: mut set, mut nearby, mut wanted, support } = found.unwrap_or_default();
        // After the first round from zero, its set is a sample of all variables.
        let of = if self.sampled { self.set.len() } else { n };
        if !Shares::of_counts(set.len(), support, of).are_within(&self.limits) {
            return Err(TooManyActive::Moving);
        }
        self.sampled = support == 0;
        // Where regression targets lie close together, nearly all variables may be near.
        furthest(&mut nearby, self.first.max(2 * set.len()));
        set.extend(nearby.iter().map(|&(_, k)| k));
        if set.len() >= most {
            return Err(TooManyActive::InSet);
        }
        let room = self.first.max(set.len()).min(most - set.len());
        if support > 0 {
            furthest(&mut wanted, room);
        } else if wanted.len() > room {
            wanted = self.spread(&wanted, room);
        }
        set.extend(wanted.iter().map(|&(_, k)| k));
        set.sort_unstable();
        // Equal violators on one side may fill the room. With the worst pair, each round moves.
        for k in [band.argmin_up, band.argmax_low] {
            if let Err(place) = set.binary_search(&k) {
                set.insert(place, k);
            }
        }
        self.set = set;
        Ok(())
    }

    /// Returns `room` of `wanted`, evenly spaced over the data, half of each sign if there are
    /// enough.
    fn spread(&self, wanted: &[(f64, usize)], room: usize) -> Vec<(f64, usize)> {
        let (plus, minus): (Vec<_>, Vec<_>) = wanted.iter().partition(|(_, k)| self.dual.sign()[*k] > 0.0);
        let of_plus = (room / 2).max(room.saturating_sub(minus.len())).min(plus.len());
        let take = |from: &[(f64, usize)], count: usize| -> Vec<(f64, usize)> {
            (0..count).map(|i| from[i * from.len() / count.max(1)]).collect()
        };
        [take(&plus, of_plus), take(&minus, (room - of_plus).min(minus.len()))].concat()
    }

    /// Solves the problem of the set to `aim` and updates the gradients of all variables (steps 2
    /// and 3). It continues to `far` while that costs less than another round.
    fn round(&mut self, aim: f64, far: f64, violation: f64, control: &mut SolverControl) -> Status {
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
        let support = |alpha: &[f64]| alpha.iter().filter(|a| **a != 0.0).count() as u64;
        pairs.others = Some(support(&self.alpha) - support(&before));
        let mut status = pairs.iterate(control);
        if status == Status::Converged && far < aim {
            let changed = pairs.state.alpha().iter().zip(&before).filter(|(after, before)| after != before).count();
            let round = (changed * n) as f64 * self.rows.gram().value_cost();
            let most = round / pair_budget::iteration(self.set.len());
            pairs.convergence.aim(Goal::Kkt(far));
            status = pairs.iterate_until(control.iterations + most as u64, control).unwrap_or(Status::Converged);
        }
        let after = pairs.state.alpha();
        let work = pairs.work();
        let time = rows.work().time;
        // Drop the rows before their memory reservation, so the budget never undercounts.
        drop(pairs);
        drop(rows);
        drop(held);
        let computed = work.rows_computed * ids.len() as u64;
        let changes = Changes { set: &self.set, before: &before, after: &after };
        let (changed, coef) = changes.of(self.dual);
        let add_up = |control: &RunControl| sums_of(self.dual, self.rows, &changed, &coef, control);
        let begun = Instant::now();
        // A run that spent its pair budget may still use the time limit.
        let goes_on = matches!(status, Status::Converged | Status::Stalled)
            || control.check_now(self.convergence.measure(violation)).is_none();
        let done = if goes_on {
            control.run(self.convergence.measure(violation), add_up)
        } else {
            control.run_final(add_up).ok_or(status)
        };
        let rows_before = self.work.rows_computed;
        self.values += computed + (changed.len() * n) as u64;
        self.work.rows_requested += work.rows_requested;
        self.work.rows_computed = self.values.div_ceil(n as u64);
        self.rows.count_elsewhere(self.work.rows_computed - rows_before, time + begun.elapsed());
        let sums = match done {
            Ok(sums) => sums,
            // Without the sums, the point before the round is the last with a known gradient.
            Err(status) => return status,
        };
        changes.make(self.dual, &sums, &mut self.alpha, &mut self.gradient);
        control.owed = support(&self.alpha);
        status
    }
}

/// Keeps at most `room` entries: those with the largest violation.
pub(crate) fn furthest(from: &mut Vec<(f64, usize)>, room: usize) {
    if from.len() > room {
        from.select_nth_unstable_by(room, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        from.truncate(room);
    }
}

/// The variables that may enter the next round, bounded ones with their violation.
#[derive(Default)]
struct Candidates {
    free: Vec<usize>,
    /// Variables of the last round, or near enough to one: they stay in.
    nearby: Vec<(f64, usize)>,
    /// The other violators.
    wanted: Vec<(f64, usize)>,
    /// The number of variables that are not 0.
    support: usize,
}

impl Candidates {
    /// Appends the candidates of a later stretch.
    fn join(mut self, later: Self) -> Self {
        self.free.extend(later.free);
        self.nearby.extend(later.nearby);
        self.wanted.extend(later.wanted);
        Self { support: self.support + later.support, ..self }
    }
}
