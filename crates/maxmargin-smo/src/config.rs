//! The options of the solver and its refusals.

use crate::pair_budget::PairBudget;
use maxmargin_core::{Dual, EqualityConstraint, Refine};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;

/// Options of the solver that do not change the problem or its solution.
#[derive(Clone, Copy, Debug)]
pub struct SmoConfig {
    /// The refinement in exact kernel values.
    pub refine: Refine,
    /// Threads that share the passes of large problems. They spin between two passes while the
    /// solver runs. The result has the same bits for any number of threads.
    pub par: Par,
    /// The problem sizes from which the solver works on active variables only.
    pub shrinking: Shrinking,
    /// Enables conjugate steps where they save enough (Torres-Barrán, Alaíz and Dorronsoro 2021).
    /// Without them each step moves one pair, as in the papers.
    pub conjugate: bool,
    /// The iterations after which the run ends, because another solver costs less from there. The
    /// status is then [`IterationLimit`](maxmargin_core::Status::IterationLimit).
    pub pair_budget: Option<PairBudget>,
    /// Visits the neighbours of a sample alone, where the matrix has found them
    /// ([`maxmargin_kernel::Gram::neighbours`]).
    pub neighbours: bool,
}

impl Default for SmoConfig {
    fn default() -> Self {
        Self {
            refine: Refine::Exact,
            par: Par::Seq,
            shrinking: Shrinking::default(),
            conjugate: true,
            pair_budget: None,
            neighbours: true,
        }
    }
}

/// The reason why SMO cannot solve a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmoError {
    /// SMO moves pairs along an equality constraint.
    #[error("SMO solves problems with a sum, of all variables or of each sign, not {0:?}")]
    EqualityConstraint(EqualityConstraint),
    /// The start belongs to another problem.
    #[error("the start has {found} values, the problem {expected} variables")]
    Start {
        /// The number of values of the start.
        found: usize,
        /// The number of variables of the problem.
        expected: usize,
    },
    /// The problem names rows that the Gram matrix does not have.
    #[error("the problem names row {row}, the matrix has {rows} rows")]
    Row {
        /// The row.
        row: usize,
        /// The number of rows of the matrix.
        rows: usize,
    },
}

/// The problem sizes from which SMO works on active variables only, in rows as short as their
/// number.
///
/// The solution is the same within the tolerance. The iteration counts differ from those of a
/// solver that uses all variables in every pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shrinking {
    /// The least number of variables of a problem: the rows of smaller ones are short already.
    pub from: usize,
    /// The least number of variables of a problem with a long run. After [`Shrinking::LONG`]
    /// iterations per variable most variables have settled.
    pub long_from: usize,
    /// The number of variables of the first round. Also the least number that enter a later round,
    /// if as many violate the conditions of optimality.
    pub first: usize,
    /// The least number of variables of a problem whose solution begins with those of samples of
    /// its rows, each twice as large as the last; the first one has about an eighth of this number.
    pub sampled_from: usize,
}

impl Shrinking {
    /// All variables in every pass, as in the papers.
    pub const NEVER: Self = Self { from: usize::MAX, long_from: usize::MAX, first: 1, sampled_from: usize::MAX };

    /// The iterations per variable that make a run long.
    pub const LONG: u64 = 5;

    /// Returns true if SMO works on active variables from `alpha` on, and keeps none of the full
    /// `rows`.
    pub fn pays(&self, dual: &Dual, rows: &Rows, alpha: &[f64]) -> bool {
        self.uses(dual, rows, alpha).at_once
    }

    /// Returns when SMO works on active variables, from this start on.
    pub(crate) fn uses(&self, dual: &Dual, rows: &Rows, alpha: &[f64]) -> ActiveUse {
        let gram = rows.gram();
        // Rows of one-byte codes are cheaper to keep than to compute twice, unless few variables
        // move.
        let kept = rows.holds_all() && gram.table().is_some();
        let limits = if kept { FEW } else { Shares::ANY };
        let shares = Shares::of(dual, alpha);
        // A start that is no zero is that of a fold or of another C. Where it has few support
        // vectors, few rows are needed, and the problems after this one find them.
        let needs_few_rows = kept && shares.support > 0.0 && shares.support < FEW_ROWS;
        // With a sum per sign there are two ranges of `f`; rounds handle one.
        let can = matches!(dual.balance(), EqualityConstraint::Sum(_)) && gram.value_cost() <= CHEAP;
        // A long run has stored most rows already. Where they leave no room for a second matrix,
        // each row would be computed again.
        let roomy = !rows.holds_all() || rows.room() >= rows.budget() / 4;
        ActiveUse {
            at_once: can && dual.len() >= self.from && !needs_few_rows && shares.are_within(&limits),
            limits,
            in_long_runs: can && roomy && dual.len() >= self.long_from,
        }
    }
}

/// When a run works on active variables.
pub(crate) struct ActiveUse {
    /// From its start, as long as no larger shares of the variables move.
    pub(crate) at_once: bool,
    pub(crate) limits: Shares,
    /// After [`Shrinking::LONG`] iterations per variable.
    pub(crate) in_long_runs: bool,
}

/// Shares of the variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    /// Between their bounds.
    pub(crate) free: f64,
    /// Not 0.
    pub(crate) support: f64,
}

/// The largest shares at which rows that could be kept are not. On Adult at γ = 0.05, C = 0.1 and
/// 1, at most 5 % of the first set is free and 56 % not 0. At γ = 0.5, where rounds take twice as
/// long as kept rows, 62 % is free at C = 1, and nearly all of it is bounded at C = 0.1.
const FEW: Shares = Shares { free: 0.2, support: 0.7 };

/// The least share of support vectors of a start at which rows that could be kept are not. On w8a,
/// C = 1 and γ = 0.05, it is 7 %, and ten folds take a fifth longer by rounds.
const FEW_ROWS: f64 = 0.2;

impl Shares {
    pub(crate) const ANY: Self = Self { free: f64::INFINITY, support: f64::INFINITY };

    /// The shares of so many variables.
    pub(crate) fn of_counts(free: usize, support: usize, variables: usize) -> Self {
        let all = variables.max(1) as f64;
        Self { free: free as f64 / all, support: support as f64 / all }
    }

    fn of(dual: &Dual, alpha: &[f64]) -> Self {
        let free = alpha.iter().zip(dual.upper()).filter(|(alpha, upper)| **alpha > 0.0 && alpha < upper).count();
        Self::of_counts(free, alpha.iter().filter(|alpha| **alpha != 0.0).count(), alpha.len())
    }

    pub(crate) fn are_within(&self, limits: &Self) -> bool {
        self.free <= limits.free && self.support <= limits.support
    }
}

impl Default for Shrinking {
    fn default() -> Self {
        Self { from: 6000, long_from: 1000, first: 4000, sampled_from: 65_536 }
    }
}

/// The largest cost of a kernel value in nanoseconds ([`maxmargin_kernel::Gram::value_cost`]).
/// Dearer values, as those of 140 real features or of text, are better stored.
const CHEAP: f64 = 4.0;
