//! Options of the commands about other programs' files, this program and the machine.

use super::groups::{DataArgs, ShortRunArgs, WriteArgs};
use super::values::{self, ScaleName};
use clap::Args;
use clap_complete::Shell;
use maxmargin::model::ModelFormat;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Model file, native, LIBSVM's or LIBLINEAR's
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Output file [- is standard output]
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format to write
    #[arg(long, value_name = "native|libsvm|liblinear", value_parser = values::model_format())]
    pub(crate) format: &'static ModelFormat,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Scaling method
    #[arg(long, value_enum, default_value_t = ScaleName::Minmax)]
    pub(crate) method: ScaleName,
    /// Lower end of the range (minmax)
    #[arg(short, long, default_value_t = -1.0, allow_negative_numbers = true, value_parser = values::finite)]
    pub(crate) lower: f64,
    /// Upper end of the range (minmax)
    #[arg(short, long, default_value_t = 1.0, allow_negative_numbers = true, value_parser = values::finite)]
    pub(crate) upper: f64,
    /// Write the ranges to this file (LIBSVM's svm-scale -s)
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    pub(crate) save_range: Option<PathBuf>,
    /// Use the ranges of this file (LIBSVM's svm-scale -r)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lower", "upper", "method"])]
    pub(crate) range: Option<PathBuf>,
    /// File for the scaled data [default: standard output]
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Print no notes on standard error; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
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
