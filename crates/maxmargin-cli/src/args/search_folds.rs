//! The folds of `search`.

use super::values;
use crate::problem::folds::Folds;
use clap::Args;

/// The folds of `search`, whose other options are the defaults.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cross-validation")]
pub(crate) struct SearchFoldArgs {
    /// Number of folds (--folds K is the same)
    #[arg(short = 'k', value_name = "K", default_value_t = 5, value_parser = values::fold_count)]
    pub(crate) k: usize,
    /// stratified, shuffled, groups:COLUMN (rows of one word in this column stay together),
    /// expanding (rows in order of time) and the others of `cv`, or a file with one fold number per
    /// row; the scaling is then chosen by the same folds of all rows [default: stratified, or
    /// shuffled without classes]
    #[arg(long, value_name = "HOW|FILE", value_parser = values::folds)]
    pub(crate) folds: Option<Folds>,
}
