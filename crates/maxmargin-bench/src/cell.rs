//! The question and the answer.

use maxmargin::cv::Seeding;
use maxmargin::kernel::Kernel;
use serde::Deserialize;
use std::path::PathBuf;

/// What to measure. Unknown names are refused, so that a misspelt setting is not silently a default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one switch of a cell each")]
pub(crate) struct Cell {
    pub(crate) job: Job,
    pub(crate) data: Data,
    #[serde(default)]
    pub(crate) solver: Solver,
    pub(crate) kernel: KernelName,
    #[serde(default = "one")]
    pub(crate) gamma: f64,
    #[serde(default)]
    pub(crate) degree: u32,
    #[serde(default)]
    pub(crate) coef0: f64,
    /// `gamma` from the data: `1 / 2σ²` for an RBF and `1 / σ²` for another kernel, σ² the mean squared distance of two samples.
    #[serde(default)]
    pub(crate) mean_width: bool,
    pub(crate) c: f64,
    pub(crate) tol: f64,
    /// Bytes of kernel values; 70 % of the free memory when absent.
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<usize>,
    /// Samples that a model is tested on (train).
    pub(crate) test: Option<Data>,
    /// Share of the data, the same random rows in every run, that is test instead (train, L2-SVM).
    pub(crate) hold_out: Option<f64>,
    /// Share of the training samples, drawn with `seed`, that the model is tested on instead of the test samples (train, L2-SVM).
    pub(crate) validation: Option<f64>,
    /// Move every feature to [−1, 1] by its range in the training samples (train, L2-SVM).
    #[serde(default)]
    pub(crate) scale: bool,
    /// What `tol` bounds (train, L2-SVM).
    #[serde(default)]
    pub(crate) bound: Bound,
    /// Random points among which the furthest is sought (train, L2-SVM); all when absent or 0.
    pub(crate) sample: Option<usize>,
    /// Whether half of every sample is of each class (train, L2-SVM).
    #[serde(default)]
    pub(crate) sample_balanced: bool,
    /// Samples in a row that find nothing before the run ends or everything is looked at (train, L2-SVM).
    pub(crate) sample_tries: Option<usize>,
    /// Whether samples that find nothing end the run, as in the papers (train, L2-SVM).
    #[serde(default)]
    pub(crate) sampled_stop: bool,
    /// How working sets are chosen (train, irwls).
    #[serde(default)]
    pub(crate) selection: Selection,
    /// Samples of a working set (train, irwls).
    #[serde(default = "chunk")]
    pub(crate) working_set: usize,
    /// Who solves working sets (train, irwls).
    #[serde(default)]
    pub(crate) inner: Inner,
    /// Where the finish takes over from SMO, which is asked for this KKT violation (train, smo).
    pub(crate) finish_from: Option<f64>,
    /// Seed of stratified and shuffled folds, of starts and of samples.
    #[serde(default)]
    pub(crate) seed: u64,
    /// Stops a run that takes longer.
    pub(crate) time_limit_seconds: Option<f64>,
    /// Judge solutions by a lower bound on the objective that is known to this relative gap (linear solvers).
    pub(crate) bound_gap: Option<f64>,
    /// Folder that keeps such bounds for other cells.
    pub(crate) bounds: Option<PathBuf>,
    /// The program of the solver `liblinear`; the installed one when absent.
    pub(crate) program: Option<PathBuf>,
    /// Folds (cv).
    #[serde(default = "ten")]
    pub(crate) k: usize,
    /// How samples are cut into folds (cv).
    #[serde(default)]
    pub(crate) folds: Folds,
    /// Where each fold starts (cv): a name of [`Seeding::ALL`].
    pub(crate) seeding: Option<String>,
    /// Who takes samples in and gives them up (update).
    pub(crate) method: Option<Method>,
    /// Samples of the first model (update); all but those that are to come when absent.
    pub(crate) window: Option<usize>,
    /// Samples that come with every update (update).
    #[serde(default)]
    pub(crate) add: usize,
    /// Samples that leave with every update (update).
    #[serde(default)]
    pub(crate) remove: usize,
    /// Which samples come and leave (update).
    #[serde(default)]
    pub(crate) pick: Pick,
    /// Updates that are measured (update): one after the other in file order, each from the same model for bounded samples.
    #[serde(default = "once")]
    pub(crate) updates: usize,
    /// Times that all updates are measured, each time from the first model (update); fewer when they take long. Counts are those of one
    /// time.
    #[serde(default = "once")]
    pub(crate) rounds: usize,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Job {
    Cv,
    Train,
    Update,
    /// Nothing is measured: the data go to standard output in LIBSVM format.
    Write,
}

/// Who updates a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// The path, all samples at once (Karasuyama and Takeuchi 2009).
    Mid,
    /// The path, one sample after the other (Cauwenberghs and Poggio 2000).
    Sid,
    /// Our SMO from the solution before.
    Smo,
    /// Our SMO from zero.
    SmoCold,
    /// LIBSVM's program, from zero, in a process of its own.
    SvmTrain,
}

/// Which samples come and leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pick {
    /// The oldest leave, the next of the file come.
    #[default]
    Order,
    /// Samples with α = C in the model of all, drawn with the seed: those that come were taken out of it before.
    Bounded,
}

/// A file in LIBSVM format, or a generator.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Data {
    File { file: PathBuf },
    Generated { generator: String, rows: usize, features: Option<usize>, seed: u64 },
}

/// Who trains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Solver {
    #[default]
    Smo,
    /// Coordinate descent, then Newton steps (train, kernel linear; so are all that follow: L1 loss without bias).
    Linear,
    /// Coordinate descent with random permutations and shrinking.
    LinearDescent,
    /// Coordinate descent with adaptive variable selection frequencies.
    Avsf,
    /// Newton steps from the start.
    LinearNewton,
    /// LIBLINEAR's program, in a process of its own.
    Liblinear,
    /// Core vector machine, of the L2-SVM as all that follow.
    Cvm,
    /// Frank-Wolfe.
    Fw,
    /// Frank-Wolfe with away steps.
    Mfw,
    /// Frank-Wolfe with exchanges of mass.
    Swap,
    /// Pairwise steps in corrective phases.
    Pairwise,
    /// Working sets, solved by least squares or by another.
    Irwls,
}

/// Which samples are the working set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Selection {
    Random,
    Largest,
    Smallest,
    #[default]
    Half,
    Steepest,
}

/// Who solves working sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inner {
    #[default]
    LeastSquares,
    /// An interior point method, that of the `clarabel` crate.
    InteriorPoint,
    Smo,
}

/// What `tol` bounds (solvers of the L2-SVM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    #[default]
    RelativeGap,
    /// The papers' ε on the radius.
    Radius,
    Violation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KernelName {
    Linear,
    Rbf,
    Poly,
    Sigmoid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Folds {
    /// As the file has them.
    Contiguous,
    #[default]
    Stratified,
    Shuffled,
    /// One fold number per line.
    File(PathBuf),
}

impl Cell {
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

    pub(crate) fn seeding(&self) -> Result<Seeding, Failure> {
        let Some(name) = &self.seeding else { return Ok(Seeding::default()) };
        let known = Seeding::ALL.iter().find(|(known, _)| known == name);
        known.map(|(_, seeding)| *seeding).ok_or_else(|| {
            let names: Vec<&str> = Seeding::ALL.iter().map(|(name, _)| *name).collect();
            Failure::Seeding { name: name.clone(), known: names.join(", ") }
        })
    }
}

/// Why a cell has no measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the cell is not understood: {0}")]
    Cell(#[from] serde_json::Error),
    #[error("{}: {source}", path.display())]
    Parse { path: PathBuf, source: maxmargin::data::libsvm::ReadError },
    #[error("no generator is called `{0}`")]
    Generator(String),
    #[error("no seeding is called `{name}`; there is {known}")]
    Seeding { name: String, known: String },
    #[error(transparent)]
    Generate(#[from] maxmargin::data::generate::GenerateError),
    #[error(transparent)]
    Labels(#[from] maxmargin::data::LabelError),
    #[error(transparent)]
    Kernel(#[from] maxmargin::kernel::KernelError),
    #[error(transparent)]
    Plan(#[from] maxmargin::cv::PlanError),
    #[error(transparent)]
    Svm(#[from] maxmargin::SvmError),
    #[error(transparent)]
    Dual(#[from] maxmargin::core::DualError),
    #[error(transparent)]
    Start(#[from] maxmargin::core::StartError),
    #[error(transparent)]
    Smo(#[from] maxmargin::smo::SmoError),
    #[error(transparent)]
    FrankWolfe(#[from] maxmargin::frankwolfe::FrankWolfeError),
    #[error(transparent)]
    Path(#[from] maxmargin::path::PathError),
    #[error("LIBSVM's model: {0}")]
    Model(#[from] maxmargin::model::ModelError),
    #[error(transparent)]
    Linear(#[from] maxmargin::linear::LinearError),
    #[error(transparent)]
    Irwls(#[from] maxmargin::irwls::IrwlsError),
    #[error("solvers other than smo are for the job `train`")]
    Solver,
    #[error("the linear solvers, LIBLINEAR's among them, need `\"kernel\": \"linear\"`")]
    LinearKernel,
    #[error("LIBLINEAR: {0}")]
    Liblinear(String),
    #[error("the job `update` needs a method: mid, sid, smo, smo-cold or svm-train")]
    Method,
    #[error("{updates} updates from a window of {window} rows need {needed} rows, the data have {rows}")]
    Window { window: usize, updates: usize, needed: usize, rows: usize },
    #[error("{wanted} samples with alpha = C are to come and leave, the model of all has {found}")]
    Bounded { wanted: usize, found: usize },
    #[error("svm-train: {0}")]
    Program(String),
    #[error("temporary files: {0}")]
    Temporary(std::io::Error),
    #[error(transparent)]
    Scale(#[from] maxmargin::data::scale::ScaleError),
    #[error("a share of {0} leaves no samples on one side: it has to be between 0 and 1")]
    Share(f64),
    #[error("cannot make threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
