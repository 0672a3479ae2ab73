//! Options that several commands share.

use super::formulation::FormulationArgs;
use super::ranges::{Values, Widths, values, widths};
use super::table::TableArgs;
use super::values::{self, Json, LossName, ScaleName, SchemeName, Shard};
use crate::problem::folds::Folds;
use crate::problem::weights::Weight;
use crate::report::Detail;
use crate::report::advice::Limits;
use clap::Args;
use maxmargin::Solver;
use maxmargin::core::{BiasTerm, Penalty};
use maxmargin::cv::Seeding;
use maxmargin::data::Impute;
use maxmargin::kernel::{Gamma, Kernel, KernelKind};
use std::path::PathBuf;
use std::time::Duration;

/// The source of the data.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataArgs {
    /// File in LIBSVM's format or a table of comma- or tab-separated values (plain, .gz, .bz2, .xz
    /// or .zst), - for standard input, or generated data: penguins (a table), gauss-m,
    /// two-gaussians, banana, blobs, sparse-text, rcv1-like, covtype-like
    #[arg(value_name = "DATA")]
    pub(crate) source: String,
    #[command(flatten)]
    pub(crate) options: DataOptions,
}

/// Options of reading and generating data.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataOptions {
    /// Rows of a generated data set [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub(crate) rows: Option<usize>,
    /// Features of a generated data set [default: the generator's]
    #[arg(long, value_name = "M", help_heading = "Data")]
    pub(crate) features: Option<usize>,
    /// Seed of everything random: generators and shuffled folds
    #[arg(long, default_value_t = 1, help_heading = "Data")]
    pub(crate) seed: u64,
    /// Features are numbered from 0 [default: from 0 if index 0 occurs, else from 1]
    #[arg(long, help_heading = "Data")]
    pub(crate) zero_based: bool,
    /// Sort the indices of rows that are out of order instead of refusing them
    #[arg(long, help_heading = "Data")]
    pub(crate) sort: bool,
    /// Read no more than this of a file, unpacked: 512M, 4G [default: half of the free memory]
    #[arg(long, value_name = "SIZE", help_heading = "Data", value_parser = values::bytes)]
    pub(crate) max_size: Option<u64>,
    /// Cache parsed files of LIBSVM's format in this directory, by the hash of their bytes; tables
    /// are read anew each time
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// The kernel function.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArgs {
    /// Kernel function
    #[arg(long, ignore_case = true, default_value = "rbf", value_parser = values::kernel())]
    pub(crate) kernel: &'static KernelKind,
    /// Width: a number, auto (1/features), scale (1/(features * variance)) or mean (1/(2 * mean
    /// squared distance))
    #[arg(short = 'g', long = "gamma", value_name = "GAMMA", default_value = "auto", value_parser = values::gamma, allow_hyphen_values = true)]
    pub(crate) gamma: Gamma,
    /// Degree of the polynomial
    #[arg(short = 'd', long = "degree", value_name = "DEGREE", default_value_t = 3, value_parser = values::degree, allow_hyphen_values = true)]
    pub(crate) degree: u32,
    /// Constant term of the polynomial and sigmoid kernels
    #[arg(short = 'r', long = "coef0", value_name = "COEF0", default_value_t = 0.0, value_parser = values::finite, allow_hyphen_values = true)]
    pub(crate) coef0: f64,
}

/// The ranges and the metric of a search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArgs {
    /// Kernel functions, comma-separated
    #[arg(long, ignore_case = true, default_value = "rbf", value_delimiter = ',', value_parser = values::kernel())]
    pub(crate) kernel: Vec<&'static KernelKind>,
    /// Values of C: a list, FROM:TO for powers of ten, FROM:TO:FACTOR; numbers may be powers such
    /// as 2^-5
    #[arg(short = 'c', long = "cost", value_name = "VALUES", default_value = "2^-5:2^15:2^2", value_parser = values, allow_hyphen_values = true)]
    pub(crate) c: Values,
    /// Values of gamma in the same way, or auto, scale or mean, for kernels that have one
    #[arg(short = 'g', long = "gamma", value_name = "VALUES", default_value = "2^-15:2^3:2^2", value_parser = widths, allow_hyphen_values = true)]
    pub(crate) gamma: Widths,
    /// Degrees of the polynomial kernel, comma-separated
    #[arg(short = 'd', long = "degree", value_name = "DEGREES", default_value = "3", value_delimiter = ',', value_parser = values::degree, allow_hyphen_values = true)]
    pub(crate) degree: Vec<u32>,
    /// Constant term of the polynomial and sigmoid kernels
    #[arg(short = 'r', long = "coef0", value_name = "COEF0", default_value_t = 0.0, value_parser = values::finite, allow_hyphen_values = true)]
    pub(crate) coef0: f64,
    /// Metric to choose the best combination by [default: accuracy; mean squared error for a
    /// regression, balanced accuracy for one class with labels 1 and -1]
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    #[command(flatten)]
    pub(crate) how: StrategyArgs,
}

/// The strategy of a search: which combinations it tries, and to which tolerance.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
#[allow(clippy::struct_excessive_bools, reason = "options that do not depend on each other")]
pub(crate) struct StrategyArgs {
    /// Solve all combinations to a relative duality gap of 0.001 first, then those within POINTS
    /// percentage points of the best (for error metrics: a twentieth of it per point) to the full
    /// tolerance: the best and its rivals are exact
    #[arg(long, value_name = "POINTS", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = values::not_negative)]
    pub(crate) fast: Option<f64>,
    /// Stop a combination as soon as it has more errors than the best has in total: the best stays
    /// the same (two classes, accuracy)
    #[arg(long)]
    pub(crate) prune: bool,
    /// Random search: try this many combinations, uniform in the logarithms of C and gamma (by
    /// --seed)
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub(crate) random: Option<u64>,
    /// Successive halving: all combinations on a subset of the samples, the best third on three
    /// times as many, the last ones on all
    #[arg(long)]
    pub(crate) halving: bool,
    /// Extend the ranges while the best combination is at their edge
    #[arg(long)]
    pub(crate) extend: bool,
    /// Also try values half way between the best and its neighbours
    #[arg(long)]
    pub(crate) refine: bool,
    /// Then descend the gradient of a smooth loss with respect to C and gamma from the best, at
    /// most 20 steps; -o trains the combination with the smallest loss (two classes, Gaussian
    /// kernel)
    #[arg(long, conflicts_with_all = ["take", "merge_logs"])]
    pub(crate) gradient: bool,
    /// Then descend with a separate gamma for each feature, at most 60 steps; the model keeps them
    /// as factors of the features
    #[arg(long, requires = "gradient")]
    pub(crate) per_feature: bool,
    /// Combination that -o trains: the best, the simplest within one standard error of it, or among
    /// equally good ones the one with the best neighbours
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = CellChoice::Best)]
    pub(crate) take: CellChoice,
}

/// The combination of a search that becomes the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CellChoice {
    Best,
    OneSe,
    Flattest,
}

impl SearchArgs {
    /// Returns the kernel in the middle of every range, by which warnings about the data are
    /// computed.
    pub(crate) fn middle(&self) -> KernelArgs {
        let gamma = match &self.gamma {
            Widths::Rule(rule) => *rule,
            Widths::Values(values) => Gamma::Value(values[values.len() / 2]),
        };
        KernelArgs { kernel: self.kernel[0], gamma, degree: self.degree[0], coef0: self.coef0 }
    }

    /// Returns the kernels to try, each with a placeholder gamma.
    pub(crate) fn kernels(&self) -> Vec<Kernel> {
        let each = |kind: &&'static KernelKind| {
            let kind = *kind;
            // A kernel without a degree needs one value of it.
            let degrees = if kind.has("degree") { &self.degree[..] } else { &self.degree[..1] };
            degrees.iter().map(move |degree| kind.kernel(1.0, self.coef0, *degree))
        };
        self.kernel.iter().flat_map(each).collect()
    }
}

/// The cost of errors.
#[derive(Debug, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct CostArgs {
    /// Cost of margin violations, or of errors beyond epsilon; nu-svc and one-class have none
    #[arg(short = 'c', long = "cost", value_name = "C", default_value_t = 1.0, value_parser = values::positive, allow_hyphen_values = true)]
    pub(crate) c: f64,
}

/// All options of a training except C.
#[derive(Debug, Args)]
pub(crate) struct SvmArgs {
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) problem: ProblemArgs,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// The optimisation problem.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemArgs {
    #[command(flatten)]
    pub(crate) formulation: FormulationArgs,
    /// Factor of C for one class, repeatable; balanced: factors inversely proportional to the class
    /// sizes in each training set
    #[arg(long, value_name = "LABEL=W|balanced", value_parser = values::weight, allow_hyphen_values = true)]
    pub(crate) weight: Vec<Weight>,
    /// File with one number per row, 0 or more: a factor of C for each sample (2: as if it occurred
    /// twice)
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Multiclass scheme: a machine for each pair of classes, one for each class against the rest,
    /// or one of all classes
    #[arg(long, value_name = "HOW", default_value = "one-vs-one", value_parser = values::multiclass())]
    pub(crate) classes: SchemeName,
    /// Most machines to train: k classes need k(k-1)/2 one-vs-one, or k one-vs-rest
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = values::count)]
    pub(crate) max_machines: u64,
    /// Scale the features; fitted on training rows only, stored in the model
    #[arg(long, value_enum)]
    pub(crate) scale: Option<ScaleName>,
    /// Fill in missing numbers of a table with the median, mean or most-frequent value of their
    /// column (words and booleans: the most frequent); fitted on training rows only, stored in the
    /// model
    #[arg(long, value_name = "HOW", value_parser = values::impute())]
    pub(crate) impute: Option<Impute>,
}

/// Options of the solver.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// Solver
    #[arg(long, default_value = "auto", value_parser = values::solver())]
    pub(crate) solver: Solver,
    /// Loss [default: squared for pairwise, cvm, fw, mfw and swap, hinge for all other solvers]
    #[arg(long, value_parser = values::loss())]
    pub(crate) loss: Option<LossName>,
    /// Norm of the weights of a linear machine [default: l2]; l1 leaves most weights of features
    /// that do not help at 0, with the loss squared (its default) or logistic
    #[arg(long, value_name = "NORM", value_parser = values::penalty())]
    pub(crate) penalty: Option<Penalty>,
    /// SMO without shrinking: every iteration scans all variables and moves one pair, as papers
    /// count iterations
    #[arg(long)]
    pub(crate) no_shrinking: bool,
    /// Treat equal rows of one class in SMO as one variable (joined) or separately (apart), as
    /// papers count iterations
    #[arg(long, value_name = "HOW", default_value = "joined", value_parser = ["joined", "apart"])]
    pub(crate) equal_rows: String,
    /// Bias: free, none, or the value of one more feature (LIBLINEAR's -B) [default: 1 for
    /// pairwise, cvm, fw, mfw and swap, free for all other solvers]
    #[arg(long, value_name = "HOW", value_parser = values::bias, allow_hyphen_values = true)]
    pub(crate) bias: Option<BiasTerm>,
}

/// Options of limits, resources and output.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Stop at a KKT violation of at most this (LIBSVM's -e) [default without --gap: 0.001; cvm,
    /// fw, mfw, swap: --gap 0.001]
    #[arg(long, value_parser = values::tolerance, allow_hyphen_values = true)]
    pub(crate) eps: Option<f64>,
    /// Stop at a certified relative duality gap of at most this; with --eps as well, at both
    #[arg(long, value_parser = values::tolerance, allow_hyphen_values = true)]
    pub(crate) gap: Option<f64>,
    /// Stop after this many iterations of one training
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub(crate) max_iter: Option<u64>,
    /// Stop after this long: 30s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Number of threads [default: all processors]
    #[arg(long, value_parser = values::threads)]
    pub(crate) threads: Option<usize>,
    /// Budget for kernel values: 512M, 4G; 4 means 4G [default: 70 % of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = values::memory)]
    pub(crate) memory: Option<u64>,
    /// Print one JSON document instead of the report; full adds the machines of every fold
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "short")]
    pub(crate) json: Option<Json>,
    /// Print no progress and no notes on standard error; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Report the time of each phase and the kernel rows that seeds read as well
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl RunArgs {
    /// Returns the limits of a training.
    pub(crate) fn limits(&self) -> Limits {
        Limits { max_iter: self.max_iter, time_limit: self.time_limit }
    }

    /// Returns the detail of documents.
    pub(crate) fn detail(&self) -> Detail {
        if self.json == Some(Json::Full) { Detail::Machines } else { Detail::Folds }
    }
}

/// Options about threads and output, for commands that do not train.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ShortRunArgs {
    /// Number of threads [default: all processors]
    #[arg(long, value_parser = values::threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON document instead of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress and no notes on standard error; warnings are still printed
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Options of the log of a search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub(crate) struct LogArgs {
    /// Keep every finished combination in this folder, and reuse those that it holds: a search can
    /// be continued, and several processes can share one
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// Fail unless the folder already holds a search
    #[arg(long, requires = "log")]
    pub(crate) resume: bool,
    /// Compute only the columns (a kernel and its gamma, with all C) whose number, from 0, is I
    /// modulo N
    #[arg(long, value_name = "I/N", requires = "log", conflicts_with_all = ["output", "fast", "prune", "random", "halving", "extend", "refine", "gradient"], value_parser = values::columns_of)]
    pub(crate) shard: Option<Shard>,
    /// Compute nothing, and report the results of these combinations in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "log")]
    pub(crate) merge_logs: Option<PathBuf>,
}

/// Options of overwriting.
#[derive(Clone, Debug, Args)]
pub(crate) struct WriteArgs {
    /// Overwrite existing files: inputs of this command, files of another kind, dangling links
    #[arg(long, help_heading = "Run")]
    pub(crate) force: bool,
}

/// Options of the folds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cross-validation")]
pub(crate) struct FoldArgs {
    /// Number of folds (--folds K is the same); the number of rows means leave-one-out
    #[arg(short = 'k', value_name = "K", default_value_t = 10, value_parser = values::fold_count)]
    pub(crate) k: usize,
    /// Leave-one-out: one fold per row; only those of support vectors need a training. Short for
    /// --folds leave-one-out
    #[arg(long, conflicts_with = "folds")]
    pub(crate) loo: bool,
    /// stratified, contiguous (order of the file), shuffled, groups, stratified-groups,
    /// leave-one-group-out, leave-one-out (both ignore -k), expanding or sliding (time series: rows
    /// in order of time; each fold trains on the rows before those that it tests), or a file with
    /// one fold number per row (./5 for a file whose name is a number). Groups are those of qid, or
    /// as in groups:patient those of a column of a table, which is then no feature, or of a file
    /// with a word per row [default: stratified, or shuffled without classes]
    #[arg(long, value_name = "HOW|FILE", value_parser = values::folds)]
    pub(crate) folds: Option<Folds>,
    /// Expanding and sliding folds: rows left out between the training set and the test set
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) fold_gap: usize,
    /// Sliding folds: the most rows in a training set [default: the size of the first]
    #[arg(long, value_name = "ROWS", value_parser = values::times)]
    pub(crate) window: Option<usize>,
    /// Repeat stratified or shuffled cross-validation this many times, with the seeds --seed,
    /// --seed + 1, …; scores are over all repeats
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = values::times)]
    pub(crate) repeat: usize,
    /// Write the fold number of every row to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) write_folds: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) seeding: SeedingArgs,
}

/// Options of the seeding of folds.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cross-validation")]
pub(crate) struct SeedingArgs {
    /// Starting point of the training of each fold
    #[arg(long, default_value = "full", value_parser = values::seeding())]
    pub(crate) seeding: Seeding,
}
