//! Reasons for which rows cannot be explained.

use maxmargin_data::Cancelled;
use maxmargin_model::ModelError;

/// A reason for which rows cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The kernel has no exact Shapley values that can be computed in reasonable time.
    #[error("exact Shapley values exist here for linear, rbf and polynomial kernels; this model has a {0} kernel")]
    Kernel(&'static str),
    /// The degree of a polynomial kernel is too large.
    #[error("a polynomial kernel of degree {found}: exact Shapley values are computed up to degree {most}")]
    Degree {
        /// Degree of the kernel.
        found: u32,
        /// The largest degree.
        most: u32,
    },
    /// The background set has no rows.
    #[error("the background set has no rows; give rows like those of the training set, or none at all")]
    EmptyBackground,
    /// The background set has another number of features.
    #[error("the background set has {found} features, the model has {expected}")]
    Background {
        /// Features of the background set.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// The players do not cover the features.
    #[error("players for {found} features, the model has {expected}")]
    Players {
        /// Features that the players cover.
        found: usize,
        /// Features of the model.
        expected: usize,
    },
    /// The values take too much memory.
    #[error(
        "values of {players} players for {rows} rows take {bytes} bytes; explain fewer rows at once, group features, or leave \
         out interactions"
    )]
    Memory {
        /// Players.
        players: usize,
        /// Rows to explain.
        rows: usize,
        /// Bytes of all values, interactions and weights.
        bytes: u128,
    },
    /// The rows do not suit the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
