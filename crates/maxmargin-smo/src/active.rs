//! Only what still moves: problems of the active variables, in rows as short as they are few.
//!
//! Most variables settle at a bound early and stay there. A round takes those that do not, makes a
//! matrix of their rows alone and solves their problem by pairs; then what they have changed is
//! added to the gradients of all, by products with blocks of kernel values that are never stored,
//! and those that violate the conditions of optimality come in. Nothing of n × n is held. The end
//! of the last round is that of the whole problem: no violation among all variables.

use crate::arranged::RoundLayout;
use crate::pairs::Pairs;
use crate::patience;
use crate::solve::SmoConfig;
use crate::sums::{Changes, sums_of};
use maxmargin_core::{Asking, Clock, Dual, EqualityConstraint, Goal, Looking, Status, Work};
use maxmargin_kernel::{PartPages, Rows, part_of};
use maxmargin_simd::passes::Extremes;
use std::ops::Range;
use std::time::Instant;

/// When problems are solved by their active variables: those that still move, in rows as short as
/// they are few. The solution is the same to the tolerance; iterations are not those of a solver
/// that goes by all variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrinking {
    /// Variables that a problem has at least: fewer have short rows as it is.
    pub from: usize,
    /// Variables that a problem has at least whose run is long: after [`Shrinking::LONG`]
    /// iterations for each of them most have settled.
    pub long_from: usize,
    /// Variables of the first round, and how many come in at least where so many violate the
    /// conditions of optimality.
    pub first: usize,
}

impl Shrinking {
    /// All variables in every pass, as in the papers.
    pub const NEVER: Self = Self { from: usize::MAX, long_from: usize::MAX, first: 1 };

    /// Iterations for each variable that make a run long.
    pub const LONG: u64 = 5;

    /// Whether SMO goes by active variables from its start, and holds none of `rows` as they are.
    pub fn pays(&self, dual: &Dual, rows: &Rows) -> bool {
        Active::pays(dual, rows, self).0
    }
}

impl Default for Shrinking {
    fn default() -> Self {
        Self { from: 6000, long_from: 1000, first: 4000 }
    }
}

/// A set of more than this share of all variables saves nothing.
const MOST: f64 = 0.5;

/// Rounds aim at this share of the violation that they begin with: what comes in changes it all
/// again.
const SHARE: f64 = 0.1;

/// Bounded variables stay in the set as long as they are not further than this from violating the
/// conditions of optimality: half of a margin.
const NEAR: f64 = 0.5;

/// Rounds that begin with less than this violation take in variables that are so near from
/// everywhere, not those of the last set alone: what would come in next anyway. Where all have one
/// margin; values to predict may lie closer together than that, so that much is near that never
/// moves.
const CLOSE: f64 = 2.0;
const CLOSE_OF_VALUES: f64 = 0.2;

/// Few of the rows of a set are needed: most of its variables stay where they are.
const WHOLE: f64 = 0.6;

/// Kernel values that cost more (nanoseconds, [`maxmargin_kernel::Gram::value_cost`]) are better
/// kept: those of 140 real features, or of text.
const CHEAP: f64 = 4.0;

/// Variables that one thread looks through at a time.
const STRETCH: usize = 1 << 16;

/// Too many variables are active.
pub(crate) struct Grown;

/// The whole problem at a point.
pub(crate) struct Active<'a, 'g> {
    pub(crate) dual: &'a Dual,
    pub(crate) rows: &'a Rows<'g>,
    pub(crate) alpha: Vec<f64>,
    /// `Qα + lin`.
    pub(crate) gradient: Vec<f64>,
    pub(crate) work: Work,
    pub(crate) looking: Looking,
    config: SmoConfig,
    /// [`Shrinking::first`].
    first: usize,
    /// [`CLOSE`] of this problem.
    close: f64,
    /// Variables of the last round.
    set: Vec<usize>,
    /// Kernel values computed.
    values: u64,
    /// Rows of one round lie where those of the last did, and those of the run before.
    pages: PartPages<'a>,
}

impl<'a, 'g> Active<'a, 'g> {
    /// Whether going by active variables may pay from the start of a run, and whether it may in a
    /// long one.
    pub(crate) fn pays(dual: &Dual, rows: &Rows, shrinking: &Shrinking) -> (bool, bool) {
        let gram = rows.gram();
        // Codes of one byte are kept more cheaply than anything is computed twice.
        let kept = rows.holds_all() && gram.table().is_some();
        // Where each sign has a sum there are two bands, and rounds know one.
        let can = matches!(dual.balance(), EqualityConstraint::Sum(_)) && gram.value_cost() <= CHEAP;
        // A long run has most rows already: where these leave no room for a matrix of its own, it
        // would compute one row after the other again.
        let roomy = !rows.holds_all() || rows.room() >= rows.budget() / 4;
        (can && dual.len() >= shrinking.from && !kept, can && roomy && dual.len() >= shrinking.long_from)
    }

    /// The problem at `alpha` with its gradient.
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
            looking: Looking::new(aim),
            set: Vec::new(),
            values: 0,
            pages: rows.part_pages(),
        }
    }

    /// Counts on from what was done before.
    pub(crate) fn go_on_from(&mut self, work: Work) {
        self.values = work.rows_computed * self.dual.len() as u64;
        self.work = work;
    }

    /// Whether `s α` of a variable may grow, and fall.
    fn room(&self, k: usize) -> (bool, bool) {
        let (above, below) = (self.alpha[k] < self.dual.upper()[k], self.alpha[k] > 0.0);
        if self.dual.sign()[k] > 0.0 { (above, below) } else { (below, above) }
    }

    fn f(&self, k: usize) -> f64 {
        self.dual.sign()[k] * self.gradient[k]
    }

    /// What `look` finds in each stretch of all variables, in their order.
    fn survey<T: Send>(&self, look: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let n = self.dual.len();
        self.rows.par().map(n.div_ceil(STRETCH), |t| look(t * STRETCH..n.min((t + 1) * STRETCH)))
    }

    /// The extremes of all variables.
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

    /// Rounds until the aim is reached by all variables.
    pub(crate) fn iterate(&mut self, clock: &mut Clock) -> Result<Status, Grown> {
        loop {
            let band = self.band();
            let violation = band.violation();
            let Self { dual, alpha, gradient, looking, .. } = self;
            // A round is worth a look, however few its iterations.
            looking.aim(looking.aimed_at());
            let point = || (alpha.clone(), gradient.clone());
            if band.argmin_up == usize::MAX
                || band.argmax_low == usize::MAX
                || looking.reached(dual, violation, clock.iterations, point)
            {
                return Ok(Status::Converged);
            }
            let aim = looking.aimed_at().kkt().unwrap_or(0.0);
            if let Some(status) = clock.look(looking.measure(violation)) {
                return Ok(status);
            }
            self.choose(&band)?;
            // The last round goes all the way, and one that has all that is near tries to be the
            // last.
            let share = if SHARE * violation < 2.0 * aim { aim } else { SHARE * violation };
            let far = if violation < self.close { aim } else { share };
            let status = self.round((share, far), violation, clock);
            if status != Status::Converged {
                return Ok(status);
            }
        }
    }

    /// The variables of the next round.
    fn choose(&mut self, band: &Extremes) -> Result<(), Grown> {
        let (n, violation) = (self.dual.len(), band.violation());
        let most = (MOST * n as f64) as usize;
        let middle = f64::midpoint(band.min_up, band.max_low);
        let mut was = vec![false; n];
        self.set.iter().for_each(|&k| was[k] = true);
        let (near, all) = (-NEAR.min(violation), violation < self.close);
        let look = |variables: Range<usize>| {
            let mut found = Candidates::default();
            for k in variables {
                let (up, low) = self.room(k);
                // How far it violates; negative where it is settled.
                let up_by = if up { middle - self.f(k) } else { f64::NEG_INFINITY };
                let by = up_by.max(if low { self.f(k) - middle } else { f64::NEG_INFINITY });
                found.moved |= self.alpha[k] != 0.0;
                if up && low {
                    found.free.push(k);
                } else if (was[k] || all) && by > near {
                    found.nearby.push((by, k));
                } else if by > 0.0 {
                    found.wanted.push((by, k));
                }
            }
            found
        };
        let found = self.survey(look).into_iter().reduce(Candidates::join);
        let Candidates { free: mut set, mut nearby, mut wanted, moved } = found.unwrap_or_default();
        // What is near by the measure of a margin may be nearly all, where targets lie closer than
        // that.
        furthest(&mut nearby, self.first.max(2 * set.len()));
        set.extend(nearby.iter().map(|&(_, k)| k));
        if set.len() >= most {
            return Err(Grown);
        }
        let room = self.first.max(set.len()).min(most - set.len());
        if moved {
            furthest(&mut wanted, room);
        } else if wanted.len() > room {
            wanted = self.spread(&wanted, room);
        }
        set.extend(wanted.iter().map(|&(_, k)| k));
        set.sort_unstable();
        self.set = set;
        Ok(())
    }

    /// `room` of `wanted`, from end to end, half of each sign where there are as many.
    fn spread(&self, wanted: &[(f64, usize)], room: usize) -> Vec<(f64, usize)> {
        let (plus, minus): (Vec<_>, Vec<_>) = wanted.iter().partition(|(_, k)| self.dual.sign()[*k] > 0.0);
        let of_plus = (room / 2).max(room.saturating_sub(minus.len())).min(plus.len());
        let take = |from: &[(f64, usize)], count: usize| -> Vec<(f64, usize)> {
            (0..count).map(|i| from[i * from.len() / count.max(1)]).collect()
        };
        [take(&plus, of_plus), take(&minus, (room - of_plus).min(minus.len()))].concat()
    }

    /// Solves the problem of the set to `aim`, on to `far` as long as that costs less than another
    /// round would, and brings the gradients of all up to date.
    fn round(&mut self, (aim, far): (f64, f64), violation: f64, clock: &mut Clock) -> Status {
        let n = self.dual.len();
        let RoundLayout { set, ids, row } = RoundLayout::new(self.dual, &self.set);
        self.set = set;
        let part = self.dual.among(&self.set, row, &self.alpha, &self.gradient);
        let before: Vec<f64> = self.set.iter().map(|&k| self.alpha[k]).collect();
        let gram = part_of(self.rows.gram(), &ids);
        let bytes = (4 * (ids.len() * ids.len()) as u64).min(self.rows.spare());
        let held = self.rows.reserve(bytes);
        let rows = Rows::with_pages(&*gram, bytes, self.rows.par(), self.pages.clone());
        let mut pairs = Pairs::new(&part, &rows, &before, part.linear_term(), Goal::Kkt(aim), WHOLE, &self.config);
        let support = |alpha: &[f64]| alpha.iter().filter(|a| **a != 0.0).count() as u64;
        pairs.others = Some(support(&self.alpha) - support(&before));
        let mut status = pairs.iterate(clock);
        if status == Status::Converged && far < aim {
            let changed = pairs.state.alpha().iter().zip(&before).filter(|(after, before)| after != before).count();
            let round = (changed * n) as f64 * self.rows.gram().value_cost();
            let most = round / patience::iteration(self.set.len());
            pairs.looking.aim(Goal::Kkt(far));
            status = pairs.iterate_until(clock.iterations + most as u64, clock).unwrap_or(Status::Converged);
        }
        let after = pairs.state.alpha();
        let work = pairs.work();
        let time = rows.work().time;
        // Their memory is free again before what is lent for it is.
        drop(pairs);
        drop(rows);
        drop(held);
        let computed = work.rows_computed * ids.len() as u64;
        let changes = Changes { set: &self.set, before: &before, after: &after };
        let (changed, coef) = changes.of(self.dual);
        let add_up = |asking: &Asking| sums_of(self.dual, self.rows, &changed, &coef, asking);
        let begun = Instant::now();
        // Who is out of patience has time.
        let goes_on =
            matches!(status, Status::Converged | Status::Stalled) || clock.look(self.looking.measure(violation)).is_none();
        let done =
            if goes_on { clock.asked(self.looking.measure(violation), add_up) } else { clock.last_words(add_up).ok_or(status) };
        let rows_before = self.work.rows_computed;
        self.values += computed + (changed.len() * n) as u64;
        self.work.rows_requested += work.rows_requested;
        self.work.rows_computed = self.values.div_ceil(n as u64);
        self.rows.count_elsewhere(self.work.rows_computed - rows_before, time + begun.elapsed());
        let sums = match done {
            Ok(sums) => sums,
            // The point before the round is the last whose gradient is known.
            Err(status) => return status,
        };
        changes.make(self.dual, &sums, &mut self.alpha, &mut self.gradient);
        clock.owed = support(&self.alpha);
        status
    }
}

/// Leaves at most `room`: the furthest from where they belong, and then the nearest to moving.
pub(crate) fn furthest(from: &mut Vec<(f64, usize)>, room: usize) {
    if from.len() > room {
        from.select_nth_unstable_by(room, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        from.truncate(room);
    }
}

/// Who may be in the next round; bounded variables with how far they violate the conditions of
/// optimality.
#[derive(Default)]
struct Candidates {
    free: Vec<usize>,
    /// As good as in it: in the last round, or near enough.
    nearby: Vec<(f64, usize)>,
    /// The others that violate.
    wanted: Vec<(f64, usize)>,
    /// Whether any α is not 0.
    moved: bool,
}

impl Candidates {
    /// With those of a later stretch.
    fn join(mut self, later: Self) -> Self {
        self.free.extend(later.free);
        self.nearby.extend(later.nearby);
        self.wanted.extend(later.wanted);
        Self { moved: self.moved | later.moved, ..self }
    }
}
