//! Scores of predictions.
//!
#![doc = include_str!("../README.md")]
//!
//! [`Metric`] is a row of the tables in `classification`, `ranking`, `regression` and `one_class`;
//! [`metrics_of`] and [`all_metrics`] list the rows for a [`Purpose`] of predictions, and
//! [`scores`] computes all of them. [`Confusion`] counts classes against predictions.
//! [`RankingCurves`] are those of ROC and of precision and recall. [`Reliability`] scores
//! probabilities. [`LevelScores`] are those of several quantiles. [`FoldStatistics`] tells how the
//! scores of folds spread.
//!
//! Functions of labels and predictions panic when there is not one of them for each label.
//!
//! Layer 3 of maxmargin: of the core it takes formulations and the kinds of their targets.

mod classification;
mod confusion;
mod levels;
mod metric;
mod one_class;
mod ranking;
mod regression;
mod reliability;
mod scores;
mod statistics;

pub use classification::{
    ACCURACY, BALANCED_ACCURACY, CLASS_METRICS, F1, F1_MACRO, MATTHEWS, PRECISION, RECALL, TWO_CLASS_METRICS,
};
pub use confusion::Confusion;
pub use levels::{LevelScore, LevelScores, scores_of_levels};
pub use metric::{Best, Metric, greatest_label};
pub use one_class::{INLIER_METRICS, INLIERS};
pub use ranking::{AVERAGE_PRECISION, ROC_AUC, RankingCurves};
pub use regression::{
    COVERAGE, EXPECTILE_LOSS, EXPECTILE_METRICS, EXPLAINED_VARIANCE, MEAN_ABSOLUTE_ERROR, MEAN_SQUARED_ERROR, PINBALL_LOSS,
    QUANTILE_METRICS, R2, REGRESSION_METRICS, ROOT_MEAN_SQUARED_ERROR, SPEARMAN, SQUARED_CORRELATION,
};
pub use reliability::{Bin, Reliability};
pub use scores::{Purpose, Score, all_metrics, are_sides, is_countable, metrics_of, score_of, scores};
pub use statistics::{CONFIDENCE, FoldStatistics, NamedStatistics, statistics_of};
