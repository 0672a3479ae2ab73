//! What a path is asked to do and what it answers.

use maxmargin_core::{Halted, Status};
use serde::{Deserialize, Serialize};

/// How several samples are taken in or given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All at once, along one line (MID, Karasuyama and Takeuchi 2009).
    #[default]
    Multiple,
    /// One after the other, additions first (SID, Cauwenberghs and Poggio 2000).
    Single,
}

/// How a path is followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Config {
    /// All at once or one by one.
    pub mode: Mode,
    /// Stop after this many breakpoints and report where the path has got to
    /// ([`Status::IterationLimit`]).
    pub limit: Option<usize>,
    /// After this many breakpoints leave the path and solve for its end by the active set (`None`:
    /// four times the members plus 1,000, which no path that makes progress has been seen to need).
    pub switch: Option<usize>,
    /// Bytes that kernel columns and the factor of the margin may take together. Columns without
    /// room are computed each time; where the factor alone is larger, that is
    /// [`PathError::Memory`].
    pub memory: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { mode: Mode::Multiple, limit: None, switch: None, memory: 1 << 30 }
    }
}

impl Config {
    /// The same with another mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// The same with a breakpoint limit.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// The same with another point at which the path is left for the active set.
    #[must_use]
    pub fn with_switch(mut self, switch: Option<usize>) -> Self {
        self.switch = switch;
        self
    }

    /// The same with another memory budget in bytes.
    #[must_use]
    pub fn with_memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }
}

/// A sample to be taken in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    /// Its row in the Gram matrix.
    pub id: usize,
    /// Its `C`.
    pub upper: f64,
}

/// What one call did and how exact the result is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Update {
    /// Changes of the sets along the path (the paper's breakpoints).
    pub breakpoints: usize,
    /// Those of them at which the path did not move: ties.
    pub zero_steps: usize,
    /// Pivots that replaced a singular insertion.
    pub exchanges: usize,
    /// Changes of the sets by the active-set finish after the path. 0 after a clean walk.
    pub repairs: usize,
    /// How far the path was followed: 1 is its end; less where the finish took over or the limit
    /// came first.
    pub travelled: f64,
    /// [`Status::Converged`]: the KKT violation, from freshly computed residuals, is at most
    /// `tolerance`. [`Status::IterationLimit`]: the breakpoint limit came first, the path can be
    /// resumed or finished. [`Status::Stalled`]: the violation could not be brought below
    /// `tolerance`.
    pub status: Status,
    /// KKT violation `max over I_low − min over I_up` (that of `maxmargin_core::Certificate`), from
    /// residuals computed afresh in `f64`. While the path is under way, that of the samples that
    /// are not driven, from the residuals the path carries.
    pub kkt: f64,
    /// The violation that counts as exact: 10⁻⁸ for classification (times the largest linear term
    /// in general), or four times `ε·max K·Σ|α|`, the rounding of a decision value, where that is
    /// more.
    pub tolerance: f64,
    /// Samples in the margin set.
    pub margin: usize,
    /// Samples with α = C.
    pub bounded: usize,
    /// Kernel columns computed by this call.
    pub columns: u64,
    /// The most bytes that kernel columns and factor have taken at any time.
    pub bytes: u64,
}

impl Update {
    /// Nothing done yet, and nothing known of what there is.
    pub fn nothing() -> Self {
        Self {
            breakpoints: 0,
            zero_steps: 0,
            exchanges: 0,
            repairs: 0,
            travelled: 0.0,
            status: Status::IterationLimit,
            kkt: f64::INFINITY,
            tolerance: 0.0,
            margin: 0,
            bounded: 0,
            columns: 0,
            bytes: 0,
        }
    }

    /// This call and the one that went on from where it stopped, as one: counts are summed, the
    /// rest is how the later one ended.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        Self {
            breakpoints: self.breakpoints + later.breakpoints,
            zero_steps: self.zero_steps + later.zero_steps,
            exchanges: self.exchanges + later.exchanges,
            repairs: self.repairs + later.repairs,
            columns: self.columns + later.columns,
            ..later
        }
    }

    /// This call and one on another path: counts are summed, the rest is that of the one that came
    /// less far.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        Self {
            breakpoints: self.breakpoints + other.breakpoints,
            zero_steps: self.zero_steps + other.zero_steps,
            exchanges: self.exchanges + other.exchanges,
            repairs: self.repairs + other.repairs,
            margin: self.margin + other.margin,
            bounded: self.bounded + other.bounded,
            columns: self.columns + other.columns,
            bytes: self.bytes + other.bytes,
            travelled: self.travelled.min(other.travelled),
            status: self.status.worse(other.status),
            kkt: self.kkt.max(other.kkt),
            tolerance: self.tolerance.max(other.tolerance),
        }
    }
}

/// Why a path cannot do what it is asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// An id beyond the Gram matrix.
    #[error("sample {id} does not exist: the Gram matrix has {pool} rows")]
    Unknown {
        /// The id.
        id: usize,
        /// Rows of the Gram matrix.
        pool: usize,
    },
    /// Removing or changing what is not there.
    #[error("sample {0} is not part of the model")]
    NotMember(usize),
    /// Adding what is there already.
    #[error("sample {0} is part of the model already: remove it first, or change its C")]
    Member(usize),
    /// The same id twice in one call.
    #[error("sample {0} is named twice")]
    Twice(usize),
    /// C must be finite and not negative.
    #[error("C of sample {id} is {value}: it must be a finite number, and not negative")]
    Upper {
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// Labels are ±1.
    #[error("the label of sample {id} is {value}: it must be +1 or -1")]
    Label {
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// Vectors of different lengths.
    #[error("{what} has {found} entries, expected are {expected}")]
    Length {
        /// The vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// An α or a kernel value is not a number.
    #[error("{what} of sample {id} is {value}: it must be finite")]
    NotFinite {
        /// What.
        what: &'static str,
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// A path is under way.
    #[error("the last change has stopped at its breakpoint limit: resume or finish it first")]
    Unfinished,
    /// The problem is none with one balance of the form Σ sα = d over distinct samples.
    #[error("the active-set finish needs a balance of the form sum(sign * alpha) = d, and every sample once")]
    Unsupported,
    /// The caller said that the rest is not wanted. The model is neither what it was nor what it
    /// was to be: only to be dropped.
    #[error("the path was called off: go on from the last solution that was saved")]
    Interrupted,
    /// The factor does not fit.
    #[error(
        "the factor of {margin} samples in the margin takes {} MiB, and {} MiB are allowed: allow more memory, or train anew",
        .needed.div_ceil(1 << 20), .budget >> 20
    )]
    Memory {
        /// Samples in the margin.
        margin: usize,
        /// Bytes that they need.
        needed: u64,
        /// Bytes that are allowed.
        budget: u64,
    },
    /// No feasible point.
    #[error("the balance cannot be reached within the box")]
    Infeasible,
}

impl From<Halted> for PathError {
    fn from(_: Halted) -> Self {
        Self::Interrupted
    }
}

/// A solution as it is written to disk: which samples, their C, α and the bias.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Row of each sample in the Gram matrix, ascending.
    pub ids: Vec<usize>,
    /// C of each.
    pub upper: Vec<f64>,
    /// α of each.
    pub alpha: Vec<f64>,
    /// The bias.
    pub bias: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_several_calls_are_summed() {
        let counts = |k: usize| Update {
            breakpoints: k,
            zero_steps: 2 * k,
            exchanges: 3 * k,
            repairs: 4 * k,
            columns: 5 * k as u64,
            margin: 6 * k,
            bounded: 7 * k,
            bytes: 8 * k as u64,
            travelled: 1.0 / k as f64,
            kkt: k as f64,
            tolerance: k as f64,
            ..Update::nothing()
        };
        let later = counts(5).followed_by(counts(11));
        let ended =
            Update { margin: 66, bounded: 77, bytes: 88, travelled: 1.0 / 11.0, kkt: 11.0, tolerance: 11.0, ..counts(16) };
        assert_eq!(later, ended);
        let both = counts(5).beside(counts(11));
        assert_eq!(both, Update { travelled: 1.0 / 11.0, kkt: 11.0, tolerance: 11.0, ..counts(16) });
    }
}
