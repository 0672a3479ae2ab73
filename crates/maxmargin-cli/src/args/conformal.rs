//! Options of conformal predictions.

use super::values;
use clap::Args;
use maxmargin::conformal::{ConformalScore, Level};
use maxmargin::cv::{ConformalGroups, ConformalOptions, Exchangeable};
use std::sync::Arc;

/// Options of a training or cross-validation for conformal predictions.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Conformal prediction")]
pub(crate) struct ConformalArgs {
    /// Predictions with a promise: intervals of a regression, sets of classes, p-values of one
    /// class, of which about this share misses the truth, such as 0.1 (at most twice the share is
    /// what is proved). They come from scores by folds, whose machines the model keeps
    #[arg(long, value_name = "ALPHA", value_parser = values::conformal_level, allow_hyphen_values = true)]
    pub(crate) conformal: Option<Level>,
    /// Make the promise for each class by itself, instead of for all rows together
    #[arg(long, requires = "conformal")]
    pub(crate) per_class: bool,
    /// Make the promise for each group of rows by itself: a file with the group of each row, a word
    /// on a line of its own, or for a table the name of a column, which is then no feature; with
    /// --per-class, for each class in each group. Predictions need the group of each row as well
    #[arg(long, value_name = "FILE|COLUMN", requires = "conformal")]
    pub(crate) conformal_groups: Option<String>,
    /// Score that tells how badly a row fits: plain, by decision values; for values also scaled,
    /// errors divided by those that a second machine predicts; for classes also aps, sums
    /// of probabilities, whose sets grow with the difficulty of the row, or raps, aps with a
    /// penalty for many classes, also as raps:WEIGHT:FREE, which adds WEIGHT for each class beyond
    /// the FREE most probable ones
    #[arg(long, value_name = "SCORE", requires = "conformal", default_value_t)]
    pub(crate) conformal_score: ConformalScore,
}

impl ConformalArgs {
    /// Returns the request over folds of this name, if there is one. `groups` are those of the rows
    /// of the data.
    pub(crate) fn request(&self, folds: &str, groups: Option<ConformalGroups>) -> Option<ConformalOptions> {
        let exchangeable = match folds {
            "groups" | "stratified-groups" | "leave-one-group-out" => Exchangeable::Groups,
            "expanding" | "sliding" => Exchangeable::Nothing,
            _ => Exchangeable::Rows,
        };
        let options = ConformalOptions {
            per_class: self.per_class,
            groups: groups.map(Arc::new),
            score: self.conformal_score,
            exchangeable,
            ..ConformalOptions::new(self.conformal?)
        };
        Some(options)
    }
}
