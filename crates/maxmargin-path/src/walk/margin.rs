//! Moves between the sets: into the margin, out of it, and the exchange that replaces a singular
//! insertion.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::state::{Place, State, StepCounts};
use maxmargin_data::Par;
use std::sync::Arc;

impl State {
    /// Starts to drive β of `slot` with velocity `rate`.
    pub(crate) fn start_driving(&mut self, pool: Pool, slot: usize, rate: f64) -> Result<(), PathError> {
        let column = self.column(pool, slot)?;
        self.rate[slot] = rate;
        self.inflow += rate;
        maxmargin_core::dense::add_scaled(&mut self.drive, rate, &column);
        Ok(())
    }

    /// Sets the velocity of `slot` to 0.
    pub(crate) fn stop_driving(&mut self, pool: Pool, slot: usize) -> Result<(), PathError> {
        let rate = std::mem::replace(&mut self.rate[slot], 0.0);
        if rate != 0.0 {
            let column = self.column(pool, slot)?;
            self.inflow -= rate;
            maxmargin_core::dense::add_scaled(&mut self.drive, -rate, &column);
        }
        Ok(())
    }

    /// Returns the kernel column of `slot`.
    pub(crate) fn column(&mut self, pool: Pool, slot: usize) -> Result<Arc<Vec<f64>>, PathError> {
        let place = &self.place;
        Ok(self.columns.column(pool, &self.seats, slot, |s| place[s] == Place::Margin)?)
    }

    /// Adds `slot` to the margin; returns false if the bordered system would become singular.
    pub(crate) fn enter(&mut self, pool: Pool, slot: usize) -> Result<bool, PathError> {
        let m = self.margin.len() as u64;
        pool.control.check(m * m)?;
        let column = self.column(pool, slot)?;
        if !self.factor.append(self.margin.iter().map(|&j| column[j]), column[slot]) {
            return Ok(false);
        }
        self.margin.push(slot);
        self.set_place(slot, Place::Margin);
        self.account(0)?;
        Ok(true)
    }

    /// Records the size of the factor and of `more` bytes next to the columns.
    ///
    /// # Errors
    ///
    /// When the budget is smaller.
    fn account(&mut self, more: u64) -> Result<(), PathError> {
        let (needed, budget) = (self.factor.bytes() + more, self.columns.budget());
        if needed > budget {
            return Err(PathError::Memory { margin: self.margin.len(), needed, budget });
        }
        let place = &self.place;
        self.columns.take(needed, |s| place[s] == Place::Margin);
        Ok(())
    }

    /// Takes the `k`-th margin sample out of the margin, to α = C if `far`, otherwise to α = 0.
    pub(crate) fn leave(&mut self, pool: Pool, k: usize, far: bool) -> Result<(), PathError> {
        let m = self.margin.len() as u64;
        pool.control.check(m * m)?;
        self.factor.remove(k);
        let slot = self.margin.remove(k);
        self.rest_on_bound(pool, slot, far)
    }

    fn rest_on_bound(&mut self, pool: Pool, slot: usize, far: bool) -> Result<(), PathError> {
        let far = far && (self.far[slot] != 0.0 || self.far_rate[slot] != 0.0);
        self.beta[slot] = if far { self.far[slot] } else { 0.0 };
        self.set_place(slot, if far { Place::Upper } else { Place::Zero });
        if far && self.far_rate[slot] != 0.0 {
            self.start_driving(pool, slot, self.far_rate[slot])?;
        }
        Ok(())
    }

    /// Makes the exact exchange that replaces a singular insertion.
    ///
    /// `slot` (e) is an affine combination of the margin: `K_:e = K_:M z`, `1ᵀz = 1`. Moving β
    /// along `(−z, +1)·direction` changes no residual and no constraint. The move ends when `slot`
    /// meets its other bound, or when a margin sample meets one and leaves; then `slot` can enter.
    /// Call it after a refused [`State::enter`]. Returns false if no exchange exists (the kernel is
    /// not positive semidefinite).
    pub(crate) fn exchange(
        &mut self,
        pool: Pool,
        slot: usize,
        direction: f64,
        counts: &mut StepCounts,
    ) -> Result<bool, PathError> {
        let mut z = Vec::new();
        for _ in 0..=self.margin.len() {
            if self.margin.is_empty() {
                return Ok(false);
            }
            counts.exchanges += 1;
            self.factor.combination(&mut z);
            let noise = 1e-9 * z.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let (mut theta, mut pivot, mut leaving) = (self.room(slot, direction), 0.0, None);
            for (k, v) in z.iter().enumerate().filter(|(_, v)| v.abs() > noise) {
                let rate = -direction * v;
                let t = self.room(self.margin[k], rate.signum()) / rate.abs();
                if t < theta || (t == theta && leaving.is_some() && rate.abs() > pivot) {
                    (theta, pivot, leaving) = (t, rate.abs(), Some((k, rate)));
                }
            }
            if !theta.is_finite() {
                return Ok(false);
            }
            for (k, v) in z.iter().enumerate() {
                self.beta[self.margin[k]] -= theta * direction * v;
            }
            self.beta[slot] += theta * direction;
            match leaving {
                None => {
                    let far = (direction > 0.0) == (self.sign[slot] > 0.0);
                    self.rest_on_bound(pool, slot, far)?;
                    return Ok(true);
                }
                Some((k, rate)) => {
                    let far = (rate > 0.0) == (self.sign[self.margin[k]] > 0.0);
                    self.leave(pool, k, far)?;
                    if self.enter(pool, slot)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns the bytes that factoring a margin of `m` samples takes temporarily, the factor
    /// included.
    pub(crate) fn factoring(m: usize) -> u64 {
        12 * (m as u64) * (m as u64)
    }

    /// Factors the margin `slots` anew, and exchanges those that are affine combinations of the
    /// others. Returns false if that fails.
    pub(crate) fn rebuild(&mut self, pool: Pool, slots: Vec<usize>, counts: &mut StepCounts) -> Result<bool, PathError> {
        self.factor.clear();
        self.margin.clear();
        let m = slots.len();
        let (needed, budget) = (Self::factoring(m), self.columns.budget());
        if needed > budget {
            return Err(PathError::Memory { margin: m, needed, budget });
        }
        self.columns.take(needed, |_| false);
        let mut matrix = faer::Mat::zeros(m, m);
        self.columns.visit(
            pool,
            &self.seats,
            &slots,
            |_| false,
            |j, column| {
                let out = matrix.col_as_slice_mut(j);
                out.iter_mut().zip(&slots).for_each(|(out, &slot)| *out = column[slot]);
            },
        )?;
        let built = self.factor.build(matrix.as_mut(), Par::Seq, pool.control)?;
        self.account(0)?;
        if built {
            for &slot in &slots {
                self.set_place(slot, Place::Margin);
            }
            self.margin = slots;
            return Ok(true);
        }
        for slot in slots {
            if !self.enter(pool, slot)? {
                // Away from the side on which its residual is wrong; at residual 0 to the nearer
                // bound.
                let r = self.residual[slot];
                let direction = if r == 0.0 { -self.sign[slot] } else { -r.signum() };
                if !self.exchange(pool, slot, direction, counts)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
