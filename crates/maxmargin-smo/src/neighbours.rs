//! SMO over kernels that are mostly zero: an iteration visits the neighbours of its pair alone.
//!
//! The steps are those of `solve.rs`. For step 2, tournaments keep the extremes of `f`. In step 3,
//! `a_ij` is the same for all `j` that are no neighbours of `i`, and smaller for those that are.
//! The partner is thus the best of the neighbours, or the variable with the largest `f`.

mod start;
mod tournament;

use crate::config::SmoConfig;
use crate::pair_budget::{self, PairBudget};
use crate::pairs::{COUNTED, StallDetector, max_iterations_of};
use crate::passes::shard::TAU;
use maxmargin_core::{ConvergenceCheck, Dual, EqualityConstraint, Goal, SolverControl, Status, Work};
use maxmargin_kernel::{Gram, NeighbourRow, Neighbours};
use tournament::Tournament;

/// The sets of a variable: its `s α` may grow, or fall.
const UP: u8 = 1;
const LOW: u8 = 2;

/// A problem over neighbours, and the current point. A sample's first variable has the place of the
/// sample, its second one, if any sample has two, the same place in a second row of places.
pub(crate) struct NeighbourPairs<'a> {
    dual: &'a Dual,
    neighbours: &'a Neighbours,
    /// The place of each variable.
    places: Vec<usize>,
    /// Number of samples.
    samples: usize,
    variables: Variables,
    /// The largest `−f` of the variables whose `s α` may grow, and `f` of those whose `s α` may
    /// fall.
    pub(crate) up: Tournament,
    pub(crate) low: Tournament,
    /// `K_kk` plus the ridge, the same for all variables.
    own: f64,
    pub(crate) convergence: ConvergenceCheck,
    stall: StallDetector,
    pair_budget: Option<PairBudget>,
    requested: u64,
    /// No step was made from zero.
    from_zero: bool,
}

/// The variables by place. Where there is none, everything is 0.
#[derive(Default)]
struct Variables {
    alpha: Vec<f64>,
    upper: Vec<f64>,
    sign: Vec<f64>,
    /// `f_k = s_k (Qα + linear_term)_k`.
    f: Vec<f64>,
    sets: Vec<u8>,
}

impl Variables {
    /// Returns `−f` of a variable whose `s α` may grow, −∞ of others.
    #[inline]
    fn up(&self, place: usize) -> f64 {
        if self.sets[place] & UP == 0 { f64::NEG_INFINITY } else { -self.f[place] }
    }

    /// Returns `f` of a variable whose `s α` may fall, −∞ of others.
    #[inline]
    fn low(&self, place: usize) -> f64 {
        if self.sets[place] & LOW == 0 { f64::NEG_INFINITY } else { self.f[place] }
    }

    fn alpha_of(&self, places: &[usize]) -> Vec<f64> {
        places.iter().map(|&place| self.alpha[place]).collect()
    }

    fn gradient_of(&self, places: &[usize]) -> Vec<f64> {
        places.iter().map(|&place| self.sign[place] * self.f[place]).collect()
    }

    /// Writes the sets of a variable.
    fn mark(&mut self, place: usize) {
        let (a, sign) = (self.alpha[place], self.sign[place]);
        let (rises, falls) = (a < self.upper[place], a > 0.0);
        let (up, low) = if sign > 0.0 { (rises, falls) } else { (falls, rises) };
        self.sets[place] = u8::from(up) * UP + u8::from(low) * LOW;
    }

    /// Returns how far `s α` may grow and fall.
    fn rooms(&self, place: usize) -> (f64, f64) {
        let (a, upper) = (self.alpha[place], self.upper[place]);
        if self.sign[place] > 0.0 { (upper - a, a) } else { (a, upper - a) }
    }

    /// Moves `s α` by `amount`. If the move ends at a bound, α becomes the bound exactly.
    fn shift(&mut self, place: usize, amount: f64, to_bound: bool) {
        let (sign, upper) = (self.sign[place], self.upper[place]);
        let rises = (amount > 0.0) == (sign > 0.0);
        self.alpha[place] = match (to_bound, rises) {
            (true, true) => upper,
            (true, false) => 0.0,
            (false, _) => (self.alpha[place] + sign * amount).clamp(0.0, upper),
        };
        self.mark(place);
    }
}

/// Returns the neighbours over which a problem is solved: none where the matrix has found none, or
/// where the curvature of pairs that are no neighbours differs.
pub(crate) fn neighbours_for<'g>(dual: &Dual, gram: &'g dyn Gram, config: &SmoConfig) -> Option<&'g Neighbours> {
    let all = gram.diagonal();
    let first = all[*dual.ids().first()?];
    let one_sum = matches!(dual.balance(), EqualityConstraint::Sum(_));
    let takes = one_sum && dual.has_one_ridge() && dual.ids().iter().all(|&id| all[id] == first);
    gram.neighbours().filter(|_| config.neighbours && takes)
}

/// Returns the place of each variable, if no sample has more than two, and the number of places.
fn places_of(dual: &Dual, samples: usize) -> Option<(Vec<usize>, usize)> {
    let mut count = vec![0_u8; samples];
    let mut place = |&id: &usize| {
        count[id] += 1;
        (count[id] <= 2).then(|| id + if count[id] == 2 { samples } else { 0 })
    };
    let places = dual.ids().iter().map(&mut place).collect::<Option<Vec<usize>>>()?;
    Some((places, if count.contains(&2) { 2 * samples } else { samples }))
}

impl<'a> NeighbourPairs<'a> {
    /// Begins at `alpha` with its gradient. None where [`neighbours_for`] finds none.
    pub(crate) fn new(
        dual: &'a Dual,
        gram: &'a dyn Gram,
        alpha: &[f64],
        gradient: &[f64],
        aim: Goal,
        config: &SmoConfig,
    ) -> Option<Self> {
        let neighbours = neighbours_for(dual, gram, config)?;
        let (places, count) = places_of(dual, gram.len())?;
        let own = gram.diagonal()[*dual.ids().first()?] + dual.ridge();
        let spread = |values: &[f64]| {
            let mut spread = vec![0.0; count];
            places.iter().zip(values).for_each(|(&place, value)| spread[place] = *value);
            spread
        };
        let (upper, sign, sets) = (spread(dual.upper()), spread(dual.sign()), vec![0; count]);
        let variables = Variables { alpha: vec![], upper, sign, f: vec![0.0; count], sets };
        let mut pairs = Self {
            dual,
            neighbours,
            places,
            samples: gram.len(),
            variables,
            up: Tournament::new(0, |_| 0.0),
            low: Tournament::new(0, |_| 0.0),
            own,
            convergence: ConvergenceCheck::new(aim),
            stall: StallDetector::at(dual, alpha, gradient),
            pair_budget: config.pair_budget,
            requested: 0,
            from_zero: alpha.iter().all(|a| *a == 0.0),
        };
        pairs.move_to(alpha, gradient);
        Some(pairs)
    }

    /// Goes to a point with this gradient.
    fn move_to(&mut self, alpha: &[f64], gradient: &[f64]) {
        self.variables.alpha.resize(self.variables.f.len(), 0.0);
        self.places.iter().zip(alpha).for_each(|(&place, a)| self.variables.alpha[place] = *a);
        self.places.iter().for_each(|&place| self.variables.mark(place));
        self.refresh(gradient);
    }

    /// Replaces the gradient by a more exact one and restarts the stall detection.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) {
        for ((&place, s), g) in self.places.iter().zip(self.dual.sign()).zip(gradient) {
            self.variables.f[place] = s * g;
        }
        let variables = &self.variables;
        self.up = Tournament::new(variables.f.len(), |place| variables.up(place));
        self.low = Tournament::new(variables.f.len(), |place| variables.low(place));
        self.stall = StallDetector::at(self.dual, &self.alpha(), gradient);
    }

    /// Returns α.
    pub(crate) fn alpha(&self) -> Vec<f64> {
        self.variables.alpha_of(&self.places)
    }

    /// Returns the gradient at the current point.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        self.variables.gradient_of(&self.places)
    }

    /// Returns the largest violation.
    pub(crate) fn violation(&self) -> f64 {
        self.up.best().key + self.low.best().key
    }

    /// Returns the number of values that a step on one variable visits, on average.
    pub(crate) fn visited(&self) -> u64 {
        (self.neighbours.count() / self.neighbours.len().max(1)) as u64
    }

    /// Returns the work so far. The clock counts the iterations.
    pub(crate) fn work(&self) -> Work {
        Work { rows_requested: self.requested, ..Work::default() }
    }

    /// Iterates until the goal is reached by the solver's own gradient, and returns how the run
    /// ended.
    pub(crate) fn iterate(&mut self, control: &mut SolverControl) -> Status {
        if std::mem::take(&mut self.from_zero) {
            self.leave_zero(control);
        }
        loop {
            // 2: stop if the violation is at most ε.
            let (i, j) = (self.up.best(), self.low.best());
            let violation = i.key + j.key;
            let Self { variables, places, dual, convergence, .. } = self;
            let point = || (variables.alpha_of(places), variables.gradient_of(places));
            if violation == f64::NEG_INFINITY || convergence.reached(dual, violation, control.iterations, point) {
                return Status::Converged;
            }
            if control.iterations.is_multiple_of(COUNTED) {
                control.look(dual, point);
            }
            if let Some(status) = control.ended(convergence.measure(violation)) {
                return status;
            }
            if control.iterations.is_multiple_of(pair_budget::BETWEEN) && self.is_over_budget(control.iterations) {
                return Status::IterationLimit;
            }
            if control.iterations >= max_iterations_of(self.dual.len()) {
                return Status::Stalled;
            }
            // 3 to 5.
            let Some((j, curvature)) = self.partner(i.place) else { return Status::Stalled };
            let gain = self.step(i.place, j, curvature);
            control.iterations += 1;
            self.requested += 2;
            if self.stall.stalls(gain, violation) {
                return Status::Stalled;
            }
        }
    }

    /// Returns true if the run has used its [`PairBudget`].
    fn is_over_budget(&self, iterations: u64) -> bool {
        let counts = || {
            let free = self.variables.sets.iter().map(|sets| usize::from(*sets == UP | LOW)).sum();
            [free, self.alpha().iter().filter(|alpha| **alpha != 0.0).count()]
        };
        self.pair_budget.is_some_and(|budget| budget.is_over(iterations, 2 * self.visited() as usize, counts))
    }

    /// Moves `s α` of a variable alone to where its `f` would meet `threshold`, as far as the box
    /// allows, and updates `f`.
    pub(crate) fn single(&mut self, place: usize, threshold: f64) {
        let variables = &mut self.variables;
        let (grow, fall) = variables.rooms(place);
        let step = ((threshold - variables.f[place]) / self.own).clamp(-fall, grow);
        variables.shift(place, step, step == grow || step == -fall);
        variables.f[place] += step * self.dual.ridge();
        self.add_row(self.sample(place), step);
    }

    /// Returns the sample of a place.
    fn sample(&self, place: usize) -> usize {
        if place < self.samples { place } else { place - self.samples }
    }

    /// Returns the partner of `i` with the greatest gain, and the curvature of the pair (step 3).
    fn partner(&self, i: usize) -> Option<(usize, f64)> {
        let Self { variables, samples: all, own, .. } = self;
        let fi = variables.f[i];
        let (mut best, mut most) = (None, 0.0);
        let NeighbourRow { samples, values } = self.neighbours.of(self.sample(i));
        for from in (0..variables.f.len()).step_by(*all) {
            for (&sample, value) in samples.iter().zip(values) {
                let place = from + sample as usize;
                let (f, curvature) = (variables.low(place), (2.0 * (own - value)).max(TAU));
                let apart = f - fi;
                if apart > 0.0 && apart * apart > most * curvature {
                    (best, most) = (Some((place, curvature)), apart * apart / curvature);
                }
            }
        }
        // If it is a neighbour, it was compared with its smaller curvature before.
        let (worst, curvature) = (self.low.best(), 2.0 * own);
        let apart = worst.key - fi;
        if apart > 0.0 && apart * apart > most * curvature { Some((worst.place, curvature)) } else { best }
    }

    /// Moves `s α` of `i` up and of `j` down by the best common amount, updates `f` (steps 4 and
    /// 5), and returns the decrease of the objective.
    fn step(&mut self, i: usize, j: usize, curvature: f64) -> f64 {
        let Self { variables, .. } = self;
        let slope = variables.f[j] - variables.f[i];
        let ((grow, _), (_, fall)) = (variables.rooms(i), variables.rooms(j));
        let step = (slope / curvature).min(grow).min(fall);
        variables.shift(i, step, step == grow);
        variables.shift(j, -step, step == fall);
        variables.f[i] += step * self.dual.ridge();
        variables.f[j] -= step * self.dual.ridge();
        for (place, step) in [(i, step), (j, -step)] {
            self.add_row(self.sample(place), step);
        }
        step * (slope - 0.5 * step * curvature)
    }

    /// Adds `amount K_i` to `f`, and updates the tournaments. A sample is its own neighbour, so
    /// this follows the sets of a pair, too.
    fn add_row(&mut self, sample: usize, amount: f64) {
        let Self { variables, up, low, samples: all, .. } = self;
        let NeighbourRow { samples, values } = self.neighbours.of(sample);
        for from in (0..variables.f.len()).step_by(*all) {
            for (&sample, value) in samples.iter().zip(values) {
                let place = from + sample as usize;
                variables.f[place] += amount * value;
                if variables.sets[place] != 0 {
                    let variables = &*variables;
                    up.changed(place, variables.up(place), |place| variables.up(place));
                    low.changed(place, variables.low(place), |place| variables.low(place));
                }
            }
        }
    }
}
