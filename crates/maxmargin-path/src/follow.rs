//! The path: direction, events, steps (Karasuyama and Takeuchi 2009, section 3.2).

use crate::pool::Pool;
use crate::state::{Place, State, Tally};
use crate::update::PathError;

/// Steps shorter than this count as of length zero.
const ZERO_STEP: f64 = 1e-14;

/// What ends a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// The end of the path: every driven sample is where it goes.
    End,
    /// The residual of a slot outside the margin has become 0.
    Enter(usize),
    /// The `at`-th margin sample has met a bound: C when `far`, 0 otherwise.
    Leave { at: usize, far: bool },
}

/// How a walk along the path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// At the end.
    Arrived,
    /// After as many breakpoints as were allowed.
    Limit,
    /// Too many steps of length zero, or a singular system that no exchange mends.
    Stuck,
}

/// The best candidate so far: the smallest step, and among equal ones the largest pivot.
struct Nearest {
    eta: f64,
    pivot: f64,
    event: Event,
}

impl Nearest {
    fn offer(&mut self, eta: f64, pivot: f64, event: Event) {
        let tie = 1e-15 + 1e-12 * self.eta;
        if eta < self.eta - tie || (eta <= self.eta + tie && pivot > self.pivot && self.event != Event::End) {
            *self = Self { eta: eta.min(self.eta), pivot, event };
        }
    }
}

impl State {
    /// Follows the path from where it stands until its end or until `limit` breakpoints have been
    /// passed in all.
    pub(crate) fn follow(&mut self, pool: Pool, limit: usize, tally: &mut Tally) -> Result<Walk, PathError> {
        let (mut streak, mut patience) = (0, usize::MAX);
        loop {
            if tally.breakpoints >= limit {
                return Ok(Walk::Limit);
            }
            let before = self.tau;
            if self.margin.is_empty() {
                match self.leap(pool, tally)? {
                    Some(Event::End) => return Ok(Walk::Arrived),
                    Some(_) => {}
                    None => return Ok(Walk::Stuck),
                }
            } else {
                self.direction(pool)?;
                let (eta, event) = self.next_event();
                if !eta.is_finite() {
                    return Ok(Walk::Stuck);
                }
                self.advance(eta);
                match event {
                    Event::End => return Ok(Walk::Arrived),
                    Event::Leave { at, far } => self.leave(pool, at, far)?,
                    Event::Enter(slot) => {
                        if !self.admit(pool, slot, tally)? {
                            return Ok(Walk::Stuck);
                        }
                    }
                }
            }
            pool.asking.spend(8 * self.slots() as u64)?;
            tally.breakpoints += 1;
            if self.tau - before > ZERO_STEP {
                streak = 0;
                continue;
            }
            tally.zero_steps += 1;
            streak += 1;
            if streak == 32 {
                patience = 64 + 4 * self.ties();
            }
            if streak > patience.max(32) {
                return Ok(Walk::Stuck);
            }
        }
    }

    /// How many samples take part in a degenerate point: the margin, and those outside it whose
    /// residual is 0.
    fn ties(&self) -> usize {
        let touching = self.side.iter().zip(&self.residual).filter(|(s, r)| **s != 0.0 && *s * *r <= 1e-9).count();
        self.margin.len() + touching
    }

    /// `dβ_M`, `db` and `ψ` (equations 10 and 11): keeps `r_M = 0` and `Σ β` while the driven
    /// samples move with their rates.
    fn direction(&mut self, pool: Pool) -> Result<(), PathError> {
        let m = self.margin.len() as u64;
        pool.asking.spend(2 * m * m)?;
        let mut step = std::mem::take(&mut self.step);
        step.clear();
        step.extend(self.margin.iter().map(|&j| -self.drive[j]));
        let bias_rate = self.factor.solve(&mut step, -self.inflow);
        for (p, w) in self.psi.iter_mut().zip(&self.drive) {
            *p = w + bias_rate;
        }
        let terms: Vec<(usize, f64)> = self.margin.iter().copied().zip(step.iter().copied()).collect();
        self.columns.accumulate(pool, &self.seats, &terms, &mut self.psi)?;
        self.step = step;
        self.bias_rate = bias_rate;
        Ok(())
    }

    /// The first event along the direction and its distance.
    fn next_event(&self) -> (f64, Event) {
        let mut nearest = Nearest { eta: 1.0 - self.tau, pivot: f64::INFINITY, event: Event::End };
        let total: f64 = self.step.iter().map(|v| v.abs()).sum::<f64>()
            + self.driven.iter().chain(&self.bounds).map(|d| self.rate[d.slot].abs()).sum::<f64>();
        let noise = 16.0 * f64::EPSILON * self.reach * total;
        for (slot, ((side, r), p)) in self.side.iter().zip(&self.residual).zip(&self.psi).enumerate() {
            let speed = -side * p;
            // One comparison rejects nearly all: too slow, or too far for the nearest event known.
            if speed > noise && side * r <= nearest.eta * speed * (1.0 + 1e-11) + 1e-15 * speed {
                nearest.offer((side * r).max(0.0) / speed, speed, Event::Enter(slot));
            }
        }
        for (at, (&slot, &v)) in self.margin.iter().zip(&self.step).enumerate() {
            let s = self.sign[slot];
            let (alpha, c) = (s * self.beta[slot], s * self.far[slot]);
            let (rate, c_rate) = (s * v, s * self.far_rate[slot]);
            if rate < 0.0 {
                nearest.offer(alpha.max(0.0) / -rate, -rate, Event::Leave { at, far: false });
            }
            if rate > c_rate {
                nearest.offer((c - alpha).max(0.0) / (rate - c_rate), rate - c_rate, Event::Leave { at, far: true });
            }
        }
        (nearest.eta, nearest.event)
    }

    /// Moves everything by `eta` along the direction.
    fn advance(&mut self, eta: f64) {
        for (&slot, v) in self.margin.iter().zip(&self.step) {
            self.beta[slot] += eta * v;
        }
        self.bias += eta * self.bias_rate;
        maxmargin_core::dense::add_scaled(&mut self.residual, eta, &self.psi);
        self.ride(eta);
    }

    /// Moves what follows the path's parameter alone: bounds and driven samples.
    pub(crate) fn ride(&mut self, eta: f64) {
        self.tau = (self.tau + eta).min(1.0);
        for ramp in &self.bounds {
            self.far[ramp.slot] = ramp.value(self.tau);
            if self.place[ramp.slot] == Place::Upper {
                self.beta[ramp.slot] = self.far[ramp.slot];
            }
        }
        for ramp in &self.driven {
            if matches!(self.place[ramp.slot], Place::Adding | Place::Removing) {
                self.beta[ramp.slot] = ramp.value(self.tau);
            }
        }
    }

    /// Lets a slot whose residual has become 0 into the margin, by exchange where the system would
    /// be singular.
    pub(crate) fn admit(&mut self, pool: Pool, slot: usize, tally: &mut Tally) -> Result<bool, PathError> {
        let inward = if self.place[slot] == Place::Zero { self.sign[slot] } else { -self.sign[slot] };
        self.stop_driving(pool, slot)?;
        self.residual[slot] = 0.0;
        Ok(self.enter(pool, slot)? || self.exchange(pool, slot, inward, tally)?)
    }
}
