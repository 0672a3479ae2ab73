//! The command line: commands, options, defaults.

mod formulation;
mod groups;
mod numbers;
mod probability;
mod ranges;
mod table;
mod tools;
mod values;

pub(crate) use formulation::FormulationArgs;
pub(crate) use groups::{
    CostArgs, DataArgs, DataOptions, FoldArgs, HowArgs, LogArgs, ProblemArgs, RunArgs, SearchArgs, SeedingArgs, ShortRunArgs,
    SolverArgs, SvmArgs, Taken, WriteArgs,
};
pub(crate) use numbers::Numbers;
pub(crate) use probability::{DecideName, ProbabilityArgs, decided, fitted};
pub(crate) use ranges::{Values, Widths};
pub(crate) use table::{FormatName, HeaderName, TableArgs};
pub(crate) use tools::{CompletionsArgs, ConvertArgs, DoctorArgs, LinksArgs, ManArgs, ModelFormat};
pub(crate) use values::{FOLDS, Folds, Json, KernelName, ScaleName, Share, Weight, bytes, threads};

use clap::{Args, Parser, Subcommand};
use maxmargin::cv::Probability;
use maxmargin::metrics::Metric;
use std::path::PathBuf;

/// Exact support vector machines: training, cross-validation, certified models.
#[derive(Debug, Parser)]
#[command(
    name = "maxmargin",
    version,
    long_version = crate::version::long(),
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 bad input, 2 bad usage, 3 stopped before convergence (the result is still written),\n\
                  130 interrupted with nothing written.\n\
                  Ctrl-C once: finish the step, write what is known; twice: stop at once.\n\n\
                  As LIBSVM's and LIBLINEAR's programs, with their options: maxmargin svm-train, svm-predict, svm-scale,\n\
                  liblinear-train, liblinear-predict (`maxmargin links DIR` makes programs of these names).\n\n\
                  Try: maxmargin cv two-gaussians --rows 2000 -k 10"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a model and write it with its certificate
    Train(TrainArgs),
    /// Predict labels or decision values with a model
    Predict(PredictArgs),
    /// k-fold cross-validation: every fold solved to tolerance and certified
    Cv(CvArgs),
    /// Leave-one-out cross-validation, exact
    Loo(LooArgs),
    /// Cross-validate every combination of C, gamma and kernel, and find the best
    Grid(Box<GridArgs>),
    /// Find scaling, C and gamma, train the best on all data and write the model: one command for
    /// who knows none of them
    Search(Box<FindArgs>),
    /// Add samples to a model and remove others, exactly
    Update(UpdateArgs),
    /// Certify a model file against its training data, trusting nothing in it
    Verify(VerifyArgs),
    /// Give a model probabilities or a threshold, from the data it was trained on
    ///
    /// Every fold has the factors of C that the model was trained with. A model does not know
    /// whether they were balanced; train --weight balanced --probability balances every fold.
    Calibrate(CalibrateArgs),
    /// Describe a data set or a model
    Info(InfoArgs),
    /// Scale features to a range, as LIBSVM's svm-scale does
    Scale(ScaleArgs),
    /// Write a model in another program's format
    Convert(ConvertArgs),
    /// Make links by which this program takes the place of svm-train, svm-predict, svm-scale and of
    /// LIBLINEAR's train and predict
    Links(LinksArgs),
    /// Say what this machine has, and try the program on it
    Doctor(DoctorArgs),
    /// Write the completions of a shell to standard output
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Keep the training data in the model, so that `update` can add and remove samples
    #[arg(long)]
    pub(crate) updatable: bool,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    /// Where to write the model [default: the data's name with .model, in the current directory; -
    /// is standard output]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CvArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) folds: FoldArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Write one line per sample: label, predicted label, and what each machine of the fold in
    /// which it was tested says (NaN where the fold was stopped before it had a solution)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LooArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) seeding: SeedingArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Write one line per sample: label, predicted label, and what each machine trained without it
    /// says
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GridArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) folds: FoldArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Train the best combination on all data and write the model to this file
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Write one line per cell: parameters, score, seconds, with commas between
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Judge the whole search by this many outer folds, each of which it is repeated without:
    /// nested cross-validation
    #[arg(long, value_name = "K", value_parser = values::fold_count, conflicts_with_all = ["shard", "merge_logs"])]
    pub(crate) outer: Option<usize>,
    /// Draw the score over C and gamma as a picture: PNG if the name ends in .png, SVG otherwise
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a report of everything as one HTML file, with the picture in it
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write one line per cell as LIBSVM's grid.py does: log2c=5.0 log2g=-7.0 rate=82.5
    #[arg(long, value_name = "FILE")]
    pub(crate) out_grid: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Whether this is `search`, which finds out how to scale as well.
    #[arg(skip)]
    pub(crate) whole: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Number of folds
    #[arg(short = 'k', value_name = "K", default_value_t = 5, value_parser = values::fold_count, help_heading = "Cross-validation")]
    pub(crate) k: usize,
    /// What the best combination has most of (least of errors) [default: accuracy; of values the
    /// mean squared error, of one class the inliers]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// Go down the gradient of a smooth loss by C and gamma from the best combination, instead of
    /// trying those around it; the model is the one of least loss (two classes)
    #[arg(long)]
    pub(crate) gradient: bool,
    /// Then with a gamma of its own for each feature
    #[arg(long, requires = "gradient")]
    pub(crate) per_feature: bool,
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    /// Where to write the model [default: the data's name with .model, in the current directory]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,
    /// Write a report of everything as one HTML file, with the picture in it
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Keep every finished combination in this folder, and compute none that is there
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Model file, native or LIBSVM's
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Write one label per row [- is standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Write decision values instead of labels: those of the machines, from which no threshold is
    /// subtracted
    #[arg(long)]
    pub(crate) decision: bool,
    /// Write the label and the probability of every class, which the first line names (LIBSVM's
    /// svm-predict -b 1)
    #[arg(long, conflicts_with = "decision")]
    pub(crate) probability: bool,
    /// How labels come from a model with probabilities or a threshold [default: as the model was
    /// written]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) decide: Option<DecideName>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Model file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The training data [default: what the model keeps, where it keeps its data]
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// C that the model was trained with, for models that do not say (LIBSVM's); of those without
    /// C, any
    #[arg(short, value_name = "C", value_parser = values::positive)]
    pub(crate) c: Option<f64>,
    #[command(flatten)]
    pub(crate) formulation: FormulationArgs,
    /// Factor of C for one class, for models that do not say; repeatable
    #[arg(long, value_name = "LABEL=W", value_parser = values::weight, allow_hyphen_values = true)]
    pub(crate) weight: Vec<Weight>,
    /// What certificates must show: a KKT violation of at most this, or a relative gap for models
    /// of solvers that stop by it [default: 0.001]
    #[arg(long, value_parser = values::tolerance)]
    pub(crate) eps: Option<f64>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Model file, written by train --updatable or by update (or any native model, with --data)
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Take the samples of this file (or generator) in
    #[arg(long, value_name = "DATA")]
    pub(crate) add: Option<String>,
    /// Give samples up: numbers such as 3,7,20-40, or a file of numbers. The rows of the training
    /// file are 1, 2, 3, …; samples added later go on counting
    #[arg(long, value_name = "NUMBERS|FILE", value_parser = numbers::numbers)]
    pub(crate) remove: Option<Numbers>,
    /// Move C to this value
    #[arg(short = 'c', value_name = "C", value_parser = values::positive, allow_hyphen_values = true)]
    pub(crate) c: Option<f64>,
    /// The training data of a model that does not keep it
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// Where to write the updated model [default: in place of MODEL]
    #[arg(short, long, value_name = "MODEL2")]
    pub(crate) output: Option<PathBuf>,
    /// Fail where another maxmargin is writing the same model instead of waiting for it
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Write the training data of the updated model to this file, in LIBSVM's format
    #[arg(long, value_name = "FILE")]
    pub(crate) write_data: Option<PathBuf>,
    /// Budget for kernel values: 512M, 4G [default: 70 % of the memory that is free]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Model file, with the record of its training
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The training data [default: what the model keeps, where it keeps its data]
    #[arg(value_name = "DATA")]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// How decision values become probabilities: platt (a sigmoid) or isotonic (any monotone
    /// function) [default: platt, where no --threshold is asked for]
    #[arg(long, value_name = "HOW", value_parser = probability::probability())]
    pub(crate) probability: Option<Probability>,
    /// Give a model of two classes a threshold in place of 0: the one with the best score by this
    /// metric (accuracy, balanced-accuracy, f1, f1-macro, matthews) of samples that their machines
    /// did not see
    #[arg(long, value_name = "METRIC", value_parser = probability::threshold)]
    pub(crate) threshold: Option<&'static Metric>,
    /// How labels come from the model from now on [default: threshold where there is one, else
    /// coupled]
    #[arg(long, value_enum)]
    pub(crate) decide: Option<DecideName>,
    /// Where to write the model [default: in place of MODEL]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Budget for kernel values: 512M, 4G [default: 70 % of the memory that is free]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print one JSON document instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no notes on standard error; warnings are printed all the same
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// What each feature is brought to
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
    /// Where to write the scaled data [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Print no notes on standard error; warnings are printed all the same
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}
