//! The results of a training like LIBLINEAR's.

use maxmargin_cv::CertificateReport;
use maxmargin_model::liblinear::LinearModel;

/// The training of one column of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct LiblinearMachine {
    /// The number of iterations of this workspace's solver.
    pub iterations: u64,
    /// The dual objective, minimised.
    pub objective: f64,
    /// The number of dual variables other than 0; `None` for the solvers that print none.
    pub support_vectors: Option<usize>,
    /// The number of weights other than 0 and of all weights, for the L1 norm.
    pub nonzeros: Option<NonzeroWeights>,
    /// True if the training met its goal.
    pub converged: bool,
    /// The certificate of its solution.
    pub certificate: CertificateReport,
}

/// The weights of a machine with the L1 norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonzeroWeights {
    /// The number of weights other than 0.
    pub nonzeros: usize,
    /// The number of all weights.
    pub all: usize,
}

/// The result of a training.
#[derive(Clone, Debug)]
pub struct Training {
    /// The trained model.
    pub model: LinearModel,
    /// The machines, one for each column of weights.
    pub machines: Vec<LiblinearMachine>,
    /// The worst certificate.
    pub certificate: Option<CertificateReport>,
}
