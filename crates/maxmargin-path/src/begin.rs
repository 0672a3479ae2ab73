//! The beginning of a path: who moves where (Karasuyama and Takeuchi 2009, equations 3 and 4), and a state from a solution.

use crate::state::{Place, Ramp, State, Tally};
use crate::update::Added;
use maxmargin_core::{Solution, Status, Work};
use maxmargin_kernel::Gram;

impl State {
    /// Sets the path up that adds, removes and moves bounds. False when nothing has to move: then all is done.
    pub(crate) fn begin(
        &mut self,
        gram: &dyn Gram,
        labels: &[f64],
        add: &[Added],
        remove: &[usize],
        bounds: &[(usize, f64)],
        tally: &mut Tally,
    ) -> bool {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        self.thin_margin(gram, remove, tally);
        for &id in remove {
            if let Some(slot) = self.slot(id) {
                self.expel(slot, false, &mut terms);
            }
        }
        self.admit_members(gram, labels, add, &mut terms);
        for &(id, upper) in bounds {
            if let Some(slot) = self.slot(id) {
                self.move_bound(slot, upper, &mut terms);
            }
        }
        for &(slot, rate) in &terms {
            self.rate[slot] = rate;
        }
        self.columns.accumulate(gram, &self.seats, &terms, &mut self.drive);
        self.inflow = maxmargin_core::dense::exact_sum(terms.iter().map(|t| t.1));
        let moves = !self.driven.is_empty() || !self.bounds.is_empty();
        self.tau = if moves { 0.0 } else { 1.0 };
        moves
    }

    /// Takes removed samples out of the margin all at once where that is quicker than deleting them from the factor one by one.
    fn thin_margin(&mut self, gram: &dyn Gram, remove: &[usize], tally: &mut Tally) {
        let leaves: Vec<usize> =
            remove.iter().filter_map(|&id| self.slot(id)).filter(|&s| self.place[s] == Place::Margin).collect();
        if leaves.len() > 8 + self.margin.len() / 8 {
            for &slot in &leaves {
                self.set_place(slot, Place::Removing);
            }
            let stay = self.margin.iter().copied().filter(|&s| self.place[s] == Place::Margin).collect();
            // Part of a margin that could be factored can be factored; should rounding say no, the walk ends at once and the finish mends it.
            self.rebuild(gram, stay, tally);
        }
    }

    /// Lets `slot` go: at once when its α is 0, else by driving α there.
    fn expel(&mut self, slot: usize, stays: bool, terms: &mut Vec<(usize, f64)>) {
        // A free sample that could not be factored (no kernel then) is not in the list.
        let listed = (self.place[slot] == Place::Margin).then(|| self.margin.iter().position(|&j| j == slot)).flatten();
        if let Some(k) = listed {
            self.factor.remove(k);
            self.margin.remove(k);
        }
        let beta = self.beta[slot];
        if beta != 0.0 {
            self.set_place(slot, Place::Removing);
            self.driven.push(Ramp { slot, from: beta, to: 0.0, stays });
            terms.push((slot, -beta));
        } else if stays {
            self.far[slot] = 0.0;
            self.set_place(slot, Place::Zero);
        } else {
            self.vacate(slot);
        }
    }

    /// Seats new samples: those with y f ≥ 1 are in `O` at once, the others are driven towards C.
    fn admit_members(&mut self, gram: &dyn Gram, labels: &[f64], add: &[Added], terms: &mut Vec<(usize, f64)>) {
        if add.is_empty() {
            return;
        }
        let entries: Vec<_> = add.iter().map(|a| (a.id, labels[a.id], labels[a.id], a.upper)).collect();
        let slots = self.seat(&entries);
        let place = &self.place;
        self.columns.admit(gram, &self.seats, &slots, |s| place[s] == Place::Margin);
        for &slot in &slots {
            // By symmetry the new column is the new row: the decision value comes from it.
            self.residual[slot] =
                maxmargin_core::dense::dot(self.columns.column(slot), &self.beta) + self.bias - self.target[slot];
        }
        if self.margin.is_empty() {
            self.welcome(&slots);
        }
        for slot in slots {
            self.drive_in(slot, terms);
        }
    }

    /// With an empty margin the bias is free within an interval: if the newcomers that it leaves wrong all pull it to one side, it
    /// goes there as far as the others allow.
    fn welcome(&mut self, slots: &[usize]) {
        let new = |s: usize| slots.contains(&s);
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut up, mut down) = (0.0_f64, 0.0_f64);
        for s in 0..self.slots() {
            let r = self.residual[s];
            if new(s) && self.far[s] != 0.0 {
                up = if self.sign[s] > 0.0 { up.max(-r) } else { up };
                down = if self.sign[s] < 0.0 { down.min(-r) } else { down };
            } else if self.side[s] > 0.0 {
                least = least.max(-r);
            } else if self.side[s] < 0.0 {
                most = most.min(-r);
            }
        }
        if (up > 0.0) != (down < 0.0) && least <= most {
            self.shift((up + down).clamp(least, most));
        }
    }

    fn drive_in(&mut self, slot: usize, terms: &mut Vec<(usize, f64)>) {
        let far = self.far[slot];
        if far == 0.0 || self.sign[slot] * self.residual[slot] >= 0.0 {
            self.set_place(slot, Place::Zero);
            return;
        }
        self.set_place(slot, Place::Adding);
        self.driven.push(Ramp { slot, from: 0.0, to: far, stays: true });
        terms.push((slot, far));
    }

    /// Moves the C of `slot` to `upper`. Samples of `I` move with it.
    fn move_bound(&mut self, slot: usize, upper: f64, terms: &mut Vec<(usize, f64)>) {
        let (old, new) = (self.far[slot], self.sign[slot] * upper);
        if old == new {
            return;
        }
        if new == 0.0 {
            self.expel(slot, true, terms);
        } else if old == 0.0 {
            self.far[slot] = new;
            self.drive_in(slot, terms);
        } else if self.place[slot] == Place::Zero {
            self.far[slot] = new;
        } else {
            self.far_rate[slot] = new - old;
            self.bounds.push(Ramp { slot, from: old, to: new, stays: true });
            if self.place[slot] == Place::Upper {
                terms.push((slot, new - old));
            }
        }
    }

    /// Seats `(id, sign, target, C)` with `alpha` (clipped to the box) and factors the free ones.
    pub(crate) fn take(&mut self, gram: &dyn Gram, entries: &[(usize, f64, f64, f64)], alpha: &[f64], tally: &mut Tally) {
        let slots = self.seat(entries);
        self.replace(gram, &slots, alpha, tally);
    }

    /// Gives the members `slots` (all there are) other coefficients, with sets that follow from them. As [`State::take`].
    pub(crate) fn replace(&mut self, gram: &dyn Gram, slots: &[usize], alpha: &[f64], tally: &mut Tally) {
        self.margin = slots.to_vec();
        for (&slot, a) in slots.iter().zip(alpha) {
            self.beta[slot] = self.sign[slot] * a.clamp(0.0, self.far[slot].abs());
            self.set_place(slot, Place::Margin);
        }
        self.bias = 0.0;
        self.refresh(gram);
        let free: Vec<usize> = slots.iter().copied().filter(|&s| self.room(s, 1.0) > 0.0 && self.room(s, -1.0) > 0.0).collect();
        self.bias_from(&free);
        self.jump(gram, true, tally);
    }

    /// The coefficients, by ascending id.
    pub(crate) fn solution(&self, status: Status, work: Work) -> Solution {
        Solution {
            alpha: self.members().map(|s| self.alpha(s).0).collect(),
            bias: self.bias,
            gradient: self.members().map(|s| self.sign[s] * (self.residual[s] - self.bias)).collect(),
            status,
            work,
        }
    }
}
