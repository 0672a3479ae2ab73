//! Why a model cannot be updated.

use maxmargin_core::DualError;
use maxmargin_data::codec::CodecError;
use maxmargin_data::samples::SamplesError;
use maxmargin_model::ModelError;
use maxmargin_path::{PathError, UpdatableError};

impl From<UpdatableError> for UpdateError {
    fn from(error: UpdatableError) -> Self {
        match error {
            UpdatableError::Path(PathError::Interrupted) => Self::Interrupted,
            other => Self::Path(other),
        }
    }
}

/// Why a model cannot be updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// A model from elsewhere.
    #[error("the model does not say how it was trained (a LIBSVM model): train it with maxmargin to update it")]
    NoRecord,
    /// Another problem than paths are for.
    #[error(
        "the model has {what}, and exact updates are for the hinge loss with a free bias: \
         train it anew on the changed data, or as `train --solver smo --updatable`"
    )]
    Problem {
        /// The loss or the bias.
        what: &'static str,
    },
    /// Another formulation than paths are for.
    #[error("the model is of {0}, and exact updates are for C-SVC in this version: train it anew on the changed data")]
    Formulation(&'static str),
    /// A model without its support vectors.
    #[error(
        "the model keeps its weights alone and no support vectors: train it as `train --solver smo --updatable` to update it"
    )]
    Folded,
    /// Machines that paths are not for.
    #[error(
        "the model has machines of each class against the rest, which cannot be updated: train it anew on the changed data, or with one machine for each pair"
    )]
    DecisionRule,
    /// Other data than the model was trained on.
    #[error("this is not the data that the model was trained on: {0}")]
    OtherData(String),
    /// Data that was scaled before training, and a scaler that would scale it once more.
    #[error(
        "the data of the model was scaled before it was trained, and its scaler would scale it again: \
         train on the data as it came and let the training scale it"
    )]
    ScaledBefore,
    /// The kept data is damaged.
    #[error("the training data in the model is damaged: {0}")]
    Damaged(String),
    /// A label that the model does not know.
    #[error("row {row} has the label {label}, which the model does not know; its classes are {known}")]
    Label {
        /// Row of the added data, from 1.
        row: usize,
        /// Its label.
        label: f64,
        /// The model's labels.
        known: String,
    },
    /// No samples of a class would be left.
    #[error(
        "after the update no sample of class {label} would be left: keep one of them, add others in the same update, \
         or train a model of the other classes"
    )]
    Emptied {
        /// Its label.
        label: f64,
    },
    /// An impossible C.
    #[error("C is {0}: it must be a positive finite number")]
    C(f64),
    /// No such sample.
    #[error("no sample has the number {0} (any more)")]
    Number(u64),
    /// Numbers for new samples have run out.
    #[error("the next sample would have the number {0}, and there are not enough numbers above it: train the model again")]
    Exhausted(u64),
    /// The same number twice.
    #[error("sample {0} is named twice")]
    Twice(u64),
    /// The caller ended it.
    #[error("interrupted")]
    Interrupted,
    /// What remains is no problem.
    #[error("after the update {0}")]
    Dual(#[from] DualError),
    /// The path.
    #[error(transparent)]
    Path(UpdatableError),
    /// The samples.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// The resulting model, or samples that its scaler cannot scale.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Writing the data into the model.
    #[error(transparent)]
    Codec(#[from] CodecError),
}
