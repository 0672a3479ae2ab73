//! The errors of updates of models.

use crate::run::label_text::label_in_words;
use maxmargin_core::DualError;
use maxmargin_data::DataError;
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

/// The reason why a model cannot be updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The model has no record of its training, as models of other programs.
    #[error("the model does not say how it was trained (a LIBSVM model): train it with maxmargin to update it")]
    NoRecord,
    /// Paths do not support the problem.
    #[error(
        "the model has {what}, and exact updates are for the hinge loss with a free bias: \
         train it anew on the changed data, or with these"
    )]
    Problem {
        /// The unsupported loss, bias or weights.
        what: &'static str,
    },
    /// Paths do not support the formulation.
    #[error("the model is of {0}, and exact updates are for C-SVC in this version: train it anew on the changed data")]
    Formulation(&'static str),
    /// The model has weights of features in place of support vectors.
    #[error("the model keeps its weights alone and no support vectors: train it with support vectors kept to update it")]
    Folded,
    /// Paths do not support one-versus-rest machines.
    #[error(
        "the model has machines of each class against the rest, which cannot be updated: train it anew on the changed data, or with one machine for each pair"
    )]
    DecisionRule,
    /// Full conformal prediction of more than two classes.
    #[error("full conformal prediction is for two classes, and the model has {0}: use the sets of folds")]
    TwoClasses(usize),
    /// The model does not keep its training data.
    #[error(
        "the model does not keep its training data, and full conformal prediction adds each row to it: train it as a model that can be updated"
    )]
    NoData,
    /// The model was trained on other data.
    #[error("this is not the data that the model was trained on: {0}")]
    OtherData(String),
    /// The data is scaled already, and the model's scaler would scale it again.
    #[error(
        "the data of the model was scaled before it was trained, and its scaler would scale it again: \
         train on the data as it came and let the training scale it"
    )]
    ScaledBefore,
    /// The kept data is damaged.
    #[error("the training data in the model is damaged: {0}")]
    Damaged(String),
    /// A data set has other numbers of rows, labels and groups, or a label that is not finite.
    #[error(transparent)]
    Dataset(#[from] DataError),
    /// An added sample has a label that the model does not have.
    #[error("row {row} has the label {label}, which the model does not know; its classes are {known}")]
    Label {
        /// Row of the added data, from 1.
        row: usize,
        /// The label.
        label: f64,
        /// The model's labels.
        known: String,
    },
    /// A class would have no samples left.
    #[error("{}", emptied(&label_in_words(*label)))]
    Emptied {
        /// The label of the class.
        label: f64,
    },
    /// C is not positive and finite.
    #[error("C is {0}: it must be a positive finite number")]
    C(f64),
    /// No sample has this number.
    #[error("no sample has the number {0} (any more)")]
    Number(u64),
    /// No numbers are left for new samples.
    #[error("the next sample would have the number {0}, and there are not enough numbers above it: train the model again")]
    Exhausted(u64),
    /// A number is given twice.
    #[error("sample {0} is named twice")]
    Twice(u64),
    /// The caller cancelled the update.
    #[error("interrupted")]
    Interrupted,
    /// The remaining samples are no valid problem.
    #[error("after the update {0}")]
    Dual(#[from] DualError),
    /// The path failed.
    #[error(transparent)]
    Path(UpdatableError),
    /// The samples are invalid.
    #[error(transparent)]
    Samples(#[from] SamplesError),
    /// The resulting model is invalid, or its scaler cannot scale the samples.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The data could not be written into the model.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

impl UpdateError {
    /// Returns the message with the name of a class by `label`, for labels that stand for words.
    pub fn worded(&self, label: impl Fn(f64) -> String) -> String {
        match self {
            Self::Emptied { label: class } => emptied(&label(*class)),
            other => other.to_string(),
        }
    }
}

fn emptied(class: &str) -> String {
    format!(
        "after the update no sample of class {class} would be left: keep one of them, add others in the same update, \
         or train a model of the other classes"
    )
}
