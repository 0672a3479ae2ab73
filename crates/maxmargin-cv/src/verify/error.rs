//! The errors of a verification.

use maxmargin_core::DualError;
use maxmargin_data::DataError;
use maxmargin_kernel::KernelError;
use maxmargin_model::ModelError;

/// The reason why a model cannot be verified. A false statement of a model is a verdict, not an
/// error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The model has no record of its training, and the caller gave no claim.
    #[error("the model does not say with which C it was trained: give C, and the weights of classes where they were not 1")]
    NoClaim,
    /// The model has a record of its training, and the caller gave a claim too.
    #[error("C and weights are for models that do not say how they were trained; this one does: leave them out")]
    Claim,
    /// A weight for a class that the model does not have.
    #[error("a weight is for the class {label}, which the model does not know; its classes are {known}")]
    Label {
        /// The label.
        label: f64,
        /// The model's labels.
        known: String,
    },
    /// The formulation does not fit the model's decision rule.
    #[error("the model decides by another rule than {0}: say of which formulation it is")]
    DecisionRule(&'static str),
    /// The data set has other numbers of rows, labels and groups, or a label that is not finite.
    #[error(transparent)]
    Dataset(#[from] DataError),
    /// Model and data together are no valid problem.
    #[error("the model's C, weights or classes do not make a problem of this data: {0}")]
    Data(#[from] DualError),
    /// The kernel of the model does not accept the data.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The scaler of the model does not accept the data.
    #[error(transparent)]
    Model(#[from] ModelError),
}
