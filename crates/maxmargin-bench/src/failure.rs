//! The errors of a cell.

use std::path::PathBuf;

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
    Svm(#[from] maxmargin::Error),
    #[error(transparent)]
    Dual(#[from] maxmargin::core::DualError),
    #[error(transparent)]
    Start(#[from] maxmargin::core::StartError),
    #[error(transparent)]
    Smo(#[from] maxmargin::smo::SmoError),
    #[error(transparent)]
    Path(#[from] maxmargin::path::PathError),
    #[error("the model: {0}")]
    Model(#[from] maxmargin::model::ModelError),
    #[error(transparent)]
    Linear(#[from] maxmargin::linear::LinearError),
    #[error("the linear solvers, LIBLINEAR's among them, need `\"kernel\": \"linear\"`")]
    LinearKernel,
    #[error("{program}: {why}")]
    Outside { program: &'static str, why: String },
    #[error("{updates} updates from a window of {window} rows need {needed} rows, the data have {rows}")]
    Window { window: usize, updates: usize, needed: usize, rows: usize },
    #[error("{wanted} samples with {what} are to come and leave, the model of all has {found}")]
    Picked { wanted: usize, what: &'static str, found: usize },
    #[error("temporary files: {0}")]
    Temporary(std::io::Error),
    #[error(transparent)]
    Scale(#[from] maxmargin::data::scale::ScaleError),
    #[error("a share of {0} leaves no samples on one side: it has to be between 0 and 1")]
    Share(f64),
    #[error("cannot make threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Failure {
    /// Returns the error of another program.
    pub(crate) fn outside(program: &'static str, why: impl Into<String>) -> Self {
        Self::Outside { program, why: why.into() }
    }
}
