//! What a solver returns.

use crate::dual::{Dual, EqualityConstraint};
use crate::start::Start;
use serde::{Deserialize, Serialize};

/// How a run ended. Not converging is a status, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The solver's own stopping rule holds.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// The caller's [`crate::Watch`] ended the run.
    Interrupted,
    /// No progress is possible at this precision.
    Stalled,
    /// At the pace that the run had, its solver does not reach the goal ([`crate::Pace`]).
    Slow,
}

impl Status {
    /// Whether a limit or the caller ended the run, so that what follows it need not begin.
    pub fn ended_early(self) -> bool {
        matches!(self, Status::Interrupted | Status::TimeLimit)
    }

    /// The less favourable of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let rank = |status: Self| match status {
            Status::Converged => 0,
            Status::Stalled => 1,
            Status::Slow => 2,
            Status::IterationLimit => 3,
            Status::TimeLimit => 4,
            Status::Interrupted => 5,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Solver iterations (for SMO: pairs optimised).
    pub iterations: u64,
    /// Kernel rows asked of the row store.
    pub rows_requested: u64,
    /// Kernel rows that this run was the first to need or guessed to need.
    pub rows_computed: u64,
    /// Times the gradient was recomputed in `f64` from exact kernel values.
    pub refinements: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, more: Self) {
        self.iterations += more.iterations;
        self.rows_requested += more.rows_requested;
        self.rows_computed += more.rows_computed;
        self.refinements += more.refinements;
    }
}

/// A feasible point of a [`Dual`] with its gradient and threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// One α per variable.
    pub alpha: Vec<f64>,
    /// The bias: decision value `Σ s_l α_l K(id_l, ·) + bias`.
    pub bias: f64,
    /// `Qα + lin` as the solver knows it.
    pub gradient: Vec<f64>,
    /// How the run ended.
    pub status: Status,
    /// What it cost.
    pub work: Work,
}

impl Solution {
    /// A point of which nothing is known but that it is feasible: the run was ended before its
    /// first gradient, which is not a number here.
    pub fn unjudged(alpha: Vec<f64>, status: Status) -> Self {
        let gradient = vec![f64::NAN; alpha.len()];
        Self { alpha, bias: 0.0, gradient, status, work: Work::default() }
    }

    /// The start of a run that was over before it began, as a solution.
    pub fn not_begun(dual: &Dual, start: Start, status: Status) -> Self {
        let (alpha, gradient) = start.into_parts();
        let Some(gradient) = gradient else { return Self::unjudged(alpha, status) };
        Self { bias: bias_of(dual, &alpha, &gradient), alpha, gradient, status, work: Work::default() }
    }
}

/// The bias that a gradient implies: minus the mean of `s_k g_k` over the free variables, or the
/// middle of the interval that the bounded ones leave (LIBSVM's rule for rho); where each sign has
/// a sum, half of what the thresholds of the signs differ by ([`thresholds_of`]). 0 when nothing
/// bounds it, without a balance, where there is no bias, and on the simplex, whose constraint is
/// not the one that a bias belongs to.
pub fn bias_of(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    if let Some((plus, minus)) = thresholds_of(dual, alpha, gradient) {
        return 0.5 * (minus - plus);
    }
    if matches!(dual.balance(), EqualityConstraint::Free | EqualityConstraint::Simplex) {
        return 0.0;
    }
    -threshold(dual, alpha, (0..dual.len()).map(|k| (k, dual.sign()[k], dual.sign()[k] * gradient[k])))
}

/// The gradient at which variables of each sign are free, where each has a sum: the multipliers of
/// the two constraints. Of ν-SVC their mean is the margin ρ, of ν-SVR it is minus the width ε.
pub fn thresholds_of(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> Option<(f64, f64)> {
    let EqualityConstraint::PerSign(..) = dual.balance() else { return None };
    let of = |sign: f64| {
        let members = (0..dual.len()).filter(|&k| dual.sign()[k] == sign);
        threshold(dual, alpha, members.map(|k| (k, 1.0, gradient[k])))
    };
    Some((of(1.0), of(-1.0)))
}

/// Whether no variable is free though the bias is: it is then the middle of an interval, which
/// samples with α = 0 bound as well ([`bias_of`]).
pub fn bias_is_middle(dual: &Dual, alpha: &[f64]) -> bool {
    let near = near_bound(alpha);
    matches!(dual.balance(), EqualityConstraint::Sum(_))
        && !alpha.iter().zip(dual.upper()).any(|(a, upper)| *a > near && upper - a > near)
}

/// Distance from a bound that is rounding.
fn near_bound(alpha: &[f64]) -> f64 {
    ROUNDING * alpha.iter().fold(0.0, |most: f64, a| most.max(*a))
}

/// What counts as rounding of α, relative to the largest: sums of many shares and steps are off by
/// so much.
const ROUNDING: f64 = 1e-12;

/// The mean of `f` over the free of some variables, given as (variable, sign in the constraint,
/// `f`), or the middle of what the bounded ones leave.
///
/// One that only rounding keeps off its bound counts as bounded: where all others are, it would
/// alone decide between the ends of an interval of optima.
fn threshold(dual: &Dual, alpha: &[f64], members: impl Iterator<Item = (usize, f64, f64)>) -> f64 {
    let near = near_bound(alpha);
    let (mut sum, mut free) = (0.0, 0_usize);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for (k, s, f) in members {
        let (at_zero, at_upper) = (alpha[k] <= near, dual.upper()[k] - alpha[k] <= near);
        match (at_zero, at_upper) {
            (false, false) => {
                sum += f;
                free += 1;
            }
            (true, true) => {} // C = 0: the sample has no say
            // s α can only grow: its f bounds the threshold from above; otherwise from below.
            _ if at_zero == (s > 0.0) => high = high.min(f),
            _ => low = low.max(f),
        }
    }
    if free > 0 {
        sum / free as f64
    } else {
        match (low.is_finite(), high.is_finite()) {
            (true, true) => f64::midpoint(low, high),
            (true, false) => low,
            (false, true) => high,
            (false, false) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_several_runs_is_summed() {
        let of = |k: u64| Work { iterations: k, rows_requested: 2 * k, rows_computed: 3 * k, refinements: 4 * k };
        let mut all = of(5);
        all += of(11);
        assert_eq!(all, of(16));
    }
}
