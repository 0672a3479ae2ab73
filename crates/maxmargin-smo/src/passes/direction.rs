//! Conjugate steps: each moves along its pair and along the last direction, as in conjugate
//! gradients.
//!
//! The notation of Torres-Barrán, Alaíz and Dorronsoro (2021, Faster SVM training via conjugate
//! SMO), with the last direction `p`, `q = K p` and `δ = pᵀ K p`:
//!
//! ```text
//!   1  i ← argmin f over I_up
//!   2  j ← argmax (f_j − f_i)² / (a_ij − (q_i − q_j)² / δ) over I_low
//!   3  β ← −(q_i − q_j) / δ;  p ← e_i − e_j + β p;  δ ← a_ij − (q_i − q_j)² / δ
//!   4  t ← (f_j − f_i) / δ, cut where the first variable of p meets a bound
//!   5  s ∘ α += t p;  q ← K_i − K_j + β q;  f += t q
//!   6  if t was cut: p ← 0
//! ```
//!
//! A step on a pair undoes part of the gain of the steps before it. Where `C` is large, most steps
//! only repair that. The factor `β` makes the new direction conjugate to the last (`dᵀ K p = 0`),
//! so the gain along `p` remains. The cost is the vector `q` over all variables, which follows from
//! the two rows of the pair, and the moves of all variables that `p` contains.

use maxmargin_simd::moves::{Between, moved};

/// The number of steps of a trial. After it the savings decide whether conjugate steps continue.
const TRIAL: u32 = 128;

/// The number of plain pair steps after a trial that saved too little.
const REST: u32 = 2048;

/// The share of a step's curvature that conjugate steps must save on average. Updating `q` makes an
/// iteration up to a third slower. Over a9a, w8a and ijcnn1 a share of 0.04 means a fifth fewer
/// iterations, 0.1 half.
const SAVES: f64 = 0.03;

/// The steps between two removals of faded places, and the fewest places from which they pay.
const BETWEEN: u32 = 64;
const MANY: usize = 256;

/// The share of the largest entry of `p` below which an entry has faded: no step along it changes a
/// digit. Every step multiplies all earlier entries by `β`, which is mostly between −1 and 1.
const FADED: f64 = f64::EPSILON * f64::EPSILON;

/// The slot of a place that is not in the direction.
const NONE: u32 = u32::MAX;

/// The last direction and its variables, which are all between their bounds.
#[derive(Debug)]
pub(crate) struct Direction {
    /// The curvature `δ = pᵀ K p`; 0 if there is no direction.
    length: f64,
    places: Vec<usize>,
    p: Vec<f64>,
    /// The values `s α` of the places. The state's α of them is from before the direction.
    beta: Vec<f64>,
    /// The bounds of `s α`.
    least: Vec<f64>,
    most: Vec<f64>,
    /// The values `s α` after the next step, before it is accepted.
    moved: Vec<f64>,
    /// The index in `places` of each place, or [`NONE`].
    slot: Vec<u32>,
    /// The remaining plain steps, and the steps of the current trial.
    resting: u32,
    trial: u32,
    saved: f64,
}

/// The length of a step along a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// The full step: all variables stay between their bounds.
    Free,
    /// A shorter step, at which a variable meets its bound.
    Bound(f64),
}

impl Direction {
    /// Creates an empty direction over so many places.
    pub(crate) fn new(places: usize) -> Self {
        let slot = vec![NONE; places];
        Self {
            length: 0.0,
            places: vec![],
            p: vec![],
            beta: vec![],
            least: vec![],
            most: vec![],
            moved: vec![],
            slot,
            resting: 0,
            trial: 0,
            saved: 0.0,
        }
    }

    /// Returns true while steps are on pairs alone.
    pub(crate) fn rests(&self) -> bool {
        self.resting > 0
    }

    /// Returns `pᵀ K p` if there is a direction.
    pub(crate) fn length(&self) -> Option<f64> {
        (self.length > 0.0).then_some(self.length)
    }

    /// Counts a step that saved this share of its curvature.
    pub(crate) fn count(&mut self, saved: f64) {
        if self.resting > 0 {
            self.resting -= 1;
            return;
        }
        self.trial += 1;
        self.saved += saved;
        if self.trial == TRIAL {
            if self.saved < SAVES * f64::from(TRIAL) {
                self.resting = REST;
            }
            (self.trial, self.saved) = (0, 0.0);
        }
    }

    /// Returns `s α` at a place of the direction.
    pub(crate) fn beta(&self, place: usize) -> Option<f64> {
        self.beta.get(self.slot[place] as usize).copied()
    }

    /// Returns the places of the direction with their `s α`.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, f64)> {
        self.places.iter().copied().zip(self.beta.iter().copied())
    }

    /// Adds a place whose `s α` is `beta`, with its bounds.
    pub(crate) fn hold(&mut self, place: usize, beta: f64, bounds: [f64; 2]) {
        let [least, most] = bounds;
        if self.slot[place] == NONE {
            self.slot[place] = self.places.len() as u32;
            self.places.push(place);
            self.p.push(0.0);
            self.beta.push(beta);
            self.least.push(least);
            self.most.push(most);
        }
    }

    /// From time to time, removes the places along which steps no longer move, and calls
    /// `settle(place, s α)` for each.
    pub(crate) fn fade(&mut self, mut settle: impl FnMut(usize, f64)) {
        if self.places.len() < MANY || !self.trial.is_multiple_of(BETWEEN) {
            return;
        }
        let most = self.p.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
        let mut kept = 0;
        for k in 0..self.places.len() {
            let place = self.places[k];
            if self.p[k].abs() <= FADED * most {
                settle(place, self.beta[k]);
                self.slot[place] = NONE;
                continue;
            }
            self.slot[place] = kept as u32;
            self.places[kept] = place;
            for values in [&mut self.p, &mut self.beta, &mut self.least, &mut self.most] {
                values[kept] = values[k];
            }
            kept += 1;
        }
        self.places.truncate(kept);
        [&mut self.p, &mut self.beta, &mut self.least, &mut self.most].into_iter().for_each(|values| values.truncate(kept));
    }

    /// Makes the new direction `p ← pair + conjugate_beta · p` with this curvature, and moves `s α`
    /// by `wanted · p`, or less if a variable meets a bound (steps 3 to 5). Both places of the pair
    /// must be in the direction.
    pub(crate) fn step_along(&mut self, conjugate_beta: f64, pair: [(usize, f64); 2], wanted: f64, curvature: f64) -> Reach {
        self.length = curvature;
        let Self { beta, least, most, p, moved: to, slot, .. } = &mut *self;
        to.resize(p.len(), 0.0);
        let mut outside = moved(Between { at: beta, least, most }, p, conjugate_beta, wanted, to);
        for (place, amount) in pair {
            let k = slot[place] as usize;
            let inside = |value: f64| value > least[k] && value < most[k];
            outside -= usize::from(!inside(to[k]));
            p[k] += amount;
            to[k] = beta[k] + wanted * p[k];
            outside += usize::from(!inside(to[k]));
        }
        if outside == 0 {
            std::mem::swap(beta, to);
            return Reach::Free;
        }
        let (mut step, mut first) = (wanted, NONE as usize);
        for k in 0..self.p.len() {
            let room = if self.p[k] > 0.0 { self.most[k] - self.beta[k] } else { self.least[k] - self.beta[k] };
            let most = room / self.p[k];
            if self.p[k] != 0.0 && most <= step {
                (step, first) = (most, k);
            }
        }
        for k in 0..self.p.len() {
            let moved = (self.beta[k] + step * self.p[k]).clamp(self.least[k], self.most[k]);
            let bound = if self.p[k] > 0.0 { self.most[k] } else { self.least[k] };
            self.beta[k] = if k == first { bound } else { moved };
        }
        Reach::Bound(step)
    }

    /// Removes all places: the next step begins a new direction.
    pub(crate) fn end(&mut self) {
        self.length = 0.0;
        self.places.drain(..).for_each(|place| self.slot[place] = NONE);
        [&mut self.p, &mut self.beta, &mut self.least, &mut self.most].into_iter().for_each(Vec::clear);
    }

    /// Returns the bounds of `s α` for a sign.
    pub(crate) fn bounds(sign: f64, upper: f64) -> [f64; 2] {
        if sign > 0.0 { [0.0, upper] } else { [-upper, 0.0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faded_places_leave_a_long_direction() {
        let mut direction = Direction::new(1000);
        let bounds = Direction::bounds(1.0, 1e3);
        // Each step shrinks what was there to a tenth: 32 steps are more than all digits.
        for place in 0..600 {
            direction.hold(place, 1.0, bounds);
            assert_eq!(direction.step_along(0.1, [(place, 1.0), (place, 0.0)], 0.5, 1.0), Reach::Free);
            direction.count(1.0);
        }
        let whole: Vec<(usize, f64)> = direction.held().collect();
        assert_eq!(whole.len(), 600);
        let mut settled = Vec::new();
        direction.fade(|place, beta| settled.push((place, beta)));
        assert!(settled.is_empty(), "not due");
        while !direction.trial.is_multiple_of(BETWEEN) {
            direction.count(1.0);
        }
        direction.fade(|place, beta| settled.push((place, beta)));
        settled.extend(direction.held());
        assert_eq!(settled, whole);
        let left = direction.held().count();
        assert!((30..34).contains(&left), "{left}");
        for (place, beta) in whole {
            assert_eq!(direction.beta(place), (place >= 600 - left).then_some(beta), "{place}");
        }
    }
}
