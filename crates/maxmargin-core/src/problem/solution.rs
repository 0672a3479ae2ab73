//! Solutions and their status.

use crate::problem::dual::{Dual, EqualityConstraint};
use crate::problem::start::Start;
use maxmargin_data::EndReason;
use serde::{Deserialize, Serialize};

/// The end of a run. A run that does not converge has a status, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The solver's own stopping rule holds.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// The caller ended the run ([`crate::RunControl`]).
    Interrupted,
    /// Rounding allows no further progress.
    Stalled,
    /// At its present pace the solver will not reach the goal ([`crate::Pace`]).
    Slow,
}

impl From<EndReason> for Status {
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::Cancelled => Status::Interrupted,
            EndReason::TimeLimit => Status::TimeLimit,
            EndReason::IterationLimit => Status::IterationLimit,
        }
    }
}

impl Status {
    /// Returns true if a limit or the caller ended the run, so that later steps need not begin.
    pub fn ended_early(self) -> bool {
        matches!(self, Status::Interrupted | Status::TimeLimit)
    }

    /// Returns the less favourable of two.
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

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Solver iterations (for SMO: pairs optimised).
    pub iterations: u64,
    /// Kernel rows requested from the row store.
    pub rows_requested: u64,
    /// Kernel rows that the store computed for this run, on request or by prefetch.
    pub rows_computed: u64,
    /// Recomputations of the gradient in `f64` from exact kernel values.
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
    /// The gradient `Qα + lin`, as precise as the solver has it; with weights, of these.
    pub gradient: Vec<f64>,
    /// The weights over the features of the matrix, with its additional one, if they are nearer to
    /// the optimum than `Σ s_k α_k x_k`. They are where the features are so large that α in double
    /// precision does not hold them: the optimal weights of samples of size 10⁸ are of size 10⁻⁸,
    /// and the last digit of one α moves `Σ s_k α_k x_k` by as much.
    pub weights: Option<Vec<f64>>,
    /// The end of the run.
    pub status: Status,
    /// The cost of the run.
    pub work: Work,
}

impl Solution {
    /// Returns a feasible point without a gradient (NaN): the run ended before it computed one.
    pub fn without_gradient(alpha: Vec<f64>, status: Status) -> Self {
        let gradient = vec![f64::NAN; alpha.len()];
        Self { alpha, bias: 0.0, gradient, status, work: Work::default(), weights: None }
    }

    /// Returns the start of a run that ended before its first step, as a solution.
    pub fn not_begun(dual: &Dual, start: Start, status: Status) -> Self {
        let (alpha, gradient) = start.into_parts();
        let Some(gradient) = gradient else { return Self::without_gradient(alpha, status) };
        Self { bias: bias_of(dual, &alpha, &gradient), alpha, gradient, status, work: Work::default(), weights: None }
    }
}

/// Returns the bias that a gradient implies: minus the mean of `s_k g_k` over the free variables,
/// or the middle of the interval that the bounded ones leave (LIBSVM's rule for rho).
///
/// If each sign has a sum, it is half the difference of the signs' thresholds ([`thresholds_of`]).
/// It is 0 if nothing bounds it, without an equality constraint (there is no bias), and on the
/// simplex, whose constraint belongs to no bias.
pub fn bias_of(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    if let Some((plus, minus)) = thresholds_of(dual, alpha, gradient) {
        return 0.5 * (minus - plus);
    }
    if matches!(dual.balance(), EqualityConstraint::Free | EqualityConstraint::Simplex) {
        return 0.0;
    }
    -threshold(dual, alpha, (0..dual.len()).map(|k| (k, dual.sign()[k], dual.sign()[k] * gradient[k])))
}

/// Returns the gradient at which the variables of each sign are free, if each has a sum: the
/// multipliers of the two constraints. For ν-SVC their mean is the margin ρ, for ν-SVR it is minus
/// the width ε.
pub fn thresholds_of(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> Option<(f64, f64)> {
    let EqualityConstraint::PerSign(..) = dual.balance() else { return None };
    let of = |sign: f64| {
        let members = (0..dual.len()).filter(|&k| dual.sign()[k] == sign);
        threshold(dual, alpha, members.map(|k| (k, 1.0, gradient[k])))
    };
    Some((of(1.0), of(-1.0)))
}

/// Returns true if the bias is free but no variable is. The bias is then the middle of an interval,
/// which samples with α = 0 bound as well ([`bias_of`]).
pub fn bias_is_middle(dual: &Dual, alpha: &[f64]) -> bool {
    let near = near_bound(alpha);
    matches!(dual.balance(), EqualityConstraint::Sum(_))
        && !alpha.iter().zip(dual.upper()).any(|(a, upper)| *a > near && upper - a > near)
}

/// Returns the distance from a bound that counts as rounding.
fn near_bound(alpha: &[f64]) -> f64 {
    ROUNDING * alpha.iter().fold(0.0, |most: f64, a| most.max(*a))
}

/// The rounding error of α, relative to the largest: sums of many parts and steps have such errors.
const ROUNDING: f64 = 1e-12;

/// Returns the mean of `f` over the free ones of some variables, given as (variable, sign in the
/// constraint, `f`). Without free variables it returns the middle of the interval that the bounded
/// ones leave.
///
/// A variable that only rounding keeps off its bound counts as bounded. Otherwise it alone would
/// decide the bias where all others are bounded.
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
            (true, true) => {} // C = 0: the sample does not bound it
            // `s α` can only grow here, so its f bounds the threshold from above; otherwise from
            // below.
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
