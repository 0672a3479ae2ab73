//! The command line: commands, options, defaults.

mod conformal;
mod explain;
mod export;
mod formulation;
mod groups;
mod numbers;
mod objective;
mod parse;
mod predict;
mod probability;
mod ranges;
mod request;
mod search_folds;
mod suspects;
mod table;
mod tools;
mod values;

pub(crate) use conformal::ConformalArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use export::ExportArgs;
pub(crate) use formulation::FormulationArgs;
pub(crate) use groups::{
    CellChoice, CostArgs, DataArgs, DataOptions, FoldArgs, LogArgs, ProblemArgs, RunArgs, SearchArgs, SeedingArgs, ShortRunArgs,
    SolverArgs, StrategyArgs, SvmArgs, WriteArgs,
};
pub(crate) use numbers::Numbers;
pub(crate) use parse::parse;
pub(crate) use predict::PredictArgs;
pub(crate) use probability::{DecisionRuleName, ProbabilityArgs, decision_rule, with_calibration};
pub(crate) use ranges::{Values, Widths};
pub(crate) use search_folds::SearchFoldArgs;
pub(crate) use suspects::SuspectArgs;
pub(crate) use tools::{CompletionsArgs, ConvertArgs, DoctorArgs, LinksArgs, ManArgs, ScaleArgs};
pub(crate) use values::{ScaleName, Shard, bytes, threads};

use clap::{Args, Parser, Subcommand};
use maxmargin::{cv::Probability, metrics::Metric};
use std::path::PathBuf;

/// Exact support vector machines: training, cross-validation, certified models
#[derive(Debug, Parser)]
#[command(
    name = "maxmargin",
    version,
    long_version = crate::machine::version::long(),
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 success, 1 bad input, 2 bad usage, 3 stopped before convergence\n\
                  (the result is still written), 130 interrupted with nothing written.\n\
                  Ctrl-C once: finish the current step and write the partial result; twice: stop\n\
                  at once.\n\n\
                  Programs with the names and options of LIBSVM and LIBLINEAR: maxmargin\n\
                  svm-train, svm-predict, svm-scale, liblinear-train, liblinear-predict\n\
                  (`maxmargin links DIR` creates links of these names).\n\n\
                  Try: maxmargin search penguins --impute median -o penguins.model"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const TRAIN_EXAMPLES: &str = "\
Examples:
  maxmargin train heart --scale minmax -c 10 -g 0.05
  maxmargin train heart.csv --target disease --kernel linear -o heart.model
  maxmargin train heart --weight balanced --probability platt
All options: maxmargin train --help";

const GRID_EXAMPLES: &str = "\
Examples:
  maxmargin grid heart --scale minmax
  maxmargin grid heart -c 2^-5:2^15:2^2 -g 0.01,0.1,1 --folds 5 -o heart.model
  maxmargin grid heart.csv --kernel linear,rbf --fast --report heart.html
All options: maxmargin grid --help";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train a model and write it with its certificate
    #[command(after_help = TRAIN_EXAMPLES)]
    Train(TrainArgs),
    /// Predict labels or decision values with a model
    Predict(PredictArgs),
    /// Divide decision values exactly among the columns: why does the model say this?
    Explain(ExplainArgs),
    /// k-fold cross-validation: every fold solved to tolerance and certified
    Cv(CvArgs),
    /// Leave-one-out cross-validation, exact
    Loo(LooArgs),
    /// Cross-validate every combination of C, gamma and kernel, and report the best
    #[command(after_help = GRID_EXAMPLES)]
    Grid(Box<GridArgs>),
    /// Find scaling, C and gamma, train the best combination on all data and write the model: for
    /// when you know neither
    Search(Box<SearchCommandArgs>),
    /// Add samples to a model and remove others, exactly
    Update(UpdateArgs),
    /// Certify a model file against its training data, recomputing everything
    Verify(VerifyArgs),
    /// Add probabilities or a threshold to a model, from its training data
    ///
    /// Folds have the width and the rule for factors of C that the model was trained with.
    Calibrate(CalibrateArgs),
    /// Describe a data set or a model
    Info(InfoArgs),
    /// Scale features to a range, as LIBSVM's svm-scale does
    Scale(ScaleArgs),
    /// Write a model in another program's format
    Convert(ConvertArgs),
    /// Write a model as ONNX, as one C file or as JSON, for programs without maxmargin
    Export(ExportArgs),
    /// Create links with which this program replaces svm-train, svm-predict, svm-scale and
    /// LIBLINEAR's train and predict
    Links(LinksArgs),
    /// Describe this machine and run a self-test
    Doctor(DoctorArgs),
    /// Write the completion script of a shell to standard output
    Completions(CompletionsArgs),
    /// Write the manual pages to a folder
    Man(ManArgs),
}

/// Options of folds, which a training has for conformal predictions only.
const FOLD_OPTIONS: [&str; 8] = ["k", "loo", "folds", "fold_gap", "window", "repeat", "write_folds", "seeding"];

#[derive(Debug, Args)]
#[command(mut_args(|arg| {
    if FOLD_OPTIONS.contains(&arg.get_id().as_str()) { arg.requires("conformal") } else { arg }
}))]
pub(crate) struct TrainArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) cost: CostArgs,
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Keep the training data in the model, so that `update` can add and remove samples
    #[arg(long, help_heading = "Output")]
    pub(crate) updatable: bool,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    #[command(flatten)]
    pub(crate) conformal: ConformalArgs,
    /// The folds of conformal predictions.
    #[command(flatten)]
    pub(crate) folds: FoldArgs,
    /// File for the model [default: the data's name with .model, in the current directory; - is
    /// standard output]
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write a full report with pictures as one HTML file
    #[arg(long, alias = "html", value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
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
    /// Write one line per sample: label, predicted label, and the decision value of each machine of
    /// the fold that tested it (NaN for a fold that was stopped before it had a solution)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) suspects: SuspectArgs,
    #[command(flatten)]
    pub(crate) conformal: ConformalArgs,
    /// Report how much worse the score gets when a column of the held-out rows is shuffled, over
    /// this many permutations (permutation importance)
    #[arg(long, value_name = "REPEATS", num_args = 0..=1, require_equals = true, default_missing_value = "5", value_parser = values::count, help_heading = "Output")]
    pub(crate) importance: Option<u64>,
    /// Write a full report with pictures as one HTML file
    #[arg(long, alias = "html", value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
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
    /// Write one line per sample: label, predicted label, and the decision value of each machine
    /// trained without it
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) suspects: SuspectArgs,
    #[command(flatten)]
    pub(crate) conformal: ConformalArgs,
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
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write a CSV file with one line per combination: parameters, score, certificate, seconds
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) csv: Option<PathBuf>,
    /// Nested cross-validation: repeat the whole search without each of this many outer folds, and
    /// score its choice on that fold
    #[arg(long, value_name = "K", value_parser = values::fold_count, conflicts_with_all = ["shard", "merge_logs"])]
    pub(crate) outer: Option<usize>,
    /// Draw the scores over C and gamma: PNG if the name ends in .png, SVG otherwise
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a full report with pictures as one HTML file
    #[arg(long, alias = "html", value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Write one line per combination as LIBSVM's grid.py does: log2c=5.0 log2g=-7.0 rate=82.5
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out_grid: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// True for `search`, which chooses the scaling as well.
    #[arg(skip)]
    pub(crate) whole: bool,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SearchCommandArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) folds: SearchFoldArgs,
    /// Metric to choose the best combination by [default: accuracy; mean squared error for a
    /// regression, balanced accuracy for one class with labels 1 and -1]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// Descend the gradient of a smooth loss with respect to C and gamma from the best combination,
    /// instead of trying its neighbours; the model is the one with the smallest loss (two classes)
    #[arg(long)]
    pub(crate) gradient: bool,
    /// Then descend with a separate gamma for each feature
    #[arg(long, requires = "gradient")]
    pub(crate) per_feature: bool,
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) probability: ProbabilityArgs,
    /// File for the model [default: the data's name with .model, in the current directory]
    #[arg(short, long, value_name = "MODEL", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Write a full report with pictures as one HTML file
    #[arg(long, alias = "html", value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Keep every finished combination in this folder, and reuse those that it holds
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Model file
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    /// The training data [default: the data that the model keeps]
    #[arg(value_name = "DATA", help_heading = None::<&str>)]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// C that the model was trained with, for models without a record of it (LIBSVM's)
    #[arg(short, long = "cost", value_name = "C", value_parser = values::positive)]
    pub(crate) c: Option<f64>,
    #[command(flatten)]
    pub(crate) formulation: FormulationArgs,
    /// Factor of C for one class, for models without a record of it; repeatable
    #[arg(long, value_name = "LABEL=W", value_parser = values::weight, allow_hyphen_values = true)]
    pub(crate) weight: Vec<crate::problem::weights::Weight>,
    /// Tolerance of the certificates: for the KKT violation, or for the relative duality gap of
    /// models from solvers that stop by it [default: 0.001]
    #[arg(long, value_parser = values::tolerance)]
    pub(crate) eps: Option<f64>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Model file, written by train --updatable or by update (or any native model, with --data)
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    /// Add the samples of this file (or generator)
    #[arg(long, value_name = "DATA")]
    pub(crate) add: Option<String>,
    /// Remove samples: numbers such as 3,7,20-40, or a file of numbers. The rows of the training
    /// file are 1, 2, 3, …; samples added later continue the count
    #[arg(long, value_name = "NUMBERS|FILE", value_parser = numbers::numbers)]
    pub(crate) remove: Option<Numbers>,
    /// Change C to this value
    #[arg(short = 'c', long = "cost", value_name = "C", value_parser = values::positive, allow_hyphen_values = true)]
    pub(crate) c: Option<f64>,
    /// The training data of a model that does not keep it
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// File for the updated model [default: replace MODEL]
    #[arg(short, long, value_name = "MODEL2", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Fail instead of waiting if another maxmargin is writing the same model
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Write the training data of the updated model to this file, in LIBSVM's format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) write_data: Option<PathBuf>,
    /// Budget for kernel values: 512M, 4G; 4 means 4G [default: 70 % of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) run: ShortRunArgs,
    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Model file, with the record of its training
    #[arg(value_name = "MODEL", help_heading = None::<&str>)]
    pub(crate) model: PathBuf,
    /// The training data [default: the data that the model keeps]
    #[arg(value_name = "DATA", help_heading = None::<&str>)]
    pub(crate) data: Option<String>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// Map from decision values to probabilities: platt (a sigmoid) or isotonic (any monotone
    /// function) [default: platt without --threshold]
    #[arg(long, value_name = "HOW", value_parser = probability::probability())]
    pub(crate) probability: Option<Probability>,
    /// Give a two-class model a threshold other than 0: the one with the best held-out score by
    /// this metric (accuracy, balanced-accuracy, f1, f1-macro, matthews)
    #[arg(long, value_name = "METRIC", value_parser = probability::threshold)]
    pub(crate) threshold: Option<&'static Metric>,
    /// Rule that turns decision values into labels from now on [default: threshold if there is one,
    /// else coupled]
    #[arg(long, value_enum)]
    pub(crate) decide: Option<DecisionRuleName>,
    /// File for the model [default: replace MODEL]
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Budget for kernel values: 512M, 4G; 4 means 4G [default: 70 % of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
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
    /// Print no notes on standard error; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
