//! The empty margin (section 3.3): the bias is an interval.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::follow::Event;
use crate::walk::state::{State, StepCounts};

/// A slot and its residual.
type Extreme = (usize, f64);

impl State {
    /// Returns the two samples that bound the bias after the residuals moved by `eta` along
    /// `drive`. They have the smallest residual where `r ≥ 0` is required, and the largest where `r
    /// ≤ 0` is.
    fn extremes(&self, eta: f64) -> (Option<Extreme>, Option<Extreme>) {
        let (mut low, mut high) = (None, None);
        for (slot, side) in self.side.iter().enumerate() {
            let r = self.residual[slot] + eta * self.drive[slot];
            if *side > 0.0 && low.is_none_or(|(_, best)| r < best) {
                low = Some((slot, r));
            } else if *side < 0.0 && high.is_none_or(|(_, best)| r > best) {
                high = Some((slot, r));
            }
        }
        (low, high)
    }

    /// Moves the bias by `by`.
    pub(crate) fn shift(&mut self, by: f64) {
        self.bias += by;
        self.residual.iter_mut().for_each(|r| *r += by);
    }

    /// Sets the bias if no margin decides it: to the middle of its interval, or to its only end;
    /// without bounds it stays. Returns false if the interval is empty by more than `tol`; the bias
    /// is then at the lower end.
    pub(crate) fn centre(&mut self, tol: f64) -> bool {
        let (by, sound) = match self.extremes(0.0) {
            (Some((_, low)), Some((_, high))) if high - low <= tol => (-f64::midpoint(low, high), true),
            (Some((_, low)), Some(_)) => (-low, false),
            (Some((_, r)), None) | (None, Some((_, r))) => (-r, true),
            (None, None) => (0.0, true),
        };
        self.shift(by);
        sound
    }

    /// Passes one breakpoint with an empty margin. Returns `None` if the equality constraint cannot
    /// be kept.
    ///
    /// If the velocities of driven samples do not cancel (σ ≠ 0), a margin sample must balance
    /// them. The bias moves to that end of its interval, and the sample there enters. Otherwise the
    /// path continues until the ends of the interval meet.
    pub(crate) fn leap(&mut self, pool: Pool, counts: &mut StepCounts) -> Result<Option<Event>, PathError> {
        let moving: f64 = self.driven.iter().chain(&self.bounds).map(|d| self.rate[d.slot].abs()).sum();
        let left = 1.0 - self.tau;
        if self.inflow.abs() > 1e-12 * moving && left > 1e-14 {
            let (low, high) = self.extremes(0.0);
            let Some((slot, r)) = (if self.inflow > 0.0 { high } else { low }) else { return Ok(None) };
            self.shift(-r);
            return Ok(self.admit(pool, slot, counts)?.then_some(Event::Enter(slot)));
        }
        // The width of the interval is concave and piecewise linear in the step: Newton's method
        // from the far end descends to its first zero.
        let mut eta = left;
        loop {
            pool.control.check(2 * self.slots() as u64)?;
            let (low, high) = self.extremes(eta);
            let (Some((i, low)), Some((j, high))) = (low, high) else {
                self.glide(eta);
                self.centre(f64::INFINITY);
                return Ok(Some(Event::End));
            };
            let overlap = high - low;
            let speed = self.drive[j] - self.drive[i];
            let back = if overlap > 0.0 && speed > 0.0 { (overlap / speed).min(eta) } else { 0.0 };
            if back > 1e-15 && eta > 0.0 {
                eta -= back;
                continue;
            }
            self.glide(eta);
            if eta >= left {
                self.centre(f64::INFINITY);
                return Ok(Some(Event::End));
            }
            self.shift(-low);
            return Ok(self.admit(pool, i, counts)?.then_some(Event::Enter(i)));
        }
    }

    fn glide(&mut self, eta: f64) {
        maxmargin_core::dense::add_scaled(&mut self.residual, eta, &self.drive);
        self.ride(eta);
    }
}
