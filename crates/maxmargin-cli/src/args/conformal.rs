//! Options of conformal predictions.

use super::values;
use clap::Args;
use maxmargin::conformal::Level;
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
}

impl ConformalArgs {
    /// Returns the request over folds of this name, if there is one.
    pub(crate) fn request(self, folds: &str) -> Option<ConformalOptions> {
        let exchangeable = match folds {
            "groups" | "stratified-groups" | "leave-one-group-out" => Exchangeable::Groups,
            "expanding" | "sliding" => Exchangeable::Nothing,
            _ => Exchangeable::Rows,
        };
        let options = ConformalOptions { per_class: self.per_class, exchangeable, ..ConformalOptions::new(self.conformal?) };
        Some(options)
    }
}
