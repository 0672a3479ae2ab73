//! The state of a model on its path: the members, their sets, coefficients and residuals.

use crate::pool::Pool;
use crate::update::PathError;
use crate::walk::columns::{Columns, NONE, Seats};
use maxmargin_core::Factor;
use maxmargin_core::dense::exact_sum;
use maxmargin_kernel::Gram;

/// The sets of the paper (equations 2a–2c, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A slot without a member.
    Vacant,
    /// `O`: α = 0, y f ≥ 1.
    Zero,
    /// `M`: y f = 1.
    Margin,
    /// `I`: α = C, y f ≤ 1.
    Upper,
    /// `A`: a sample that is added, with α driven towards C; y f ≤ 1.
    Adding,
    /// `R`: a sample that is removed, with α driven towards 0.
    Removing,
}

/// A quantity of one slot that moves along a straight line while the path's parameter goes from 0
/// to 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp {
    pub(crate) slot: usize,
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// True for a removed sample that stays a member, with C = 0.
    pub(crate) stays: bool,
}

impl Ramp {
    pub(crate) fn value(&self, tau: f64) -> f64 {
        if tau >= 1.0 { self.to } else { self.from + tau * (self.to - self.from) }
    }
}

/// The counts of a call so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepCounts {
    pub(crate) breakpoints: usize,
    pub(crate) zero_steps: usize,
    pub(crate) exchanges: usize,
    pub(crate) repairs: usize,
}

/// The state in signed coordinates: `β = s α` lies between 0 and `far = s C`. The residual is `r_i
/// = Σ_j K_ij β_j + b − t_i` with `t_i = −s_i lin_i` (the label, for C-SVC), so that `s_i r_i = y_i
/// f_i − 1`.
///
/// The optimum has `r ≥ 0` where β can only grow, `r ≤ 0` where it can only fall, `r = 0` inside
/// the box, and `Σ β = sum`.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) seats: Seats,
    vacant: Vec<usize>,
    pub(crate) sign: Vec<f64>,
    pub(crate) target: Vec<f64>,
    pub(crate) far: Vec<f64>,
    pub(crate) beta: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) place: Vec<Place>,
    /// +1 where `r ≥ 0` is required, −1 where `r ≤ 0` is, 0 where any residual is allowed.
    pub(crate) side: Vec<f64>,
    /// `v`: the velocity of β for driven samples and for those on a moving bound; 0 for all others.
    pub(crate) rate: Vec<f64>,
    /// The velocity of `far`.
    pub(crate) far_rate: Vec<f64>,
    /// `M`, in the order of the factor.
    pub(crate) margin: Vec<usize>,
    pub(crate) factor: Factor,
    pub(crate) columns: Columns,
    pub(crate) bias: f64,
    /// `d`: the required value of `Σ β`.
    pub(crate) sum: f64,
    /// The largest kernel entry on the diagonal of the pool: the unit of rounding.
    pub(crate) reach: f64,
    /// `τ`: the position on the path, 0…1; 1 if no path is under way.
    pub(crate) tau: f64,
    /// `A` and `R`.
    pub(crate) driven: Vec<Ramp>,
    /// The bounds that move.
    pub(crate) bounds: Vec<Ramp>,
    /// `w = K v`: the velocity of the residuals by the driven samples alone (the fixed part of
    /// equation 11).
    pub(crate) drive: Vec<f64>,
    /// `σ = Σ v`.
    pub(crate) inflow: f64,
    /// `dβ_M`: the direction of `β_M` (in φ of equation 10).
    pub(crate) step: Vec<f64>,
    /// `db`: the velocity of the bias (in φ of equation 10).
    pub(crate) bias_rate: f64,
    /// `ψ`: the direction of the residuals (equation 11, with the label absorbed).
    pub(crate) psi: Vec<f64>,
}

impl State {
    pub(crate) fn new(gram: &dyn Gram, ridge: f64, sum: f64, budget: u64) -> Self {
        let diagonal = gram.diagonal();
        let reach = diagonal.iter().fold(0.0_f64, |m, k| m.max(k.abs())) + ridge;
        let mean = if diagonal.is_empty() { 0.0 } else { diagonal.iter().sum::<f64>() / diagonal.len() as f64 };
        let shift = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
        Self {
            seats: Seats { id: Vec::new(), slot: vec![NONE; gram.len()] },
            vacant: Vec::new(),
            sign: Vec::new(),
            target: Vec::new(),
            far: Vec::new(),
            beta: Vec::new(),
            residual: Vec::new(),
            place: Vec::new(),
            side: Vec::new(),
            rate: Vec::new(),
            far_rate: Vec::new(),
            margin: Vec::new(),
            factor: Factor::new(shift),
            columns: Columns::new(budget, ridge),
            bias: 0.0,
            sum,
            reach: if reach > 0.0 { reach } else { 1.0 },
            tau: 1.0,
            driven: Vec::new(),
            bounds: Vec::new(),
            drive: Vec::new(),
            inflow: 0.0,
            step: Vec::new(),
            bias_rate: 0.0,
            psi: Vec::new(),
        }
    }

    /// Renames pool ids: `alive[i]` becomes `i`.
    pub(crate) fn renumber(&mut self, alive: &[usize]) {
        let slots: Vec<usize> = alive.iter().map(|&id| self.seats.slot[id]).collect();
        for (id, &slot) in slots.iter().enumerate() {
            if slot != NONE {
                self.seats.id[slot] = id;
            }
        }
        self.seats.slot = slots;
    }

    /// Extends the tables after the pool has grown.
    pub(crate) fn widen(&mut self, gram: &dyn Gram) {
        self.seats.slot.resize(gram.len(), NONE);
        self.reach = gram.diagonal().iter().fold(self.reach, |m, k| m.max(k.abs()));
    }

    /// Returns the number of slots, vacant ones included.
    pub(crate) fn slots(&self) -> usize {
        self.beta.len()
    }

    /// Returns the slots of all members, by ascending pool id.
    pub(crate) fn members(&self) -> impl Iterator<Item = usize> + '_ {
        self.seats.slot.iter().copied().filter(|&s| s != NONE)
    }

    /// Returns the slot of a member.
    pub(crate) fn slot(&self, id: usize) -> Option<usize> {
        self.seats.slot.get(id).copied().filter(|&s| s != NONE)
    }

    /// Adds the members `entries`, each with α = 0 and an unknown residual; returns their slots.
    pub(crate) fn seat(&mut self, entries: &[(usize, f64, f64, f64)]) -> Vec<usize> {
        let lack = entries.len().saturating_sub(self.vacant.len());
        let (old, new) = (self.slots(), self.slots() + lack);
        if lack > 0 {
            self.seats.id.resize(new, NONE);
            self.place.resize(new, Place::Vacant);
            for values in [
                &mut self.sign,
                &mut self.target,
                &mut self.far,
                &mut self.beta,
                &mut self.residual,
                &mut self.side,
                &mut self.rate,
                &mut self.far_rate,
                &mut self.drive,
                &mut self.psi,
            ] {
                values.resize(new, 0.0);
            }
            self.columns.grow(new);
            self.vacant.splice(0..0, (old..new).rev());
        }
        let mut slots = Vec::with_capacity(entries.len());
        for &(id, sign, target, c) in entries {
            let slot = self.vacant.pop().expect("slots were made for all");
            self.seats.id[slot] = id;
            self.seats.slot[id] = slot;
            self.sign[slot] = sign;
            self.target[slot] = target;
            self.far[slot] = sign * c;
            self.beta[slot] = 0.0;
            self.set_place(slot, Place::Zero);
            slots.push(slot);
        }
        slots
    }

    /// Frees a slot whose β is 0 and that is not in the margin: O(1).
    pub(crate) fn vacate(&mut self, slot: usize) {
        let id = std::mem::replace(&mut self.seats.id[slot], NONE);
        self.seats.slot[id] = NONE;
        self.columns.drop_column(slot);
        self.beta[slot] = 0.0;
        self.far[slot] = 0.0;
        self.residual[slot] = 0.0;
        self.set_place(slot, Place::Vacant);
        self.vacant.push(slot);
    }

    pub(crate) fn set_place(&mut self, slot: usize, place: Place) {
        self.place[slot] = place;
        self.side[slot] = match place {
            Place::Zero if self.far[slot] != 0.0 || self.far_rate[slot] != 0.0 => self.sign[slot],
            Place::Upper | Place::Adding => -self.sign[slot],
            _ => 0.0,
        };
    }

    /// Returns α and the present C.
    pub(crate) fn alpha(&self, slot: usize) -> (f64, f64) {
        let s = self.sign[slot];
        ((s * self.beta[slot]).max(0.0), s * self.far[slot])
    }

    /// Returns how far β can move in `direction` (±1).
    pub(crate) fn room(&self, slot: usize, direction: f64) -> f64 {
        let bound = if (direction > 0.0) == (self.sign[slot] > 0.0) { self.far[slot] } else { 0.0 };
        ((bound - self.beta[slot]) * direction).max(0.0)
    }

    /// Recomputes every residual from the coefficients and exact kernel values.
    pub(crate) fn refresh(&mut self, pool: Pool) -> Result<(), PathError> {
        let terms: Vec<(usize, f64)> = (0..self.slots()).filter(|&s| self.beta[s] != 0.0).map(|s| (s, self.beta[s])).collect();
        self.residual.fill(0.0);
        self.columns.accumulate(pool, &self.seats, &terms, &mut self.residual)?;
        for (r, t) in self.residual.iter_mut().zip(&self.target) {
            *r += self.bias - t;
        }
        Ok(())
    }

    /// Returns `sum − Σ β`, compensated.
    pub(crate) fn lack(&self) -> f64 {
        exact_sum(std::iter::once(self.sum).chain(self.beta.iter().map(|b| -b)))
    }

    /// Returns the rounding error of a residual at best: `ε·K·Σ|β|`.
    pub(crate) fn floor(&self) -> f64 {
        f64::EPSILON * self.reach * self.beta.iter().map(|b| b.abs()).sum::<f64>()
    }

    /// Returns the violation, or infinity if the point is infeasible: outside the box, or off the
    /// equality constraint by more than 10⁻⁹.
    pub(crate) fn checked_violation(&self) -> f64 {
        let total = self.beta.iter().map(|b| b.abs()).sum::<f64>().max(1.0);
        let outside = |s: usize| {
            let alpha = self.sign[s] * self.beta[s];
            (-alpha).max(alpha - self.sign[s] * self.far[s])
        };
        let feasible = self.members().all(|s| outside(s) <= 1e-9) && self.lack().abs() <= 1e-9 * total;
        if feasible { self.violation() } else { f64::INFINITY }
    }

    /// Returns LIBSVM's violation `max over I_low − min over I_up` of the present residuals, at
    /// least 0. Samples driven by a path under way are left out.
    pub(crate) fn violation(&self) -> f64 {
        let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        let under_way = self.tau < 1.0;
        let counts = |s: &usize| match self.place[*s] {
            Place::Vacant => false,
            Place::Adding | Place::Removing => !under_way,
            _ => true,
        };
        for slot in (0..self.slots()).filter(counts) {
            let r = self.residual[slot];
            if r.is_nan() {
                return f64::INFINITY;
            }
            if self.room(slot, 1.0) > 0.0 {
                low = low.min(r);
            }
            if self.room(slot, -1.0) > 0.0 {
                high = high.max(r);
            }
        }
        (high - low).max(0.0)
    }
}
