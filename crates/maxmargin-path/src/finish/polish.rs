//! The finish: a primal active-set method on the same factor, which takes a feasible point to an
//! exact optimum.
//!
//! ```text
//!   1  r ← residuals from exact kernel values
//!   2  solve the margin: Newton steps on r_M = 0, Σ β = d, each cut at the first bound, at which
//!      a sample leaves
//!   3  let samples with a residual of the wrong sign enter the margin; go to 2
//!   4  if none is wrong: recompute r; stop if none is wrong then
//! ```
//!
//! Every call of the path ends here. After a complete walk only the margin is refined and the
//! result checked. After an incomplete walk, or from another solver's solution, sets are corrected
//! until none is wrong.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::state::{Place, State, StepCounts};

/// An α within this share of C from a bound counts as on it: paths leave as much rounding. Without
/// C only 0 itself is a bound.
const AT_BOUND: f64 = 1e-12;

/// Returns the distance from a bound of `[0, c]` that counts as the bound.
fn strip(c: f64) -> f64 {
    if c.is_finite() { AT_BOUND * c } else { 0.0 }
}

/// The violation that counts as exact, in units of the residual `y f − 1`.
pub(crate) const EXACT: f64 = 1e-8;
/// The violation that the finish works towards.
const AIM: f64 = 1e-10;
/// The violation below which the active set is faster than pairwise descent.
const NEAR: f64 = 1e-3;

impl State {
    /// Returns the violation that counts as exact: 10⁻⁸ times the largest target (1 for
    /// classification), or the rounding of a sum with these coefficients if that is larger.
    pub(crate) fn tolerance(&self) -> f64 {
        (EXACT * self.unit()).max(4.0 * self.floor())
    }

    /// Returns the largest target.
    fn unit(&self) -> f64 {
        let unit = self.members().fold(0.0_f64, |m, s| m.max(self.target[s].abs()));
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// Returns the largest |r| in the margin, and fills `list` with the residuals of the wrong sign
    /// outside it, worst first.
    fn wrong(&self, tol: f64, list: &mut Vec<(f64, usize)>) -> f64 {
        list.clear();
        for (slot, (side, r)) in self.side.iter().zip(&self.residual).enumerate() {
            if side * r < -tol {
                list.push((r.abs(), slot));
            }
        }
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        self.margin.iter().map(|&j| self.residual[j].abs()).fold(0.0, f64::max)
    }

    /// Corrects sets and coefficients until every residual is right, and confirms that by
    /// recomputed ones. Returns the violation reached.
    ///
    /// If the active set does not get there, pairwise descent brings the point nearer and it tries
    /// again, twice.
    pub(crate) fn polish(&mut self, pool: Pool, counts: &mut StepCounts) -> Result<f64, PathError> {
        let mut near = NEAR * self.unit();
        for _ in 0..3 {
            self.correct(pool, counts.repairs + 4 * self.slots() + 1000, counts)?;
            let kkt = self.checked_violation();
            if kkt <= self.tolerance() {
                return Ok(kkt);
            }
            near /= 100.0;
            self.margin.clear();
            let interior = self.approach(pool, near)?;
            if !self.rebuild(pool, interior, counts)? {
                break;
            }
        }
        self.refresh(pool)?;
        Ok(self.checked_violation())
    }

    /// Runs the active set, with at most `limit` changes of the sets in all.
    fn correct(&mut self, pool: Pool, limit: usize, counts: &mut StepCounts) -> Result<(), PathError> {
        let tol = (self.tolerance() * (AIM / EXACT)).max(self.floor() / 4.0);
        let mut wrong = Vec::new();
        let mut batch = 1 + self.margin.len() / 8;
        let (mut fresh, mut rounds, mut idle) = (true, 0, 0);
        self.refresh(pool)?;
        let mut best_free = f64::INFINITY;
        loop {
            pool.control.check(8 * self.slots() as u64)?;
            if self.margin.is_empty() && !self.centre(tol) {
                // Two bounded samples contradict each other: one becomes free, the other follows in
                // a later round.
                let Some(slot) = self.lowest() else { break };
                if !self.enter(pool, slot)? {
                    break;
                }
                counts.repairs += 1;
            }
            let free = self.wrong(tol, &mut wrong);
            let balance = self.lack().abs() > 1e-13 * self.beta.iter().map(|b| b.abs()).sum::<f64>();
            let unsolved = !self.margin.is_empty() && (free > tol || (balance && idle < 3));
            if !unsolved && wrong.is_empty() {
                if fresh {
                    break;
                }
                self.refresh(pool)?;
                fresh = true;
                continue;
            }
            rounds += 1;
            if counts.repairs > limit || rounds > limit + 32 || idle > 16 + self.margin.len() {
                break;
            }
            fresh = false;
            let repairs = counts.repairs;
            if unsolved {
                self.solve_margin(pool, counts)?;
                if counts.repairs > repairs || free < 0.5 * best_free {
                    (idle, best_free) = (0, free);
                    continue;
                }
                idle += 1;
                if idle == 3 && !self.refactor(pool, counts)? {
                    break;
                }
                continue;
            }
            best_free = f64::INFINITY;
            let changed = self.admit_wrong(pool, &wrong, &mut batch, counts)?;
            idle = if changed { 0 } else { idle + 1 };
        }
        if !fresh {
            self.refresh(pool)?;
        }
        self.settle_bias(pool, tol)
    }

    /// Moves up to `batch` of the `wrong` samples into the margin and solves it (steps 3 and 2).
    /// Returns true if the margin changed, and adapts `batch`.
    fn admit_wrong(
        &mut self,
        pool: Pool,
        wrong: &[(f64, usize)],
        batch: &mut usize,
        counts: &mut StepCounts,
    ) -> Result<bool, PathError> {
        let repairs = counts.repairs;
        let before = self.margin.clone();
        for (place, &(_, slot)) in wrong.iter().take(*batch).enumerate() {
            let direction = if self.residual[slot] < 0.0 { 1.0 } else { -1.0 };
            // An exchange descends only while the margin is solved: only for the first of the
            // batch.
            if self.enter(pool, slot)? || (place == 0 && self.exchange(pool, slot, direction, counts)?) {
                counts.repairs += 1;
            } else {
                break;
            }
        }
        let entered = counts.repairs - repairs;
        self.solve_margin(pool, counts)?;
        let changed = self.margin != before;
        // New samples that left again at once mean that the batch was too large.
        let left = counts.repairs - repairs - entered;
        *batch = if 2 * left > entered { (*batch / 4).max(1) } else { (2 * *batch).min(256) };
        Ok(changed)
    }

    /// Sets the bias to the middle of its interval if every margin sample is on a bound. The margin
    /// does not decide the bias then, so equal members give equal models by every path.
    fn settle_bias(&mut self, pool: Pool, tol: f64) -> Result<(), PathError> {
        let nearer_far = |s: usize| self.room(s, self.sign[s]) < self.room(s, -self.sign[s]);
        let distance = |s: usize| self.room(s, 1.0).min(self.room(s, -1.0));
        let idle = |s: usize| distance(s) <= strip(self.far[s].abs());
        // A share of a large C may be more than every α: a move to the bound must not be seen in
        // the residuals.
        let moved: f64 = self.margin.iter().map(|&s| distance(s)).sum();
        if self.reach * moved <= tol && self.margin.iter().all(|&s| idle(s)) {
            let ends: Vec<bool> = self.margin.iter().map(|&s| nearer_far(s)).collect();
            for (k, far) in ends.into_iter().enumerate().rev() {
                self.leave(pool, k, far)?;
            }
            if moved > 0.0 {
                self.refresh(pool)?;
            }
            self.centre(tol.max(self.tolerance()));
        }
        Ok(())
    }

    /// Factors the margin anew and recomputes the residuals, after the factor has lost too many
    /// digits.
    fn refactor(&mut self, pool: Pool, counts: &mut StepCounts) -> Result<bool, PathError> {
        let slots = std::mem::take(&mut self.margin);
        let done = self.rebuild(pool, slots, counts)?;
        self.refresh(pool)?;
        Ok(done)
    }

    /// Returns the sample with the smallest residual among those that require `r ≥ 0`.
    fn lowest(&self) -> Option<usize> {
        (0..self.slots()).filter(|&s| self.side[s] > 0.0).min_by(|&a, &b| self.residual[a].total_cmp(&self.residual[b]))
    }

    /// Minimises over the margin by Newton steps, each cut at the first bound, whose sample then
    /// leaves (step 2). Updates every residual.
    fn solve_margin(&mut self, pool: Pool, counts: &mut StepCounts) -> Result<(), PathError> {
        let mut targets: Vec<f64> = self.margin.iter().map(|&j| self.residual[j]).collect();
        let mut before: Vec<(usize, f64)> = self.margin.iter().map(|&j| (j, self.beta[j])).collect();
        let bias = self.bias;
        let mut step = std::mem::take(&mut self.step);
        while !self.margin.is_empty() {
            let m = self.margin.len() as u64;
            pool.control.check(2 * m * m)?;
            step.clear();
            step.extend(targets.iter().map(|r| -r));
            let lack = self.lack();
            let bias_step = self.factor.solve(&mut step, lack);
            let (mut theta, mut leaving) = (1.0, None);
            for (k, (&slot, v)) in self.margin.iter().zip(&step).enumerate() {
                let room = self.room(slot, v.signum());
                if v.abs() * theta > room {
                    theta = room / v.abs();
                    leaving = Some((k, *v));
                }
            }
            for (&slot, v) in self.margin.iter().zip(&step) {
                self.beta[slot] += theta * v;
            }
            self.bias += theta * bias_step;
            for r in &mut targets {
                *r *= 1.0 - theta;
            }
            let Some((k, v)) = leaving else { break };
            let far = (v > 0.0) == (self.sign[self.margin[k]] > 0.0);
            self.leave(pool, k, far)?;
            targets.remove(k);
            counts.repairs += 1;
        }
        self.step = step;
        before.retain_mut(|(slot, value)| {
            *value = self.beta[*slot] - *value;
            *value != 0.0
        });
        let by = self.bias - bias;
        self.residual.iter_mut().for_each(|r| *r += by);
        self.columns.accumulate(pool, &self.seats, &before, &mut self.residual)?;
        Ok(())
    }

    /// Jumps to the end of the path. Removed samples get 0, added ones stay at their present value,
    /// bounds are final, and the samples nearest to the margin restore the equality constraint.
    /// With `descend`, pairwise descent follows if the point is far from optimal. [`State::polish`]
    /// completes the work.
    pub(crate) fn jump(&mut self, pool: Pool, descend: bool, counts: &mut StepCounts) -> Result<(), PathError> {
        self.settle_places();
        let mut free = std::mem::take(&mut self.margin);
        free.extend((0..self.slots()).filter(|&s| self.place[s] == Place::Adding));
        let mut interior = self.sort_out(free);
        self.restore_balance(&mut interior);
        self.refresh(pool)?;
        if descend && self.violation() > NEAR * self.unit() {
            interior = self.approach(pool, NEAR * self.unit())?;
        }
        self.rebuild(pool, interior, counts)?;
        Ok(())
    }

    /// Descends to a violation of `tol` with a limited effort; returns the free samples.
    fn approach(&mut self, pool: Pool, tol: f64) -> Result<Vec<usize>, PathError> {
        self.descend(pool, tol, 100 * self.slots() + 10_000)?;
        let members = self.members().collect();
        let interior = self.sort_out(members);
        self.refresh(pool)?;
        self.bias_from(&interior);
        Ok(interior)
    }

    /// Sets the bias that the mean residual of `free` implies.
    pub(crate) fn bias_from(&mut self, free: &[usize]) {
        if !free.is_empty() {
            self.shift(-free.iter().map(|&s| self.residual[s]).sum::<f64>() / free.len() as f64);
        }
    }

    /// Puts those of `slots` that are on a bound there; returns the others.
    fn sort_out(&mut self, slots: Vec<usize>) -> Vec<usize> {
        let mut interior = Vec::new();
        for slot in slots {
            let (alpha, c) = self.alpha(slot);
            if alpha <= strip(c) {
                self.beta[slot] = 0.0;
                self.set_place(slot, Place::Zero);
            } else if alpha >= c * (1.0 - AT_BOUND) {
                self.beta[slot] = self.far[slot];
                self.set_place(slot, Place::Upper);
            } else {
                interior.push(slot);
            }
        }
        interior
    }

    /// Ends all motion: bounds and driven samples move to their ends, velocities become 0. Removed
    /// samples are vacated.
    fn settle_places(&mut self) {
        self.tau = 1.0;
        for ramp in std::mem::take(&mut self.bounds) {
            self.far[ramp.slot] = ramp.to;
            self.far_rate[ramp.slot] = 0.0;
            self.rate[ramp.slot] = 0.0;
            if self.place[ramp.slot] == Place::Upper {
                self.beta[ramp.slot] = ramp.to;
            }
            // At a bound of 0 no residual is required: see `set_place`.
            let place = if self.place[ramp.slot] == Place::Upper && ramp.to == 0.0 { Place::Zero } else { self.place[ramp.slot] };
            self.set_place(ramp.slot, place);
        }
        for ramp in std::mem::take(&mut self.driven) {
            self.rate[ramp.slot] = 0.0;
            if self.place[ramp.slot] == Place::Removing {
                self.beta[ramp.slot] = 0.0;
                if ramp.stays {
                    self.far[ramp.slot] = 0.0;
                    self.set_place(ramp.slot, Place::Zero);
                } else {
                    self.vacate(ramp.slot);
                }
            }
        }
        self.drive.fill(0.0);
        self.inflow = 0.0;
    }

    /// Completes a walk that reached its end: as [`State::jump`], but every added sample is at C.
    pub(crate) fn arrive(&mut self) {
        let driven = self.driven.clone();
        self.settle_places();
        for ramp in driven {
            if self.place[ramp.slot] == Place::Adding {
                self.beta[ramp.slot] = ramp.to;
                self.set_place(ramp.slot, Place::Upper);
            }
        }
        // A moving bound may pass the margin by a rounding error more than the last step.
        for &slot in &self.margin {
            let (alpha, c) = self.alpha(slot);
            self.beta[slot] = self.sign[slot] * alpha.min(c);
        }
    }

    /// Restores `Σ β = sum`: by free samples first, then by those with the smallest residuals.
    /// Samples that end inside their box join `interior`.
    fn restore_balance(&mut self, interior: &mut Vec<usize>) {
        let mut lack = self.lack();
        let mut inside = vec![false; self.slots()];
        interior.iter().for_each(|&s| inside[s] = true);
        let mut order: Vec<usize> = self.members().filter(|&s| self.place[s] != Place::Margin && !inside[s]).collect();
        order.sort_by(|&a, &b| self.residual[a].abs().total_cmp(&self.residual[b].abs()).then(a.cmp(&b)));
        for slot in interior.clone().into_iter().chain(order) {
            if lack == 0.0 {
                break;
            }
            let room = self.room(slot, lack.signum());
            let by = room.min(lack.abs()) * lack.signum();
            if by == 0.0 {
                continue;
            }
            lack -= by;
            if room == by.abs() {
                let far = (by > 0.0) == (self.sign[slot] > 0.0);
                self.beta[slot] = if far { self.far[slot] } else { 0.0 };
                self.set_place(slot, if far { Place::Upper } else { Place::Zero });
            } else {
                self.beta[slot] += by;
                if !inside[slot] {
                    interior.push(slot);
                }
            }
        }
        interior.retain(|&s| self.room(s, 1.0) > 0.0 && self.room(s, -1.0) > 0.0);
    }
}
