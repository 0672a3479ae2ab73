//! The errors of scores and levels.

/// The reason why scores or a level are not valid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConformalError {
    /// The level is not between 0 and 1.
    #[error("a level of {0}: it is the share of predictions that may miss the truth, above 0 and below 1, such as 0.1")]
    Level(f64),
    /// The lists of folds, scores and categories have different lengths.
    #[error("{folds} folds, {scores} scores and {categories} categories: give one of each for each row")]
    Lengths {
        /// Number of folds.
        folds: usize,
        /// Number of scores.
        scores: usize,
        /// Number of categories.
        categories: usize,
    },
    /// A score is NaN.
    #[error("the score of row {} is not a number", row + 1)]
    Score {
        /// The row, from 0.
        row: usize,
    },
    /// There is no kind of score of this name.
    #[error("no score is called `{0}`; there are plain, scaled, aps, raps and raps:WEIGHT:FREE, such as raps:0.1:1")]
    UnknownScore(String),
    /// There is no row with a score.
    #[error("no row has a score; use folds that test rows")]
    NoScores,
}
