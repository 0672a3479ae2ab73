//! The empty margin (section 3.3): the bias is an interval.

use crate::follow::Event;
use crate::pool::Pool;
use crate::state::{State, Tally};
use crate::update::PathError;

/// A slot and its residual.
type Extreme = (usize, f64);

impl State {
    /// The two samples that bound the bias when the residuals have moved by `eta` along `drive`:
    /// the one with `r ≥ 0` asked whose residual is smallest, and the one with `r ≤ 0` asked whose
    /// residual is largest.
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

    /// Puts the bias where no margin decides it: in the middle of its interval, or at its only end;
    /// it stays where nothing bounds it. False when the interval is empty by more than `tol`; then
    /// the lower end holds.
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

    /// One breakpoint with an empty margin. `None`: the balance cannot be kept.
    ///
    /// Driven samples that do not balance (σ ≠ 0) need a margin sample that gives way: the bias
    /// goes to that end of its interval, and the sample there enters. Those that balance are
    /// followed until the ends of the interval meet.
    pub(crate) fn leap(&mut self, pool: Pool, tally: &mut Tally) -> Result<Option<Event>, PathError> {
        let moving: f64 = self.driven.iter().chain(&self.bounds).map(|d| self.rate[d.slot].abs()).sum();
        let left = 1.0 - self.tau;
        if self.inflow.abs() > 1e-12 * moving && left > 1e-14 {
            let (low, high) = self.extremes(0.0);
            let Some((slot, r)) = (if self.inflow > 0.0 { high } else { low }) else { return Ok(None) };
            self.shift(-r);
            return Ok(self.admit(pool, slot, tally)?.then_some(Event::Enter(slot)));
        }
        // The width of the interval is concave and piecewise linear in the step: Newton from the
        // far end descends to its first zero.
        let mut eta = left;
        loop {
            pool.asking.spend(2 * self.slots() as u64)?;
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
            return Ok(self.admit(pool, i, tally)?.then_some(Event::Enter(i)));
        }
    }

    fn glide(&mut self, eta: f64) {
        maxmargin_core::dense::add_scaled(&mut self.residual, eta, &self.drive);
        self.ride(eta);
    }
}
