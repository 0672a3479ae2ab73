//! Options of `explain`.

use super::groups::{DataArgs, ShortRunArgs, WriteArgs};
use super::values;
use crate::console::name_list::NameList;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Model file, native or LIBSVM's, with a linear, RBF or polynomial kernel
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Compare with the rows of this file, such as a sample of the training data: an absent column
    /// has the value of one of them, on average over all [default: an absent column takes no part
    /// in the kernel]
    #[arg(long, value_name = "FILE", help_heading = "Explanation")]
    pub(crate) background: Option<String>,
    /// Also compute the interaction of every pair of columns
    #[arg(long, help_heading = "Explanation")]
    pub(crate) interactions: bool,
    /// Explain this row only, counted from 1
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Explanation")]
    pub(crate) row: Option<u64>,
    /// Write a table: for each row and machine the base value, the decision value and the
    /// contribution of each column; separated by tabs if the name ends in .tsv, by commas otherwise
    /// [- is standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Column of a table to copy to the output, by name or number, such as an identifier;
    /// repeatable or comma-separated, quoted as for --drop
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub(crate) id: Vec<NameList>,
    /// Draw the largest contributions, over all rows or of the row of --row: PNG if the name ends
    /// in .png, SVG otherwise
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
