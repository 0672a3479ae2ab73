//! Options of the list of doubtful labels.

use crate::console::name_list::NameList;
use clap::Args;
use std::path::PathBuf;

/// Options of the list of doubtful labels.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SuspectArgs {
    /// Write a table of all rows, those whose label is probably wrong first: the margin of the
    /// label by machines that were not trained on the row, and equal rows with another label. `loo`
    /// adds the leverage: how far the removal of the row moves the decision values of the others
    #[arg(long, value_name = "FILE")]
    pub(crate) suspects: Option<PathBuf>,
    /// Column of a table to copy to --suspects, by name or number, such as an identifier;
    /// repeatable or comma-separated, quoted as for --drop
    #[arg(long, value_name = "NAME", requires = "suspects")]
    pub(crate) id: Vec<NameList>,
}
