//! Moves between the sets: into the margin, out of it, and the exchange that replaces an insertion that would be singular.

use crate::state::{Place, State, Tally};
use maxmargin_kernel::Gram;

impl State {
    /// Starts to drive β of `slot` with velocity `rate`.
    pub(crate) fn start_driving(&mut self, gram: &dyn Gram, slot: usize, rate: f64) {
        self.fetch(gram, &[slot]);
        self.rate[slot] = rate;
        self.inflow += rate;
        maxmargin_core::dense::add_scaled(&mut self.drive, rate, self.columns.column(slot));
    }

    /// Takes the velocity of `slot` away.
    pub(crate) fn stop_driving(&mut self, gram: &dyn Gram, slot: usize) {
        let rate = std::mem::replace(&mut self.rate[slot], 0.0);
        if rate != 0.0 {
            self.fetch(gram, &[slot]);
            self.inflow -= rate;
            maxmargin_core::dense::add_scaled(&mut self.drive, -rate, self.columns.column(slot));
        }
    }

    pub(crate) fn fetch(&mut self, gram: &dyn Gram, slots: &[usize]) {
        let place = &self.place;
        self.columns.fetch(gram, &self.seats, slots, |s| place[s] == Place::Margin);
    }

    /// Puts `slot` into the margin; false when the bordered system would become singular.
    pub(crate) fn enter(&mut self, gram: &dyn Gram, slot: usize) -> bool {
        self.fetch(gram, &[slot]);
        let column = self.columns.column(slot);
        if !self.factor.append(self.margin.iter().map(|&j| column[j]), column[slot]) {
            return false;
        }
        self.margin.push(slot);
        self.set_place(slot, Place::Margin);
        true
    }

    /// Takes the `k`-th margin sample out of the margin, to α = C when `far`, to α = 0 otherwise.
    pub(crate) fn leave(&mut self, gram: &dyn Gram, k: usize, far: bool) {
        self.factor.remove(k);
        let slot = self.margin.remove(k);
        self.rest_on_bound(gram, slot, far);
    }

    fn rest_on_bound(&mut self, gram: &dyn Gram, slot: usize, far: bool) {
        let far = far && (self.far[slot] != 0.0 || self.far_rate[slot] != 0.0);
        self.beta[slot] = if far { self.far[slot] } else { 0.0 };
        self.set_place(slot, if far { Place::Upper } else { Place::Zero });
        if far && self.far_rate[slot] != 0.0 {
            self.start_driving(gram, slot, self.far_rate[slot]);
        }
    }

    /// The exact exchange that a singular insertion asks for.
    ///
    /// `slot` (e) is an affine combination of the margin: `K_:e = K_:M z`, `1ᵀz = 1`. Moving β along `(−z, +1)·direction` changes no
    /// residual and no balance. It goes on until `slot` meets its other bound, or a margin sample meets one and leaves, after
    /// which `slot` can enter. Must follow a refused [`State::enter`]. False when that cannot be (no positive semidefinite kernel).
    pub(crate) fn exchange(&mut self, gram: &dyn Gram, slot: usize, direction: f64, tally: &mut Tally) -> bool {
        let mut z = Vec::new();
        for _ in 0..=self.margin.len() {
            if self.margin.is_empty() {
                return false;
            }
            tally.exchanges += 1;
            self.factor.combination(&mut z);
            let noise = 1e-9 * z.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let (mut theta, mut pivot, mut who) = (self.room(slot, direction), 0.0, None);
            for (k, v) in z.iter().enumerate().filter(|(_, v)| v.abs() > noise) {
                let rate = -direction * v;
                let t = self.room(self.margin[k], rate.signum()) / rate.abs();
                if t < theta || (t == theta && who.is_some() && rate.abs() > pivot) {
                    (theta, pivot, who) = (t, rate.abs(), Some((k, rate)));
                }
            }
            if !theta.is_finite() {
                return false;
            }
            for (k, v) in z.iter().enumerate() {
                self.beta[self.margin[k]] -= theta * direction * v;
            }
            self.beta[slot] += theta * direction;
            match who {
                None => {
                    let far = (direction > 0.0) == (self.sign[slot] > 0.0);
                    self.rest_on_bound(gram, slot, far);
                    return true;
                }
                Some((k, rate)) => {
                    let far = (rate > 0.0) == (self.sign[self.margin[k]] > 0.0);
                    self.leave(gram, k, far);
                    if self.enter(gram, slot) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Factors the margin `slots` from nothing. Those that are affine combinations of the others are exchanged away.
    ///
    /// False when that fails.
    pub(crate) fn rebuild(&mut self, gram: &dyn Gram, slots: Vec<usize>, tally: &mut Tally) -> bool {
        self.fetch(gram, &slots);
        self.factor.clear();
        self.margin.clear();
        let columns = &self.columns;
        let matrix = faer::Mat::from_fn(slots.len(), slots.len(), |i, j| columns.column(slots[j])[slots[i]]);
        if self.factor.build(matrix) {
            for &slot in &slots {
                self.set_place(slot, Place::Margin);
            }
            self.margin = slots;
            return true;
        }
        for slot in slots {
            if !self.enter(gram, slot) {
                // Away from the side where its residual is wrong, or, with none, to the nearer bound.
                let r = self.residual[slot];
                let direction = if r == 0.0 { -self.sign[slot] } else { -r.signum() };
                if !self.exchange(gram, slot, direction, tally) {
                    return false;
                }
            }
        }
        true
    }
}
