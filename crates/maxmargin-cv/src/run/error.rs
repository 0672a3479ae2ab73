//! Why a study cannot run.

use crate::seed::Seeding;
use maxmargin_core::{DualError, Refused, StartError, Status};
use maxmargin_data::LabelError;
use maxmargin_data::quote::quoted;
use maxmargin_data::scale::ScaleError;
use maxmargin_kernel::KernelError;
use maxmargin_model::ModelError;
use maxmargin_path::PathError;

/// Why a training or a cross-validation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CvError {
    /// A training set is no problem.
    #[error("fold {fold}: {source}; choose other folds, such as stratified ones")]
    Fold {
        /// The fold.
        fold: usize,
        /// What is wrong with it.
        source: DualError,
    },
    /// The whole data is no problem.
    #[error(transparent)]
    Data(#[from] DualError),
    /// The labels are not classes.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// The solver cannot take the problem.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Zero is no start of the problem.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The kernel's parameters or data.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The samples cannot be scaled.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The solution cannot be a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The folds of this study cannot be seeded like that.
    #[error("seeding {}: {why}; use cold or full", seeding.name())]
    Seeding {
        /// What was asked.
        seeding: Seeding,
        /// Why it does not go.
        why: &'static str,
    },
    /// A loss or a bias for a formulation that has its own.
    #[error("{0}: its loss is the hinge loss and its bias free; leave the loss and the bias out")]
    Fixed(&'static str),
    /// Classes for a formulation that is about something else, or none for one that is about them.
    #[error("{0}: classes are for formulations that tell classes apart, and only for these")]
    Classes(&'static str),
    /// Words as labels, and the formulation predicts numbers.
    #[error(
        "{formulation} predicts numbers, and the target of the table has words, such as `{}`; read it with another target",
        quoted(word, 40)
    )]
    Words {
        /// The name of the formulation.
        formulation: &'static str,
        /// The first of the words.
        word: String,
    },
    /// A factor for each feature.
    #[error("{found} factors for {features} features; give one for each that a kernel sees, all positive")]
    Factors {
        /// Factors given.
        found: usize,
        /// Features that a kernel sees.
        features: usize,
    },
    /// A class weight for each class.
    #[error("{found} class weights for {classes} classes")]
    Weights {
        /// Weights given.
        found: usize,
        /// Classes of the data.
        classes: usize,
    },
    /// A weight for each sample.
    #[error("{found} weights for {rows} samples: give one for each")]
    SampleWeights {
        /// Weights given.
        found: usize,
        /// Samples of the data.
        rows: usize,
    },
    /// Weights are not negative.
    #[error("the weight of row {} is {value}: it must be a finite number, 0 or more", row + 1)]
    SampleWeight {
        /// The row, from 0.
        row: usize,
        /// Its weight.
        value: f64,
    },
    /// The plan is for other data.
    #[error("the fold plan has {plan} samples, the data {data}")]
    Plan {
        /// Samples of the plan.
        plan: usize,
        /// Samples of the data.
        data: usize,
    },
    /// The exact path of a seeding cannot be followed.
    #[error("seeding {}: {source}; or use the seeding full", seeding.name())]
    Path {
        /// What was asked.
        seeding: Seeding,
        /// Why it does not go.
        source: PathError,
    },
    /// A search that cannot be done like that.
    #[error("{0}")]
    Search(String),
    /// The run was ended before anything could be judged, and what is not judged is not reported.
    #[error("ended before anything could be judged: there is nothing to report")]
    Ended(Status),
    /// A class whose only sample cannot be both trained on and judged.
    #[error(
        "class {label} has one sample: a threshold is chosen by samples that a training did not see, and needs two of each class"
    )]
    Alone {
        /// The class.
        label: f64,
    },
    /// A model that the study did not train.
    #[error("the model cannot be given probabilities or a threshold by this data: {0}; name the data it was trained on")]
    OtherModel(String),
    /// No threshold can be chosen for this data, or by this metric.
    #[error("a threshold: {0}")]
    Threshold(String),
    /// The folds cannot be made.
    #[error(transparent)]
    Folds(#[from] crate::plan::PlanError),
    /// A weight for a class that the data does not have.
    #[error("a weight for class {label}: the classes of the data are {known}")]
    UnknownClass {
        /// The label.
        label: f64,
        /// Those of the data.
        known: String,
    },
}
