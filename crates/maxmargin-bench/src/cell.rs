//! The question and the answer.

use maxmargin::cv::Seeding;
use maxmargin::kernel::Kernel;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to measure. Unknown names are refused, so that a misspelt setting is not silently a default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
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
    pub(crate) c: f64,
    pub(crate) tol: f64,
    /// Bytes of kernel values; 70 % of the free memory when absent.
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<usize>,
    /// Seed of stratified and shuffled folds.
    #[serde(default)]
    pub(crate) seed: u64,
    /// Stops a run that takes longer.
    pub(crate) time_limit_seconds: Option<f64>,
    /// Folds (cv).
    #[serde(default = "ten")]
    pub(crate) k: usize,
    /// How samples are cut into folds (cv).
    #[serde(default)]
    pub(crate) folds: Folds,
    /// Where each fold starts (cv): a name of [`Seeding::ALL`].
    pub(crate) seeding: Option<String>,
}

fn one() -> f64 {
    1.0
}

fn ten() -> usize {
    10
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Job {
    Cv,
    Train,
}

/// A file in LIBSVM format, or a generator.
#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum Data {
    File { file: PathBuf },
    Generated { generator: String, rows: usize, features: Option<usize>, seed: u64 },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Solver {
    #[default]
    Smo,
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
        let (gamma, coef0, degree) = (self.gamma, self.coef0, self.degree);
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

/// What was measured. The names are those of `cargo xtask bench`'s records.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    /// Solver iterations, summed over the folds.
    pub(crate) iterations: u64,
    /// Iterations of the model of all data, where the seeding needs one.
    pub(crate) full_iterations: Option<u64>,
    /// Kernel rows computed.
    pub(crate) rows_computed: u64,
    /// Percent.
    pub(crate) accuracy: Option<f64>,
    /// Dual objective (maximised), summed over the folds.
    pub(crate) objective: f64,
    /// Largest KKT violation of all certificates.
    pub(crate) kkt: f64,
    /// Largest relative duality gap of all certificates.
    pub(crate) relative_gap: f64,
    pub(crate) support_vectors: usize,
    /// The worst status.
    pub(crate) status: String,
    pub(crate) read_seconds: f64,
    pub(crate) kernel_seconds: f64,
    pub(crate) seed_seconds: f64,
    /// Summed over the folds, which may run side by side.
    pub(crate) solve_seconds: f64,
    pub(crate) certify_seconds: f64,
    /// From the parsed data to the certified result.
    pub(crate) total_seconds: f64,
    pub(crate) kernel_bytes: u64,
    pub(crate) fold_iterations: Vec<u64>,
    pub(crate) peak_rss_bytes: Option<u64>,
    pub(crate) threads: usize,
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
    #[error("cannot make threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
