//! The beginning of a path: the velocity of each sample (Karasuyama and Takeuchi 2009, equations 3
//! and 4), and a state from a solution.

use crate::pool::Pool;
use crate::update::{Added, PathError};
use crate::walk::state::{Place, Ramp, State, StepCounts};
use maxmargin_core::{Solution, Status, Work};

impl State {
    /// Sets up the path that adds, removes and moves bounds. Returns false if nothing has to move:
    /// the change is then complete.
    pub(crate) fn begin(
        &mut self,
        pool: Pool,
        labels: &[f64],
        add: &[Added],
        remove: &[usize],
        bounds: &[(usize, f64)],
        counts: &mut StepCounts,
    ) -> Result<bool, PathError> {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        self.thin_margin(pool, remove, counts)?;
        for &id in remove {
            if let Some(slot) = self.slot(id) {
                self.expel(pool, slot, false, &mut terms)?;
            }
        }
        self.admit_members(pool, labels, add, &mut terms)?;
        for &(id, upper) in bounds {
            if let Some(slot) = self.slot(id) {
                self.move_bound(pool, slot, upper, &mut terms)?;
            }
        }
        for &(slot, rate) in &terms {
            self.rate[slot] = rate;
        }
        self.columns.accumulate(pool, &self.seats, &terms, &mut self.drive)?;
        self.inflow = maxmargin_core::dense::exact_sum(terms.iter().map(|t| t.1));
        let moves = !self.driven.is_empty() || !self.bounds.is_empty();
        self.tau = if moves { 0.0 } else { 1.0 };
        Ok(moves)
    }

    /// Takes removed samples out of the margin in one rebuild of the factor, if that is faster than
    /// deleting them one by one.
    fn thin_margin(&mut self, pool: Pool, remove: &[usize], counts: &mut StepCounts) -> Result<(), PathError> {
        let leaves: Vec<usize> =
            remove.iter().filter_map(|&id| self.slot(id)).filter(|&s| self.place[s] == Place::Margin).collect();
        if leaves.len() > 8 + self.margin.len() / 8 {
            for &slot in &leaves {
                self.set_place(slot, Place::Removing);
            }
            let stay = self.margin.iter().copied().filter(|&s| self.place[s] == Place::Margin).collect();
            // The factor of a part of a margin exists if that of the whole did. If rounding
            // prevents it, the walk ends at once and the finish repairs the model.
            self.rebuild(pool, stay, counts)?;
        }
        Ok(())
    }

    /// Removes `slot`: at once if its α is 0, otherwise by driving α to 0.
    fn expel(&mut self, pool: Pool, slot: usize, stays: bool, terms: &mut Vec<(usize, f64)>) -> Result<(), PathError> {
        // A free sample that could not be factored (with an indefinite kernel) is not in the list.
        let listed = (self.place[slot] == Place::Margin).then(|| self.margin.iter().position(|&j| j == slot)).flatten();
        if let Some(k) = listed {
            let m = self.margin.len() as u64;
            pool.control.check(m * m)?;
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
        Ok(())
    }

    /// Adds new samples: those with y f ≥ 1 join `O` at once, the others are driven towards C.
    fn admit_members(
        &mut self,
        pool: Pool,
        labels: &[f64],
        add: &[Added],
        terms: &mut Vec<(usize, f64)>,
    ) -> Result<(), PathError> {
        if add.is_empty() {
            return Ok(());
        }
        let entries: Vec<_> = add.iter().map(|a| (a.id, labels[a.id], labels[a.id], a.upper)).collect();
        let slots = self.seat(&entries);
        let Self { place, beta, bias, target, residual, columns, seats, .. } = self;
        columns.admit(
            pool,
            seats,
            &slots,
            |s| place[s] == Place::Margin,
            |slot, column| {
                // By symmetry the new column is the new row, so the decision value follows from it.
                residual[slot] = maxmargin_core::dense::dot(column, beta) + *bias - target[slot];
            },
        )?;
        if self.margin.is_empty() {
            self.welcome(&slots);
        }
        for slot in slots {
            self.drive_in(slot, terms);
        }
        Ok(())
    }

    /// Moves the bias for new samples if the margin is empty and the bias is free within an
    /// interval. If all new samples on the wrong side pull it in one direction, it moves there as
    /// far as the others allow.
    fn welcome(&mut self, slots: &[usize]) {
        let mut new = vec![false; self.slots()];
        slots.iter().for_each(|&s| new[s] = true);
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut up, mut down) = (0.0_f64, 0.0_f64);
        for (s, new) in new.into_iter().enumerate() {
            let r = self.residual[s];
            if new && self.far[s] != 0.0 {
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
    fn move_bound(&mut self, pool: Pool, slot: usize, upper: f64, terms: &mut Vec<(usize, f64)>) -> Result<(), PathError> {
        let (old, new) = (self.far[slot], self.sign[slot] * upper);
        if old == new {
            return Ok(());
        }
        if new == 0.0 {
            self.expel(pool, slot, true, terms)?;
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
        Ok(())
    }

    /// Adds the members `entries` with `alpha` (clipped to the box) and factors the free ones.
    pub(crate) fn take(
        &mut self,
        pool: Pool,
        entries: &[(usize, f64, f64, f64)],
        alpha: &[f64],
        counts: &mut StepCounts,
    ) -> Result<(), PathError> {
        let slots = self.seat(entries);
        self.replace(pool, &slots, alpha, counts)
    }

    /// Replaces the coefficients of all members `slots`. The sets follow from the coefficients.
    pub(crate) fn replace(
        &mut self,
        pool: Pool,
        slots: &[usize],
        alpha: &[f64],
        counts: &mut StepCounts,
    ) -> Result<(), PathError> {
        self.margin = slots.to_vec();
        for (&slot, a) in slots.iter().zip(alpha) {
            self.beta[slot] = self.sign[slot] * a.clamp(0.0, self.far[slot].abs());
            self.set_place(slot, Place::Margin);
        }
        self.bias = 0.0;
        self.refresh(pool)?;
        let free: Vec<usize> = slots.iter().copied().filter(|&s| self.room(s, 1.0) > 0.0 && self.room(s, -1.0) > 0.0).collect();
        self.bias_from(&free);
        self.jump(pool, true, counts)
    }

    /// Returns the coefficients, by ascending id.
    pub(crate) fn solution(&self, status: Status, work: Work) -> Solution {
        Solution {
            alpha: self.members().map(|s| self.alpha(s).0).collect(),
            bias: self.bias,
            gradient: self.members().map(|s| self.sign[s] * (self.residual[s] - self.bias)).collect(),
            status,
            work,
            weights: None,
        }
    }
}
