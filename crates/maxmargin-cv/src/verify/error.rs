//! Why a model cannot be judged.

use maxmargin_core::DualError;
use maxmargin_kernel::KernelError;
use maxmargin_model::ModelError;

/// Why a model cannot be judged. That it is not what it says is a verdict, not an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Nobody says how the model was trained.
    #[error("the model does not say with which C it was trained: give C, and the weights of classes where they were not 1")]
    NoClaim,
    /// The model says it, and so does the caller.
    #[error("C and weights are for models that do not say how they were trained; this one does: leave them out")]
    Claim,
    /// A weight for a class that is none.
    #[error("a weight is for the class {label}, which the model does not know; its classes are {known}")]
    Label {
        /// The label.
        label: f64,
        /// The model's labels.
        known: String,
    },
    /// Another formulation than the model can be of.
    #[error("the model decides by another rule than {0}: say of which formulation it is")]
    DecisionRule(&'static str),
    /// Model and data together are no problem.
    #[error("the model's C, weights or classes do not make a problem of this data: {0}")]
    Data(#[from] DualError),
    /// The kernel of the model does not take the data.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The scaler of the model does not take the data.
    #[error(transparent)]
    Model(#[from] ModelError),
}
