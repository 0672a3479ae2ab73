//! Intervals of a regression from the machines and scores of folds.

use super::functions::Functions;
use serde::Serialize;

/// The decision functions of one fold: its lower and its upper prediction, as [group of functions,
/// place in it].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldBand {
    /// The lower prediction; that of a regression without quantiles is the upper one as well.
    pub lower: [usize; 2],
    /// The upper prediction.
    pub upper: [usize; 2],
    /// The scores of the rows that the fold held out, ascending.
    pub scores: Vec<f64>,
}

/// Intervals by the machines of folds (docs/math/conformal.md).
///
/// The lower bound is the `rank`-th smallest of `lower − score` over all scores, each with the
/// prediction of its fold; the upper bound is the `rank`-th greatest of `upper + score`. With rank
/// 0, bounds are infinite.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoldIntervals {
    /// The share of intervals that may miss the truth.
    pub alpha: f64,
    /// `⌊alpha (n + 1)⌋` for `n` scores.
    pub rank: usize,
    /// The decision functions of the folds, in groups that share vectors.
    pub functions: Vec<Functions>,
    /// The folds.
    pub folds: Vec<FoldBand>,
}

impl FoldIntervals {
    /// The number of constants.
    pub(super) fn numbers(&self) -> usize {
        let scores = self.folds.iter().map(|fold| fold.scores.len()).sum::<usize>();
        scores + self.functions.iter().map(Functions::numbers).sum::<usize>()
    }
}
