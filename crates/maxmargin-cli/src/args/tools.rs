//! Options of the commands about other programs' models, this program and the machine.

use super::WriteArgs;
use super::groups::ShortRunArgs;
use clap::{Args, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;

/// The format of a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelFormat {
    /// maxmargin's
    Native,
    /// LIBSVM's text
    Libsvm,
    /// LIBLINEAR's text
    Liblinear,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Model file, native, LIBSVM's or LIBLINEAR's
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Output file [- is standard output]
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) format: ModelFormat,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LinksArgs {
    /// Folder for the links, created if missing; put it first in PATH
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Replace files that have these names, but not folders
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages, created if missing
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
