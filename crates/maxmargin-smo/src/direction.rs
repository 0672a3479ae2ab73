//! Conjugate steps: each goes along its pair and, as conjugate gradients do, along the last step.
//!
//! A step on a pair undoes part of what the steps before it have gained, and where `C` is large
//! most steps are such repairs. Torres-Barrán, Alaíz and Dorronsoro (2021, Faster SVM training via
//! conjugate SMO) go along `d = e_i − e_j + turn · p` instead, where `p` is the last direction and
//! `turn` makes both conjugate, `dᵀ K p = 0`: the gain along `p` stays. It costs `q = K p` for all
//! variables, which follows from the rows of the pair, and the moves of all variables that `p` has
//! come to hold. A step that meets a bound ends the direction.

use maxmargin_simd::moves::{Between, moved};

/// Steps in which a direction is tried, and after which it is judged.
const TRIAL: u32 = 128;

/// Steps on pairs alone after a trial that saved too little.
const REST: u32 = 2048;

/// Share of a step's curvature that conjugate steps are to save on average. `q` makes an iteration
/// up to a third dearer; over a9a, w8a and ijcnn1 a share of 0.04 stands for a fifth of the
/// iterations, 0.1 for half.
const SAVES: f64 = 0.03;

/// No variable of the direction.
const NONE: u32 = u32::MAX;

/// The last direction, and the variables that it holds: those are between their bounds.
#[derive(Debug)]
pub(crate) struct Direction {
    /// `pᵀ K p`; 0 where there is no direction.
    length: f64,
    places: Vec<usize>,
    p: Vec<f64>,
    /// `s α` of them; what the state has is from before the direction.
    beta: Vec<f64>,
    /// Bounds of `s α`.
    least: Vec<f64>,
    most: Vec<f64>,
    /// Where a step would take them.
    moved: Vec<f64>,
    /// Where a place is among them.
    slot: Vec<u32>,
    /// Steps to go on pairs alone, or of a trial.
    resting: u32,
    trial: u32,
    saved: f64,
}

/// How far a step along a direction goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reach {
    /// As far as wanted, between all bounds.
    Free,
    /// This far, where a variable meets its bound.
    Bound(f64),
}

impl Direction {
    /// No direction over so many places.
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

    /// Whether steps are on pairs alone for now.
    pub(crate) fn rests(&self) -> bool {
        self.resting > 0
    }

    /// `pᵀ K p` where there is a direction.
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

    /// `s α` at a place that the direction holds.
    pub(crate) fn beta(&self, place: usize) -> Option<f64> {
        self.beta.get(self.slot[place] as usize).copied()
    }

    /// The places that the direction holds with their `s α`.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, f64)> {
        self.places.iter().copied().zip(self.beta.iter().copied())
    }

    /// Holds a place whose `s α` is `beta`, between bounds.
    pub(crate) fn hold(&mut self, place: usize, beta: f64, (least, most): (f64, f64)) {
        if self.slot[place] == NONE {
            self.slot[place] = self.places.len() as u32;
            self.places.push(place);
            self.p.push(0.0);
            self.beta.push(beta);
            self.least.push(least);
            self.most.push(most);
        }
    }

    /// Takes a multiple of the last direction with `pair`, which it holds, and moves everything
    /// `wanted` along it, or to the first bound; the direction has this curvature.
    pub(crate) fn go(&mut self, turn: f64, pair: [(usize, f64); 2], wanted: f64, curvature: f64) -> Reach {
        self.length = curvature;
        let Self { beta, least, most, p, moved: to, slot, .. } = &mut *self;
        to.resize(p.len(), 0.0);
        let mut outside = moved(Between { at: beta, least, most }, p, turn, wanted, to);
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

    /// Forgets the direction.
    pub(crate) fn end(&mut self) {
        self.length = 0.0;
        self.places.drain(..).for_each(|place| self.slot[place] = NONE);
        [&mut self.p, &mut self.beta, &mut self.least, &mut self.most].into_iter().for_each(Vec::clear);
    }

    /// Bounds of `s α` of a sign.
    pub(crate) fn bounds(sign: f64, upper: f64) -> (f64, f64) {
        if sign > 0.0 { (0.0, upper) } else { (-upper, 0.0) }
    }
}
