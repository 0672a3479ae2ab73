//! A job and its settings, as JSON describes them.

use super::choice::{Bound, Folds, Inner, Method, Selection};
use super::task::Task;
use super::update_samples::UpdateSamples;
use crate::failure::Failure;
use crate::system::machine;
use maxmargin::Solver;
use maxmargin::core::Stop;
use maxmargin::cv::Seeding;
use maxmargin::kernel::{Kernel, KernelKind};
use maxmargin::solvers::UnknownSolver;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The measurement to make.
#[derive(Debug, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub(crate) enum Job {
    Cv(Cv),
    Train(Box<Train>),
    Update(Update),
    /// Nothing is measured: the data go to standard output in LIBSVM format.
    Write(Write),
}

/// Settings of every job.
#[derive(Debug, Deserialize)]
pub(crate) struct Setting {
    pub(crate) data: Data,
    #[serde(deserialize_with = "kernel_kind")]
    pub(crate) kernel: &'static KernelKind,
    #[serde(default = "one")]
    pub(crate) gamma: f64,
    #[serde(default)]
    pub(crate) degree: u32,
    #[serde(default)]
    pub(crate) coef0: f64,
    pub(crate) c: f64,
    pub(crate) tol: f64,
    /// Bytes of kernel values; 70 % of the free memory when absent.
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<usize>,
    /// Seed of stratified and shuffled folds, of starts and of samples.
    #[serde(default)]
    pub(crate) seed: u64,
    /// Stops a run that takes longer.
    pub(crate) time_limit_seconds: Option<f64>,
}

/// A cross-validation.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "settings that do not depend on each other")]
pub(crate) struct Cv {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    #[serde(default = "smo")]
    pub(crate) solver: Solver,
    /// Folds.
    #[serde(default = "ten")]
    pub(crate) k: usize,
    /// The rule that assigns samples to folds.
    #[serde(default)]
    pub(crate) folds: Folds,
    /// Folds that are trained, the first ones; all when absent.
    pub(crate) first_folds: Option<usize>,
    /// True if every training computes its kernel rows anew, in `memory` bytes of its own. Programs
    /// that do not know folds do so.
    #[serde(default)]
    pub(crate) forget_rows: bool,
    /// True if the α of neighbouring folds are compared.
    #[serde(default)]
    pub(crate) compare_alpha: bool,
    /// True if SMO shrinks. The papers count iterations without shrinking and without merged rows.
    #[serde(default)]
    pub(crate) shrinking: bool,
    /// True if SMO merges equal rows.
    #[serde(default)]
    pub(crate) joins: bool,
    /// The start of each fold: a name of [`Seeding::ALL`].
    pub(crate) seeding: Option<String>,
    #[serde(flatten)]
    _nothing_else: NothingElse,
}

/// One training.
#[derive(Debug, Deserialize)]
pub(crate) struct Train {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    #[serde(default)]
    pub(crate) solver: Trainer,
    /// `gamma` from the data: `1 / 2σ²` for an RBF and `1 / σ²` for another kernel, σ² the mean
    /// squared distance of two samples.
    #[serde(default)]
    pub(crate) mean_width: bool,
    /// Report the iteration at which the gap first reached each power of ten, for two classes. The
    /// gap is the solver's own measure; for linear solvers it is that of the dual objective to the
    /// bound.
    #[serde(default)]
    pub(crate) trace: bool,
    /// KKT violation at which the active-set finish takes over from SMO (smo).
    pub(crate) finish_from: Option<f64>,
    /// The program of the solvers `liblinear` and `svmlight`; the installed one when absent.
    pub(crate) program: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) task: Task,
    #[serde(flatten)]
    pub(crate) split: Split,
    #[serde(flatten)]
    pub(crate) simplex: SimplexOptions,
    #[serde(flatten)]
    pub(crate) chunks: ChunkOptions,
    #[serde(flatten)]
    pub(crate) linear: LinearOptions,
    #[serde(flatten)]
    _nothing_else: NothingElse,
}

/// Samples that are trained on, and that a model is tested on.
#[derive(Debug, Deserialize)]
pub(crate) struct Split {
    /// Samples that a model is tested on.
    pub(crate) test: Option<Data>,
    /// Share of the data, the same random rows in every run, that is test instead.
    pub(crate) hold_out: Option<f64>,
    /// Share of the training samples, drawn with `seed`, that the model is tested on instead of the
    /// test samples.
    pub(crate) validation: Option<f64>,
    /// Move every feature to [−1, 1] by its range in the training samples.
    #[serde(default)]
    pub(crate) scale: bool,
}

/// Options of solvers on the simplex.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "settings that do not depend on each other")]
pub(crate) struct SimplexOptions {
    /// The quantity that `tol` bounds.
    #[serde(default)]
    pub(crate) bound: Bound,
    /// Random points among which the furthest is sought; all when absent or 0.
    pub(crate) sample: Option<usize>,
    /// True if half of every sample is of each class.
    #[serde(default)]
    pub(crate) sample_balanced: bool,
    /// Samples in a row that find no step before the run ends or scans all points.
    pub(crate) sample_tries: Option<usize>,
    /// True if a run starts from a random sample and the one furthest from it, not from the
    /// smallest ball of random samples.
    #[serde(default)]
    pub(crate) two_points: bool,
    /// True if samples that find no step end the run, as in the papers.
    #[serde(default)]
    pub(crate) sampled_stop: bool,
    /// Solve the problem on the simplex by SMO, with all kernel values in memory in `f64` (smo).
    #[serde(default)]
    pub(crate) simplex: bool,
    /// Report which samples are support vectors.
    #[serde(default)]
    pub(crate) support: bool,
}

/// Options of trainings by working sets.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct ChunkOptions {
    /// The rule that chooses working sets.
    #[serde(default)]
    pub(crate) selection: Selection,
    /// Samples of a working set.
    #[serde(default = "chunk")]
    pub(crate) working_set: usize,
    /// The solver of working sets.
    #[serde(default)]
    pub(crate) inner: Inner,
}

/// Options of linear solvers, including LIBLINEAR's program.
#[derive(Debug, Deserialize)]
pub(crate) struct LinearOptions {
    /// Compare objectives with a lower bound that is known to this relative gap.
    pub(crate) bound_gap: Option<f64>,
    /// Folder that keeps such bounds for other cells.
    pub(crate) bounds: Option<PathBuf>,
    /// True if coordinate descent shrinks; as the solver has it when absent (linear-descent, avsf).
    pub(crate) shrinking: Option<bool>,
    /// Time as many schedules and preferences as the training had, without steps (avsf).
    #[serde(default)]
    pub(crate) adaptation: bool,
}

/// Samples leave a trained model, others come.
#[derive(Debug, Deserialize)]
pub(crate) struct Update {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// The method that updates the model.
    pub(crate) method: Method,
    /// True if SMO takes pair steps alone, as the papers' does, and no conjugate ones.
    #[serde(default)]
    pub(crate) pairs_alone: bool,
    /// Samples of the first model; all but the added ones when absent.
    pub(crate) window: Option<usize>,
    /// Samples that every update adds.
    #[serde(default)]
    pub(crate) add: usize,
    /// Samples that every update removes.
    #[serde(default)]
    pub(crate) remove: usize,
    /// The rule that chooses added and removed samples.
    #[serde(default)]
    pub(crate) pick: UpdateSamples,
    /// Updates that are measured: one after the other in file order, each from the same model for
    /// bounded samples.
    #[serde(default = "once")]
    pub(crate) updates: usize,
    /// Times that all updates are measured, each time from the first model; fewer when they take
    /// long. Counts are those of one time.
    #[serde(default = "once")]
    pub(crate) rounds: usize,
    #[serde(flatten)]
    _nothing_else: NothingElse,
}

/// Data to be written.
#[derive(Debug, Deserialize)]
pub(crate) struct Write {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    #[serde(flatten)]
    _nothing_else: NothingElse,
}

/// Refuses settings that no other field has taken, so that a misspelt setting is an error and not a
/// default.
#[derive(Debug)]
struct NothingElse;

impl<'de> Deserialize<'de> for NothingElse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = BTreeMap::<String, IgnoredAny>::deserialize(deserializer)?;
        left.keys().next().map_or(Ok(Self), |name| Err(Error::custom(format!("this job has no setting `{name}`"))))
    }
}

fn one() -> f64 {
    1.0
}

fn chunk() -> usize {
    512
}

fn once() -> usize {
    1
}

fn ten() -> usize {
    10
}

fn smo() -> Solver {
    Solver::Smo
}

/// A file in LIBSVM format, or a generator.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Data {
    File { file: PathBuf },
    Generated { generator: String, rows: usize, features: Option<usize>, seed: u64 },
}

/// The solver of a training by its name, with or without the prefix `linear-`, or another program
/// in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Trainer {
    Ours(Solver),
    Liblinear,
    SvmLight,
}

impl Default for Trainer {
    fn default() -> Self {
        Self::Ours(Solver::Smo)
    }
}

impl TryFrom<String> for Trainer {
    type Error = UnknownSolver;

    fn try_from(name: String) -> Result<Self, UnknownSolver> {
        match name.as_str() {
            "liblinear" => Ok(Self::Liblinear),
            "svmlight" => Ok(Self::SvmLight),
            _ => name.strip_prefix("linear-").unwrap_or(&name).parse().map(Self::Ours),
        }
    }
}

impl Trainer {
    /// Returns whether it works without a kernel.
    pub(crate) fn is_linear(self) -> bool {
        match self {
            Self::Ours(solver) => solver.is_linear(),
            Self::Liblinear => true,
            Self::SvmLight => false,
        }
    }

    /// Returns whether it takes its data from a file.
    pub(crate) fn reads_files(self) -> bool {
        // Every linear solver reads a file, so that times of whole processes compare.
        self.is_linear() || self == Self::SvmLight
    }
}

/// Reads the name of a kernel.
fn kernel_kind<'d, D: Deserializer<'d>>(from: D) -> Result<&'static KernelKind, D::Error> {
    let name = String::deserialize(from)?;
    KernelKind::named(&name).ok_or_else(|| D::Error::custom(format!("no kernel is called `{name}`")))
}

impl Setting {
    pub(crate) fn kernel(&self) -> Result<Kernel, Failure> {
        self.kernel_of(self.gamma)
    }

    /// Returns the kernel with another width.
    pub(crate) fn kernel_of(&self, gamma: f64) -> Result<Kernel, Failure> {
        Ok(self.kernel.kernel(gamma, self.coef0, self.degree).checked()?)
    }

    pub(crate) fn stop(&self) -> Stop {
        Stop { max_time: self.time_limit(), ..Stop::at(self.tol) }
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit_seconds.map(Duration::from_secs_f64)
    }

    /// Returns the bytes that kernel values may take.
    pub(crate) fn budget(&self) -> u64 {
        self.memory.unwrap_or_else(machine::budget)
    }
}

impl Cv {
    pub(crate) fn seeding(&self) -> Result<Seeding, Failure> {
        let Some(name) = &self.seeding else { return Ok(Seeding::default()) };
        let known = Seeding::ALL.iter().find(|(known, _)| known == name);
        known.map(|(_, seeding)| *seeding).ok_or_else(|| {
            let names: Vec<&str> = Seeding::ALL.iter().map(|(name, _)| *name).collect();
            Failure::Seeding { name: name.clone(), known: names.join(", ") }
        })
    }
}

impl Job {
    pub(crate) fn setting(&self) -> &Setting {
        match self {
            Self::Cv(cell) => &cell.setting,
            Self::Train(cell) => &cell.setting,
            Self::Update(cell) => &cell.setting,
            Self::Write(cell) => &cell.setting,
        }
    }
}
