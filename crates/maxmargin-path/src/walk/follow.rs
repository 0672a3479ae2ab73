//! The walk along the path: direction, event, step (Karasuyama and Takeuchi 2009, section 3.2).
//!
//! ```text
//!   1  v_R ← −α_R, v_A ← C·1 − α_A: the driven samples; η ∈ [0, 1] of the path
//!   2  repeat
//!   3    [db; dα_M] ← −M⁻¹ [ y_Aᵀ y_Rᵀ ; Q_{M,A} Q_{M,R} ] [v_A; v_R]           (equation 10)
//!   4    ψ ← [ y  Q_{:,M} ] [db; dα_M] + Q_{:,A} v_A + Q_{:,R} v_R                (equation 11)
//!   5    η ← first step at which an α_M meets 0 or C, or a residual outside M becomes 0
//!   6    α, b, y ∘ f += η (dα, db, ψ)
//!   7    move that sample out of M or into M; update the factor of M
//!   8  until η reaches the end
//! ```
//!
//! With an empty margin, `empty.rs` replaces 3 to 6 (section 3.3). An insertion that would make the
//! system singular becomes an exchange (`margin.rs`). `polish.rs` refines the end.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::state::{Place, State, StepCounts};

/// Steps shorter than this count as of length zero.
const ZERO_STEP: f64 = 1e-14;

/// The event that ends a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    /// The end of the path: every driven sample has arrived.
    End,
    /// The residual of a slot outside the margin has become 0.
    Enter(usize),
    /// The `at`-th margin sample has met a bound: C if `far`, otherwise 0.
    Leave { at: usize, far: bool },
}

/// The end of a walk along the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// The end of the path.
    Arrived,
    /// The limit of breakpoints.
    Limit,
    /// Too many steps of length zero, or a singular system that no exchange repairs.
    Stuck,
}

/// The nearest event so far: the smallest step, and among equal ones the largest pivot.
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
    /// Follows the path from its present position to its end, or until it has passed `limit`
    /// breakpoints in all.
    pub(crate) fn follow(&mut self, pool: Pool, limit: usize, counts: &mut StepCounts) -> Result<Walk, PathError> {
        let (mut streak, mut zero_limit) = (0, usize::MAX);
        loop {
            if counts.breakpoints >= limit {
                return Ok(Walk::Limit);
            }
            let before = self.tau;
            if self.margin.is_empty() {
                match self.leap(pool, counts)? {
                    Some(Event::End) => return Ok(Walk::Arrived),
                    Some(_) => {}
                    None => return Ok(Walk::Stuck),
                }
            } else {
                // 3, 4: the direction.
                self.direction(pool)?;
                // 5: the first event.
                let (eta, event) = self.next_event();
                if !eta.is_finite() {
                    return Ok(Walk::Stuck);
                }
                // 6: the step.
                self.advance(eta);
                // 7: the change of M; 8: the end.
                match event {
                    Event::End => return Ok(Walk::Arrived),
                    Event::Leave { at, far } => self.leave(pool, at, far)?,
                    Event::Enter(slot) => {
                        if !self.admit(pool, slot, counts)? {
                            return Ok(Walk::Stuck);
                        }
                    }
                }
            }
            pool.control.check(8 * self.slots() as u64)?;
            counts.breakpoints += 1;
            if self.tau - before > ZERO_STEP {
                streak = 0;
                continue;
            }
            counts.zero_steps += 1;
            streak += 1;
            if streak == 32 {
                zero_limit = 64 + 4 * self.ties();
            }
            if streak > zero_limit.max(32) {
                return Ok(Walk::Stuck);
            }
        }
    }

    /// Returns the number of samples in a degenerate point: the margin, and those outside it with
    /// residual 0.
    fn ties(&self) -> usize {
        let touching = self.side.iter().zip(&self.residual).filter(|(s, r)| **s != 0.0 && *s * *r <= 1e-9).count();
        self.margin.len() + touching
    }

    /// Computes `dβ_M`, `db` and `ψ` (steps 3 and 4). They keep `r_M = 0` and `Σ β` while the
    /// driven samples move.
    fn direction(&mut self, pool: Pool) -> Result<(), PathError> {
        let m = self.margin.len() as u64;
        pool.control.check(2 * m * m)?;
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

    /// Returns the first event along the direction and its distance (step 5).
    fn next_event(&self) -> (f64, Event) {
        let mut nearest = Nearest { eta: 1.0 - self.tau, pivot: f64::INFINITY, event: Event::End };
        let total: f64 = self.step.iter().map(|v| v.abs()).sum::<f64>()
            + self.driven.iter().chain(&self.bounds).map(|d| self.rate[d.slot].abs()).sum::<f64>();
        let noise = 16.0 * f64::EPSILON * self.reach * total;
        for (slot, ((side, r), p)) in self.side.iter().zip(&self.residual).zip(&self.psi).enumerate() {
            let speed = -side * p;
            // One comparison rejects nearly all slots: too slow, or too far for the nearest event
            // so far.
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

    /// Moves everything by `eta` along the direction (step 6).
    fn advance(&mut self, eta: f64) {
        for (&slot, v) in self.margin.iter().zip(&self.step) {
            self.beta[slot] += eta * v;
        }
        self.bias += eta * self.bias_rate;
        maxmargin_core::dense::add_scaled(&mut self.residual, eta, &self.psi);
        self.ride(eta);
    }

    /// Moves the bounds and driven samples, which follow the path's parameter alone.
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

    /// Moves a slot whose residual has become 0 into the margin (step 7), by an exchange if the
    /// system would become singular.
    pub(crate) fn admit(&mut self, pool: Pool, slot: usize, counts: &mut StepCounts) -> Result<bool, PathError> {
        let inward = if self.place[slot] == Place::Zero { self.sign[slot] } else { -self.sign[slot] };
        self.stop_driving(pool, slot)?;
        self.residual[slot] = 0.0;
        Ok(self.enter(pool, slot)? || self.exchange(pool, slot, inward, counts)?)
    }
}
