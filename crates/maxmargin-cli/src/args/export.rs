//! Options of `export`.

use super::groups::{DataOptions, WriteArgs};
use super::values;
use clap::Args;
use maxmargin::conformal::Level;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("files").args(["onnx", "c", "json"]).multiple(true).required(true)))]
pub(crate) struct ExportArgs {
    /// Model file, native or LIBSVM's, with a linear, polynomial, RBF or sigmoid kernel
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    /// Write an ONNX graph, for onnxruntime and others [- is standard output]
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    pub(crate) onnx: Option<PathBuf>,
    /// Write one C99 file that needs no library but math [- is standard output]
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    pub(crate) c: Option<PathBuf>,
    /// Write JSON, from which any language predicts in 30 lines [- is standard output]
    #[arg(long, value_name = "FILE", help_heading = "Formats")]
    pub(crate) json: Option<PathBuf>,
    /// Compute in single precision: ONNX by operators of ai.onnx.ml, unless a label of --check
    /// could turn; C by float
    #[arg(long, help_heading = "Formats")]
    pub(crate) float32: bool,
    /// Compare the predictions of the ONNX graph with the model's on the rows of this file, and
    /// note it in the file
    #[arg(long, value_name = "DATA", requires = "onnx", help_heading = "Formats")]
    pub(crate) check: Option<String>,
    /// Share of intervals that may miss the truth, instead of the one of the training (regressions
    /// trained with --conformal)
    #[arg(long, value_name = "ALPHA", value_parser = values::conformal_level, allow_hyphen_values = true, help_heading = "Formats")]
    pub(crate) alpha: Option<Level>,
    /// Beginning of all names in C
    #[arg(long, value_name = "NAME", default_value = "svm", requires = "c", help_heading = "Formats")]
    pub(crate) prefix: String,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// Number of threads [default: all processors]
    #[arg(long, value_parser = values::threads, help_heading = "Run")]
    pub(crate) threads: Option<usize>,
    /// Print no report and no notes; warnings are still printed
    #[arg(short, long, help_heading = "Run")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
