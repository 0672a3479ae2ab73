//! Selection of working sets (section 3 of the paper, and further rules).

use crate::state::{Extremes, State};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The rule that selects the working set.
///
/// All rules but [`SetSelection::Steepest`] and [`SetSelection::PureRandom`] begin with the worst
/// violator of each condition (α at 0, α at C, α between) of each class, as in the paper. They end
/// with satisfied bounded samples of least |error| if there are not enough others. They differ in
/// the middle part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetSelection {
    /// The paper's rule: a random sample of the candidates, which are the violators and all free
    /// samples.
    Random,
    /// [`SetSelection::Random`] without the worst violators of every condition and class, and
    /// without the pair that violates most. Working sets may then gain nothing, and a run may
    /// stall. For comparison (section 3 of the paper).
    PureRandom,
    /// The violators with the largest |error|, then the free samples.
    Largest,
    /// The violators with the smallest |error|, then the free samples.
    Smallest,
    /// Half of the working set stays (its free samples first, then those that joined last). The
    /// other half are the worst violators of either direction. Not in the paper.
    #[default]
    Half,
    /// The steepest feasible direction with as many entries (Joachims 1999, SVMlight): the worst of
    /// either direction, violators or not.
    Steepest,
}

/// A variable and its rank.
type Ranked = (f64, usize);

/// The parameters of a selection.
#[derive(Clone, Copy)]
pub(crate) struct SelectionQuery {
    pub(crate) rule: SetSelection,
    /// The largest number of variables.
    pub(crate) count: usize,
    /// The largest distance from a violation at which satisfied bounded variables may join.
    pub(crate) near: f64,
    /// The largest error that does not count as a violation.
    pub(crate) slack: f64,
}

/// Selects working sets, one after the other.
pub(crate) struct Chooser {
    rng: ChaCha8Rng,
    /// The last working set, newest members at the end.
    last: Vec<usize>,
    taken: Vec<bool>,
    chosen: Vec<usize>,
}

/// The variables that a rule may select from.
struct Pool {
    /// The violators, with their violation.
    violators: Vec<Ranked>,
    /// The free variables without violation, by |error|.
    free: Vec<Ranked>,
    /// The bounded variables without violation, by |error|.
    satisfied: Vec<Ranked>,
    /// The worst violator by class and condition.
    worst: [[Ranked; 3]; 2],
}

impl Chooser {
    pub(crate) fn new(variables: usize, rng: ChaCha8Rng) -> Self {
        Self { rng, last: Vec::new(), taken: vec![false; variables], chosen: Vec::new() }
    }

    /// Selects the next working set, in ascending order. It contains the pair that violates most,
    /// unless all of it is drawn at random.
    pub(crate) fn next(&mut self, state: &State, extremes: &Extremes, query: SelectionQuery) -> Vec<usize> {
        self.chosen.iter().for_each(|&k| self.taken[k] = false);
        self.chosen.clear();
        if query.rule != SetSelection::PureRandom {
            self.take(extremes.up, query.count);
            self.take(extremes.low, query.count);
        }
        if query.rule == SetSelection::Steepest {
            self.take_steepest(state, query.count);
        } else {
            self.take_by_rule(Pool::of(state, extremes, query), state, query);
        }
        self.last.retain(|k| self.taken[*k]);
        let mut known = vec![false; self.taken.len()];
        self.last.iter().for_each(|&k| known[k] = true);
        self.last.extend(self.chosen.iter().filter(|k| !known[**k]));
        let mut set = self.chosen.clone();
        set.sort_unstable();
        set
    }

    fn take_by_rule(&mut self, mut pool: Pool, state: &State, query: SelectionQuery) {
        if query.rule != SetSelection::PureRandom {
            pool.worst.into_iter().flatten().for_each(|(_, k)| self.take(k, query.count));
        }
        match query.rule {
            SetSelection::Random | SetSelection::PureRandom => {
                pool.violators.append(&mut pool.free);
                self.take_random(&mut pool.violators, query.count);
            }
            SetSelection::Smallest => self.take_least(&mut pool.violators, query.count),
            SetSelection::Half => {
                let kept = self.chosen.len() + query.count.saturating_sub(self.chosen.len()) / 2;
                let last = std::mem::take(&mut self.last);
                last.iter().filter(|k| state.is_free(**k)).for_each(|&k| self.take(k, kept));
                last.iter().rev().for_each(|&k| self.take(k, kept));
                self.last = last;
                let (mut rising, mut falling): (Vec<_>, Vec<_>) = pool.violators.iter().partition(|(_, k)| state.moves(*k).0);
                let half = self.chosen.len() + query.count.saturating_sub(self.chosen.len()) / 2;
                self.take_most(&mut rising, half);
                self.take_most(&mut falling, query.count);
                self.take_most(&mut rising, query.count);
            }
            SetSelection::Largest | SetSelection::Steepest => self.take_most(&mut pool.violators, query.count),
        }
        self.take_most(&mut pool.free, query.count);
        pool.satisfied.retain(|(by, _)| *by <= query.near);
        self.take_least(&mut pool.satisfied, query.count);
    }

    fn take_steepest(&mut self, state: &State, count: usize) {
        let all = 0..state.f.len();
        let mut rising: Vec<Ranked> = all.clone().filter(|&k| state.moves(k).0).map(|k| (state.f[k], k)).collect();
        let mut falling: Vec<Ranked> = all.filter(|&k| state.moves(k).1).map(|k| (state.f[k], k)).collect();
        self.take_least(&mut rising, self.chosen.len().max(2) + count.saturating_sub(2) / 2);
        self.take_most(&mut falling, count);
        self.take_least(&mut rising, count);
    }

    /// Adds a variable, unless it is in the set or there are `most`.
    fn take(&mut self, k: usize, most: usize) {
        if k != usize::MAX && self.chosen.len() < most && !self.taken[k] {
            self.taken[k] = true;
            self.chosen.push(k);
        }
    }

    /// Adds those with the least rank until there are `most`; equal ranks in order.
    fn take_least(&mut self, pool: &mut Vec<Ranked>, most: usize) {
        pool.retain(|(_, k)| !self.taken[*k]);
        let count = most.saturating_sub(self.chosen.len()).min(pool.len());
        if count == 0 {
            return;
        }
        let order = |a: &Ranked, b: &Ranked| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        pool.select_nth_unstable_by(count - 1, order);
        pool[..count].sort_unstable_by(order);
        pool[..count].iter().for_each(|&(_, k)| self.take(k, most));
    }

    /// Adds those with the greatest rank.
    fn take_most(&mut self, pool: &mut Vec<Ranked>, most: usize) {
        pool.iter_mut().for_each(|entry| entry.0 = -entry.0);
        self.take_least(pool, most);
        pool.iter_mut().for_each(|entry| entry.0 = -entry.0);
    }

    fn take_random(&mut self, pool: &mut Vec<Ranked>, most: usize) {
        pool.retain(|(_, k)| !self.taken[*k]);
        let count = most.saturating_sub(self.chosen.len()).min(pool.len());
        for at in 0..count {
            let drawn = self.rng.random_range(at..pool.len());
            pool.swap(at, drawn);
            self.take(pool[at].1, most);
        }
    }
}

impl Pool {
    fn of(state: &State, extremes: &Extremes, query: SelectionQuery) -> Self {
        let threshold = f64::midpoint(extremes.min_up, extremes.max_low);
        let none = (f64::NEG_INFINITY, usize::MAX);
        let mut pool = Self { violators: vec![], free: vec![], satisfied: vec![], worst: [[none; 3]; 2] };
        for (k, &f) in state.f.iter().enumerate() {
            let error = threshold - f;
            let (rises, falls) = state.moves(k);
            let violation = match (rises, falls) {
                (true, true) => error.abs(),
                (true, false) => error,
                (false, true) => -error,
                (false, false) => continue,
            };
            if violation > query.slack {
                let class = usize::from(state.dual.sign()[k] > 0.0);
                let condition = if rises && falls { 2 } else { usize::from(state.alpha[k] > 0.0) };
                let worst = &mut pool.worst[class][condition];
                if violation > worst.0 {
                    *worst = (violation, k);
                }
                pool.violators.push((violation, k));
            } else if rises && falls {
                pool.free.push((violation, k));
            } else {
                pool.satisfied.push((-violation, k));
            }
        }
        pool
    }
}
