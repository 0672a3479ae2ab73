//! The question: a job, and the settings that belong to it.

use super::choice::{Bound, Folds, Inner, KernelName, Method, Selection};
use super::task::Task;
use super::update_samples::UpdateSamples;
use crate::failure::Failure;
use crate::system::machine;
use maxmargin::Solver;
use maxmargin::core::Stop;
use maxmargin::cv::Seeding;
use maxmargin::kernel::Kernel;
use maxmargin::solvers::UnknownSolver;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What to measure.
#[derive(Debug, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub(crate) enum Job {
    Cv(Cv),
    Train(Box<Train>),
    Update(Update),
    /// Nothing is measured: the data go to standard output in LIBSVM format.
    Write(Write),
}

/// What every job has.
#[derive(Debug, Deserialize)]
pub(crate) struct Setting {
    pub(crate) data: Data,
    pub(crate) kernel: KernelName,
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
    /// How samples are cut into folds.
    #[serde(default)]
    pub(crate) folds: Folds,
    /// Folds that are trained, the first ones; all when absent.
    pub(crate) first_folds: Option<usize>,
    /// Whether every training computes its kernel rows anew, in `memory` bytes of its own, as in
    /// programs that know of no folds.
    #[serde(default)]
    pub(crate) forget_rows: bool,
    /// Whether the α of neighbouring folds are compared.
    #[serde(default)]
    pub(crate) compare_alpha: bool,
    /// Whether SMO goes by active variables, and takes equal rows for one: not as the papers count
    /// iterations.
    #[serde(default)]
    pub(crate) shrinking: bool,
    #[serde(default)]
    pub(crate) joins: bool,
    /// Where each fold starts: a name of [`Seeding::ALL`].
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
    /// Say at which iteration each power of ten of the gap was first reached, where there are two
    /// classes: of the solver's own measure, for linear solvers of the dual objective against the
    /// bound.
    #[serde(default)]
    pub(crate) trace: bool,
    /// Where the finish takes over from SMO, which is asked for this KKT violation (smo).
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

/// Of solvers on the simplex.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "settings that do not depend on each other")]
pub(crate) struct SimplexOptions {
    /// What `tol` bounds.
    #[serde(default)]
    pub(crate) bound: Bound,
    /// Random points among which the furthest is sought; all when absent or 0.
    pub(crate) sample: Option<usize>,
    /// Whether half of every sample is of each class.
    #[serde(default)]
    pub(crate) sample_balanced: bool,
    /// Samples in a row that find nothing before the run ends or everything is looked at.
    pub(crate) sample_tries: Option<usize>,
    /// Whether samples that find nothing end the run, as in the papers.
    #[serde(default)]
    pub(crate) sampled_stop: bool,
    /// SMO is given the problem of the others, with all kernel values in memory in `f64` (smo).
    #[serde(default)]
    pub(crate) simplex: bool,
    /// Say which samples the solution rests on.
    #[serde(default)]
    pub(crate) support: bool,
}

/// Of training by working sets.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct ChunkOptions {
    /// How working sets are chosen.
    #[serde(default)]
    pub(crate) selection: Selection,
    /// Samples of a working set.
    #[serde(default = "chunk")]
    pub(crate) working_set: usize,
    /// Who solves working sets.
    #[serde(default)]
    pub(crate) inner: Inner,
}

/// Of linear solvers, LIBLINEAR's among them.
#[derive(Debug, Deserialize)]
pub(crate) struct LinearOptions {
    /// Judge solutions by a lower bound on the objective that is known to this relative gap.
    pub(crate) bound_gap: Option<f64>,
    /// Folder that keeps such bounds for other cells.
    pub(crate) bounds: Option<PathBuf>,
    /// Whether coordinate descent shrinks; as the solver has it when absent (linear-descent, avsf).
    pub(crate) shrinking: Option<bool>,
    /// Clock schedules and preferences alone, as many as the training had (avsf).
    #[serde(default)]
    pub(crate) adaptation: bool,
}

/// Samples leave a trained model, others come.
#[derive(Debug, Deserialize)]
pub(crate) struct Update {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// Who takes samples in and gives them up.
    pub(crate) method: Method,
    /// Samples of the first model; all but those that are to come when absent.
    pub(crate) window: Option<usize>,
    /// Samples that come with every update.
    #[serde(default)]
    pub(crate) add: usize,
    /// Samples that leave with every update.
    #[serde(default)]
    pub(crate) remove: usize,
    /// Which samples come and leave.
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

/// What no field before has taken must not be there, so that a misspelt setting is not silently a
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

/// Who trains: a solver by its name, with `linear-` before it or not, or another program in a
/// process of its own.
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
    /// Whether it works without a kernel.
    pub(crate) fn is_linear(self) -> bool {
        match self {
            Self::Ours(solver) => solver.is_linear(),
            Self::Liblinear => true,
            Self::SvmLight => false,
        }
    }

    /// Whether it takes its data from a file.
    pub(crate) fn reads_files(self) -> bool {
        // Every linear solver, so that whole processes compare.
        self.is_linear() || self == Self::SvmLight
    }
}

impl Setting {
    pub(crate) fn kernel(&self) -> Result<Kernel, Failure> {
        self.kernel_of(self.gamma)
    }

    /// The kernel with another width.
    pub(crate) fn kernel_of(&self, gamma: f64) -> Result<Kernel, Failure> {
        let (coef0, degree) = (self.coef0, self.degree);
        let kernel = match self.kernel {
            KernelName::Linear => Kernel::Linear,
            KernelName::Rbf => Kernel::Rbf { gamma },
            KernelName::Poly => Kernel::Poly { gamma, coef0, degree },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
        };
        Ok(kernel.checked()?)
    }

    pub(crate) fn stop(&self) -> Stop {
        Stop { max_time: self.time_limit(), ..Stop::at(self.tol) }
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.time_limit_seconds.map(Duration::from_secs_f64)
    }

    /// Bytes of kernel values.
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
