//! Requests to a path and its reports.

use maxmargin_core::{Cancelled, Status};
use serde::{Deserialize, Serialize};

/// The order in which several samples are added or removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All at once, along one line (MID, Karasuyama and Takeuchi 2009).
    #[default]
    Multiple,
    /// One after the other, additions first (SID, Cauwenberghs and Poggio 2000).
    Single,
}

/// The options of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PathConfig {
    /// All samples at once, or one by one.
    pub mode: Mode,
    /// The number of breakpoints after which the path stops and reports its position
    /// ([`Status::IterationLimit`]).
    pub limit: Option<usize>,
    /// The bytes that kernel columns and the factor of the margin may take together. Columns
    /// without room are computed for each use; a factor that alone is larger is
    /// [`PathError::Memory`].
    pub memory: u64,
}

impl Default for PathConfig {
    fn default() -> Self {
        Self { mode: Mode::Multiple, limit: None, memory: 1 << 30 }
    }
}

impl PathConfig {
    /// Returns the options with another mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Returns the options with a breakpoint limit.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the options with another memory budget in bytes.
    #[must_use]
    pub fn with_memory(mut self, memory: u64) -> Self {
        self.memory = memory;
        self
    }
}

/// A sample to be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Added {
    /// The row in the Gram matrix.
    pub id: usize,
    /// The `C` of the sample.
    pub upper: f64,
}

/// The report of a call: its work and the exactness of the result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Update {
    /// The changes of the sets along the path (the paper's breakpoints).
    pub breakpoints: usize,
    /// The breakpoints at which the path did not move: ties.
    pub zero_steps: usize,
    /// The pivots that replaced a singular insertion.
    pub exchanges: usize,
    /// The changes of the sets by the active-set finish after the path. 0 after a complete walk.
    pub repairs: usize,
    /// The part of the path that was followed: 1 at its end, less if the finish took over or the
    /// limit came first.
    pub travelled: f64,
    /// The end of the call. [`Status::Converged`]: the KKT violation, from recomputed residuals, is
    /// at most `tolerance`. [`Status::IterationLimit`]: the breakpoint limit came first, and the
    /// path can be resumed or finished. [`Status::Stalled`]: the violation stayed above
    /// `tolerance`.
    pub status: Status,
    /// The KKT violation `max over I_low − min over I_up` (that of `maxmargin_core::Certificate`),
    /// from residuals recomputed in `f64`. While the path is under way, it is that of the samples
    /// that are not driven, from the residuals of the path.
    pub kkt: f64,
    /// The violation that counts as exact: 10⁻⁸ for classification (times the largest linear term
    /// in general), or four times `ε·max K·Σ|α|`, the rounding of a decision value, if that is
    /// larger.
    pub tolerance: f64,
    /// The number of samples in the margin set.
    pub margin: usize,
    /// The number of samples with α = C.
    pub bounded: usize,
    /// The kernel columns computed by this call.
    pub columns: u64,
    /// The largest number of bytes of kernel columns and factor so far.
    pub bytes: u64,
}

impl Update {
    /// Returns the report of no work, with an unknown result.
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

    /// Returns the report of this call and of the one that continued it: counts are summed, the
    /// rest is that of the later one.
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

    /// Returns the report of this call and of one on another path: counts are summed, the rest is
    /// the worse of both.
    #[must_use]
    pub fn merged_with(self, other: Self) -> Self {
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

/// The reason why a path refuses a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// An id is beyond the Gram matrix.
    #[error("sample {id} does not exist: the Gram matrix has {pool} rows")]
    Unknown {
        /// The id.
        id: usize,
        /// Rows of the Gram matrix.
        pool: usize,
    },
    /// A sample to remove or change is not in the model.
    #[error("sample {0} is not part of the model")]
    NotMember(usize),
    /// A sample to add is in the model already.
    #[error("sample {0} is part of the model already: remove it first, or change its C")]
    Member(usize),
    /// An id appears twice in one call.
    #[error("sample {0} is named twice")]
    Twice(usize),
    /// C is negative or not finite.
    #[error("C of sample {id} is {value}: it must be a finite number, and not negative")]
    Upper {
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// A label is not ±1.
    #[error("the label of sample {id} is {value}: it must be +1 or -1")]
    Label {
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// Vectors have different lengths.
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
        /// The name of the number.
        what: &'static str,
        /// The id.
        id: usize,
        /// The value.
        value: f64,
    },
    /// A path is under way.
    #[error("the last change has stopped at its breakpoint limit: resume or finish it first")]
    Unfinished,
    /// The problem has no single constraint of the form Σ sα = d over distinct samples.
    #[error("the active-set finish needs a balance of the form sum(sign * alpha) = d, and every sample once")]
    Unsupported,
    /// The run was cancelled. The model is between its old and its new solution and must be
    /// dropped.
    #[error("the path was cancelled: continue from the last saved solution")]
    Interrupted,
    /// The factor does not fit into memory.
    #[error(
        "the factor of {margin} samples in the margin takes {} MiB, and {} MiB are allowed: allow more memory, or train anew",
        .needed.div_ceil(1 << 20), .budget >> 20
    )]
    Memory {
        /// The samples in the margin.
        margin: usize,
        /// The bytes that they need.
        needed: u64,
        /// The bytes that are allowed.
        budget: u64,
    },
    /// No feasible point exists.
    #[error("the balance cannot be reached within the box")]
    Infeasible,
}

impl From<Cancelled> for PathError {
    fn from(_: Cancelled) -> Self {
        Self::Interrupted
    }
}

/// Checks that all ids are rows of the pool, and each is named once.
pub(crate) fn check_ids(ids: impl Iterator<Item = usize>, pool: usize) -> Result<(), PathError> {
    let mut ids: Vec<usize> = ids.collect();
    ids.sort_unstable();
    if let Some(&id) = ids.last().filter(|&&id| id >= pool) {
        return Err(PathError::Unknown { id, pool });
    }
    ids.windows(2).find(|w| w[0] == w[1]).map_or(Ok(()), |w| Err(PathError::Twice(w[0])))
}

/// A solution as stored on disk: the samples, their C, α and the bias.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The row of each sample in the Gram matrix, ascending.
    pub ids: Vec<usize>,
    /// The C of each sample.
    pub upper: Vec<f64>,
    /// The α of each sample.
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
        let both = counts(5).merged_with(counts(11));
        assert_eq!(both, Update { travelled: 1.0 / 11.0, kkt: 11.0, tolerance: 11.0, ..counts(16) });
    }
}
