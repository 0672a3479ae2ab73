//! The running state of SMO: α, the optimality indicator `f` and the index sets as packed bits.

use crate::passes::direction::{Direction, Reach};
use crate::passes::layout::Layout;
use crate::passes::shard::{PartnerQuery, Pass, PassResult, Sets, Shard, TAU};
use crate::passes::team::{Team, shards_of};
use maxmargin_core::{Dual, EqualityConstraint};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, RowRef};
use maxmargin_simd::passes::{Extremes, Partner};

/// The smallest share of a pair's curvature that a conjugate step may leave. Below it the direction
/// starts anew.
const FLAT: f64 = 1e-6;

/// The point, and `f_k = s_k (Qα + linear_term)_k` at it.
///
/// The set `up` holds the variables whose `s_k α_k` may grow, `low` those whose `s_k α_k` may fall.
/// The point is optimal within ε when `max f over low − min f over up ≤ ε`.
pub(crate) struct State {
    pub(crate) layout: Layout,
    team: Team,
    /// The number of places in a shard; the last may have fewer.
    size: usize,
    /// α by place, except for the places of the direction: their values are there.
    alpha: Vec<f64>,
    upper: Vec<f64>,
    sign: Vec<f64>,
    /// The ridge of each place, or the one ridge of all. Kernel rows do not contain it.
    ridge: Result<f64, Vec<f64>>,
    /// The constant that stored rows leave out of every value.
    base: f64,
    /// True if each sign has a sum of its own: both variables of a pair then have one sign.
    apart: bool,
    /// The last direction of conjugate steps; `None` for steps on pairs alone.
    direction: Option<Direction>,
}

/// One step on a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The decrease of the objective.
    pub(crate) gain: f64,
    /// The extremes of `f` after the step.
    pub(crate) extremes: Extremes,
}

impl State {
    /// Creates the state at `alpha` with its gradient (one entry per variable). Passes run on
    /// `par`. Steps are on pairs alone.
    pub(crate) fn new(dual: &Dual, gram: &dyn Gram, alpha: &[f64], gradient: &[f64], par: Par) -> Self {
        let layout = Layout::new(dual);
        let count = shards_of(layout.padded());
        Self::in_shards(count, layout, dual, gram, alpha, gradient, par)
    }

    /// Enables conjugate steps.
    pub(crate) fn by_conjugate_steps(mut self) -> Self {
        self.direction = Some(Direction::new(self.layout.padded()));
        self
    }

    /// Creates the state as [`State::new`] does, in at most `count` shards.
    fn in_shards(count: usize, layout: Layout, dual: &Dual, gram: &dyn Gram, alpha: &[f64], gradient: &[f64], par: Par) -> Self {
        let f = layout.spread(dual.sign().iter().zip(gradient).map(|(s, g)| s * g));
        // Steps depend on differences of kernel values only. These have the most digits without the
        // constant.
        let base = gram.base();
        let all = gram.diagonal();
        let own = |k: usize| all[dual.ids()[k]] - base + dual.ridge_of(k);
        let first = own(0);
        let diagonal =
            if (0..dual.len()).all(|k| own(k) == first) { Ok(first) } else { Err(layout.spread((0..dual.len()).map(own))) };
        let apart = matches!(dual.balance(), EqualityConstraint::PerSign(..));
        let size = layout.padded().div_ceil(count).next_multiple_of(64);
        let shard = |at: usize| {
            let places = at..layout.padded().min(at + size);
            Shard {
                at,
                pieces: layout.pieces_in(places.clone()),
                gather: layout.gather_in(places.clone()),
                f: f[places.clone()].to_vec(),
                q: vec![],
                sides: vec![Sets::none(places.len()); if apart { 2 } else { 1 }],
                diagonal: diagonal.as_ref().map_or_else(|each| Err(each[places.clone()].to_vec()), |one| Ok(*one)),
                gathered: [vec![], vec![]],
                result: PassResult::NONE,
            }
        };
        let shards: Vec<Shard> = (0..layout.padded()).step_by(size).map(shard).collect();
        let mut state = Self {
            team: Team::new(shards, par),
            size,
            alpha: layout.spread(alpha.iter().copied()),
            upper: layout.spread(dual.upper().iter().copied()),
            sign: layout.spread(dual.sign().iter().copied()),
            ridge: if dual.has_one_ridge() {
                Ok(dual.ridge())
            } else {
                Err(layout.spread((0..dual.len()).map(|k| dual.ridge_of(k))))
            },
            base,
            apart,
            direction: None,
            layout,
        };
        for s in 0..state.team.len() {
            let mut shard = state.team.shard_mut(s);
            shard.mark_all(&state.alpha, &state.upper, &state.sign);
        }
        state
    }

    /// Returns the shard of a place, and the place within it.
    #[inline]
    fn split(&self, place: usize) -> (usize, usize) {
        // Most problems have one shard, and a division takes as long as ten places of a pass.
        if place < self.size { (0, place) } else { (place / self.size, place % self.size) }
    }

    /// Returns α, one entry per variable.
    pub(crate) fn alpha(&self) -> Vec<f64> {
        let Some(direction) = &self.direction else { return self.layout.collect(&self.alpha) };
        let mut alpha = self.alpha.clone();
        direction.held().for_each(|(place, beta)| alpha[place] = self.sign[place] * beta);
        self.layout.collect(&alpha)
    }

    /// Returns the gradient `Qα + lin`, one entry per variable.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        let mut f = Vec::with_capacity(self.layout.padded());
        (0..self.team.len()).for_each(|s| f.extend_from_slice(&self.team.shard(s).f));
        f.iter_mut().zip(&self.sign).for_each(|(f, s)| *f *= s);
        self.layout.collect(&f)
    }

    /// Replaces the gradient by a more exact one.
    pub(crate) fn refresh(&mut self, dual: &Dual, gradient: &[f64]) {
        self.end_direction();
        let f = self.layout.spread(dual.sign().iter().zip(gradient).map(|(s, g)| s * g));
        for (s, f) in f.chunks(self.size).enumerate() {
            self.team.shard_mut(s).f.copy_from_slice(f);
        }
    }

    /// Releases the threads until the next pass.
    pub(crate) fn rest(&self) {
        self.team.rest();
    }

    /// Calls `each(place, violation)` for the variables of a place's side that violate the
    /// optimality conditions by at least `least` against the threshold `middle`.
    pub(crate) fn violators(&self, place: usize, middle: f64, least: f64, mut each: impl FnMut(usize, f64)) {
        (0..self.team.len()).for_each(|s| self.team.shard(s).violators(self.side(place), middle, least, &mut each));
    }

    /// Returns how far `s α` may grow and fall at a place.
    fn rooms(&self, place: usize) -> (f64, f64) {
        let held = self.direction.as_ref().and_then(|direction| direction.beta(place));
        let (a, u) = (held.map_or(self.alpha[place], f64::abs), self.upper[place]);
        if self.sign[place] > 0.0 { (u - a, a) } else { (a, u - a) }
    }

    /// Returns the side of a place: that of its sign if each sign has a sum, otherwise 0.
    fn side(&self, place: usize) -> usize {
        usize::from(self.apart && self.sign[place] < 0.0)
    }

    /// Returns the extremes of the side with the larger violation.
    fn worst(result: PassResult) -> Extremes {
        let [first, second] = result.extremes;
        if second.max_low - second.min_up > first.max_low - first.min_up { second } else { first }
    }

    /// Updates the set bits of a place from its α.
    fn mark(&mut self, place: usize) {
        let (grow, fall) = self.rooms(place);
        let side = self.side(place);
        let (shard, place) = self.split(place);
        self.team.shard_mut(shard).mark(place, side, grow > 0.0, fall > 0.0);
    }

    fn ridge_at(&self, place: usize) -> f64 {
        self.ridge.as_ref().map_or_else(|each| each[place], |one| *one)
    }

    /// Returns `f` and `K_kk` with the ridge at a place, without the constant that rows leave out.
    fn at(&self, place: usize) -> (f64, f64) {
        let (shard, place) = self.split(place);
        let shard = self.team.shard(shard);
        (shard.f[place], shard.own(place))
    }

    /// Adds to `f` at a place.
    fn add(&mut self, place: usize, amount: f64) {
        let (shard, place) = self.split(place);
        self.team.shard_mut(shard).f[place] += amount;
    }

    /// Returns the extremes of `f`. If each sign has a sum, they are those of the sign that
    /// violates more.
    pub(crate) fn extremes(&mut self) -> Extremes {
        Self::worst(self.team.make(&Pass::Scan))
    }

    /// Returns the partner of `i` with the greatest second-order gain (step 3).
    pub(crate) fn partner(&mut self, i: usize, row: &RowRef) -> Partner {
        let (f, own) = self.at(i);
        let length = self.direction.as_ref().and_then(Direction::length);
        let along = length.map(|length| (self.along(i), 1.0 / length));
        let side = self.side(i);
        self.team.make(&Pass::Partner(row, PartnerQuery { own, f, along }, side)).partner
    }

    /// Returns `q = K p` of the direction at a place.
    fn along(&self, place: usize) -> f64 {
        let (shard, place) = self.split(place);
        self.team.shard(shard).q[place]
    }

    /// Moves `s α` of `i` up and of `j` down by the best common amount, and updates `f` (steps 4
    /// and 5).
    pub(crate) fn step(&mut self, i: usize, j: usize, row_i: &RowRef, row_j: &RowRef) -> Step {
        let kij = f64::from(row_i.entries().held().at(self.layout.id(j)));
        let ((fi, own_i), (fj, own_j)) = (self.at(i), self.at(j));
        let a = (own_i + own_j - 2.0 * kij).max(TAU);
        let b = fj - fi;
        if let Some(mut direction) = self.direction.take() {
            let step = (!direction.rests()).then(|| self.conjugate_step(&mut direction, [i, j], a, b, [row_i, row_j]));
            direction.count(step.map_or(0.0, |(_, saved)| saved));
            if direction.rests() {
                self.settle(&mut direction);
            }
            self.direction = Some(direction);
            if let Some((step, _)) = step {
                return step;
            }
        }
        let ((grow, _), (_, fall)) = (self.rooms(i), self.rooms(j));
        let step = (b / a).min(grow).min(fall);
        self.shift(i, step, step == grow);
        self.shift(j, -step, step == fall);
        self.add(i, step * self.ridge_at(i));
        self.add(j, -step * self.ridge_at(j));
        let extremes = Self::worst(self.team.make(&Pass::Pair(row_i, row_j, step)));
        Step { gain: step * (b - 0.5 * step * a), extremes }
    }

    /// Makes a conjugate step on a pair of curvature `a` and slope `b`, and returns the share of
    /// the curvature that the direction saves (steps 3 to 6 of `direction.rs`).
    fn conjugate_step(
        &mut self,
        direction: &mut Direction,
        pair: [usize; 2],
        a: f64,
        b: f64,
        [row_i, row_j]: [&RowRef; 2],
    ) -> (Step, f64) {
        direction.fade(|place, beta| self.alpha[place] = beta.abs());
        let (beta, saved) = direction.length().map_or((0.0, 0.0), |length| {
            let apart = self.along(pair[0]) - self.along(pair[1]);
            (-apart / length, apart * apart / (length * a))
        });
        // The remaining curvature would be rounding error, and so would the step.
        let (beta, saved) = if saved > 1.0 - FLAT { (0.0, 0.0) } else { (beta, saved) };
        if beta == 0.0 {
            self.settle(direction);
        }
        let curvature = (a - saved * a).max(TAU);
        for place in pair {
            let (sign, upper) = (self.sign[place], self.upper[place]);
            direction.hold(place, sign * self.alpha[place], Direction::bounds(sign, upper));
        }
        let reach = direction.step_along(beta, [(pair[0], 1.0), (pair[1], -1.0)], b / curvature, curvature);
        let step = if let Reach::Bound(step) = reach { step } else { b / curvature };
        for (place, amount) in pair.into_iter().zip([1.0, -1.0]) {
            self.add(place, amount * step * self.ridge_at(place));
        }
        if reach == Reach::Free {
            for place in pair {
                let value = direction.beta(place).unwrap_or_default();
                self.alpha[place] = value.abs();
                self.mark(place);
            }
        } else {
            self.settle(direction);
        }
        let extremes = Self::worst(self.team.make(&Pass::Conjugate(row_i, row_j, beta, step)));
        for (place, amount) in pair.into_iter().zip([1.0, -1.0]) {
            let ridge = self.ridge_at(place);
            let (shard, place) = self.split(place);
            self.team.shard_mut(shard).q[place] += amount * ridge;
        }
        (Step { gain: step * (b - 0.5 * step * curvature), extremes }, saved)
    }

    /// Ends the direction and writes its values back into α.
    fn settle(&mut self, direction: &mut Direction) {
        for (place, beta) in direction.held() {
            self.alpha[place] = beta.abs();
        }
        direction.held().for_each(|(place, _)| self.mark(place));
        direction.end();
    }

    /// Ends the direction, if there is one.
    fn end_direction(&mut self) {
        if let Some(mut direction) = self.direction.take() {
            self.settle(&mut direction);
            self.direction = Some(direction);
        }
    }

    /// Moves `s α` of `i` alone to where its `f` would meet `threshold`, as far as the box allows,
    /// and updates `f`.
    pub(crate) fn single(&mut self, i: usize, threshold: f64, row: &RowRef) -> Extremes {
        self.end_direction();
        let (fi, own) = self.at(i);
        let wanted = (threshold - fi) / (own + self.base).max(TAU);
        let (grow, fall) = self.rooms(i);
        let step = wanted.clamp(-fall, grow);
        self.shift(i, step, step == grow || step == -fall);
        self.add(i, step * self.ridge_at(i));
        Self::worst(self.team.make(&Pass::Single(row, step)))
    }

    /// Moves `s α` at a place by `amount`. If the move ends at a bound, α becomes the bound
    /// exactly.
    fn shift(&mut self, place: usize, amount: f64, to_bound: bool) {
        let rises = (amount > 0.0) == (self.sign[place] > 0.0);
        self.alpha[place] = match (to_bound, rises) {
            (true, true) => self.upper[place],
            (true, false) => 0.0,
            (false, _) => (self.alpha[place] + self.sign[place] * amount).clamp(0.0, self.upper[place]),
        };
        self.mark(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_kernel::Rows;
    use maxmargin_testkit::generate::lattice;

    /// Returns the extremes, the gains of the steps from α = 0, and α at the end.
    fn run(count: usize, par: Par) -> (Vec<Extremes>, Vec<f64>, Vec<f64>) {
        let mut problem = lattice(5, 700, 2, 1.0);
        // Holes in the ids make several pieces, some of which cross a shard boundary.
        let ids: Vec<usize> = problem.dual.ids().iter().copied().filter(|i| i % 97 > 4 && *i != 350).collect();
        let pick = |all: &[f64]| ids.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        problem.dual = Dual::c_svc(ids.clone(), pick(problem.dual.sign()), pick(problem.dual.upper())).expect("two classes");
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let zero = vec![0.0; problem.dual.len()];
        let layout = Layout::new(&problem.dual);
        let mut state = State::in_shards(count, layout, &problem.dual, &problem.gram, &zero, problem.dual.linear_term(), par);
        let (mut extremes, mut gains) = (vec![state.extremes()], vec![]);
        for _ in 0..300 {
            let i = extremes[extremes.len() - 1].argmin_up;
            let row_i = rows.row(state.layout.id(i));
            let j = state.partner(i, &row_i).index;
            let step = state.step(i, j, &row_i, &rows.row(state.layout.id(j)));
            extremes.push(step.extremes);
            gains.push(step.gain);
        }
        (extremes, gains, state.alpha())
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
        let alone = run(8, Par::Seq);
        // The solver's own thread belongs to this pool and cannot help; the run must not wait for a
        // helper.
        for _ in 0..20 {
            assert_eq!(pool.install(|| run(8, Par::Pool)), alone);
        }
        // Outside a pool the helpers come from rayon's global one.
        assert_eq!(run(8, Par::Pool), alone);
    }

    #[test]
    fn shards_change_no_extreme() {
        let (extremes, gains, alpha) = run(1, Par::Seq);
        assert!(gains.iter().all(|gain| *gain > 0.0) && alpha.iter().any(|a| *a > 0.0));
        let (split, ..) = run(5, Par::Seq);
        // The lattice's kernel values are exact. Ties between partners are the only possible
        // difference.
        assert_eq!(extremes[..50], split[..50]);
    }
}
