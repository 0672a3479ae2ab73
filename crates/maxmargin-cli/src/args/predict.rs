//! Options of `predict`.

use super::groups::{DataArgs, ShortRunArgs, WriteArgs};
use super::probability::DecisionRuleName;
use super::values;
use crate::console::name_list::NameList;
use clap::Args;
use maxmargin::conformal::Level;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Model file, native or LIBSVM's
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    /// File for the predictions: one label per row, or for a table a table [default: standard
    /// output, and none with --json]
    #[arg(short, long, value_name = "OUT", help_heading = "Predictions")]
    pub(crate) output: Option<PathBuf>,
    /// Column of a table to copy to the predictions, by name or number, such as an identifier;
    /// repeatable or comma-separated, quoted as for --drop
    #[arg(long, value_name = "NAME", help_heading = "Predictions")]
    pub(crate) id: Vec<NameList>,
    /// Write the machines' decision values instead of labels, in a table beside them; a threshold
    /// is not subtracted
    #[arg(long, help_heading = "Predictions")]
    pub(crate) decision: bool,
    /// Write the label and the probability of every class; the first line names the classes
    /// (LIBSVM's svm-predict -b 1)
    #[arg(long, conflicts_with = "decision", help_heading = "Predictions")]
    pub(crate) probability: bool,
    #[command(flatten)]
    pub(crate) conformal: ConformalPredictArgs,
    /// Rule that turns decision values into labels, for models with probabilities or a threshold
    /// [default: the model's]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Predictions")]
    pub(crate) decide: Option<DecisionRuleName>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Options of conformal predictions.
#[derive(Clone, Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub(crate) struct ConformalPredictArgs {
    /// Add the bounds of an interval to every value, which misses the truth in about the share of
    /// rows that the model was trained for (--conformal)
    #[arg(long, conflicts_with_all = ["decision", "probability"], help_heading = "Predictions")]
    pub(crate) intervals: bool,
    /// Add a column for each class: 1 if it is in the row's set, else 0. Sets miss the truth in
    /// about the share of rows that the model was trained for (--conformal)
    #[arg(long, conflicts_with_all = ["decision", "probability", "intervals"], help_heading = "Predictions")]
    pub(crate) sets: bool,
    /// Make exact sets of two classes, which use all training rows and no folds (full conformal
    /// prediction): every row is added to the training set with each label. For models trained with
    /// --updatable
    #[arg(long, requires = "sets", help_heading = "Predictions")]
    pub(crate) full: bool,
    /// Make the promise of --full for each class by itself
    #[arg(long, requires = "full", help_heading = "Predictions")]
    pub(crate) per_class: bool,
    /// Group of each row, for models trained with --conformal-groups: a file with a word on a line
    /// for each row, or for a table the name of a column
    #[arg(long, value_name = "FILE|COLUMN", conflicts_with_all = ["decision", "probability", "full"], help_heading = "Predictions")]
    pub(crate) conformal_groups: Option<String>,
    /// Share of intervals or sets that may miss the truth, instead of the one of the training
    #[arg(long, value_name = "ALPHA", value_parser = values::conformal_level, allow_hyphen_values = true, help_heading = "Predictions")]
    pub(crate) alpha: Option<Level>,
    /// Add the p-value of every row, and 1 for outliers, of which at most this share are normal
    /// rows (Benjamini-Hochberg), else 0; for one-class models trained with --conformal
    #[arg(long, value_name = "RATE", conflicts_with_all = ["decision", "probability", "intervals", "sets", "alpha"], value_parser = values::conformal_level, allow_hyphen_values = true, help_heading = "Predictions")]
    pub(crate) fdr: Option<Level>,
}
