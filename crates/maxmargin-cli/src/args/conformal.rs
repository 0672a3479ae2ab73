//! Options of conformal predictions.

use super::values;
use clap::Args;
use maxmargin::conformal::{ConformalScore, Level};
use maxmargin::cv::{ConformalOptions, Exchangeable};

/// Options of a training or cross-validation for conformal predictions.
#[derive(Clone, Copy, Debug, Args)]
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
    /// Score that tells how badly a row fits: plain, by decision values; for values also scaled,
    /// errors divided by those that a second machine predicts; for classes also aps, sums
    /// of probabilities, whose sets grow with the difficulty of the row, or raps, aps with a
    /// penalty for many classes, also as raps:WEIGHT:FREE, which adds WEIGHT for each class beyond
    /// the FREE most probable ones
    #[arg(long, value_name = "SCORE", requires = "conformal", default_value_t)]
    pub(crate) conformal_score: ConformalScore,
}

impl ConformalArgs {
    /// Returns the request over folds of this name, if there is one.
    pub(crate) fn request(self, folds: &str) -> Option<ConformalOptions> {
        let exchangeable = match folds {
            "groups" | "stratified-groups" | "leave-one-group-out" => Exchangeable::Groups,
            "expanding" | "sliding" => Exchangeable::Nothing,
            _ => Exchangeable::Rows,
        };
        let options = ConformalOptions {
            per_class: self.per_class,
            score: self.conformal_score,
            exchangeable,
            ..ConformalOptions::new(self.conformal?)
        };
        Some(options)
    }
}
