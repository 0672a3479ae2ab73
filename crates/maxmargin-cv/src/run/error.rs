//! The errors of trainings and cross-validations.

use crate::run::refusal::{ConformalProblem, ModelMismatch, ThresholdProblem};
use crate::seed::Seeding;
use maxmargin_core::{DualError, GoalError, Refused, StartError, Status};
use maxmargin_data::quote::quoted;
use maxmargin_data::scale::ScaleError;
use maxmargin_data::{DataError, LabelError};
use maxmargin_kernel::KernelError;
use maxmargin_model::ModelError;
use maxmargin_path::PathError;

/// The reason why a training or a cross-validation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CvError {
    /// The training set of a fold is no valid problem.
    #[error("fold {fold}: {source}; choose other folds, such as stratified ones")]
    Fold {
        /// The fold.
        fold: usize,
        /// The defect of its problem.
        source: DualError,
    },
    /// The whole data set is no valid problem.
    #[error(transparent)]
    Data(#[from] DualError),
    /// The data set has other numbers of rows, labels and groups, or a label that is not finite.
    #[error(transparent)]
    Dataset(#[from] DataError),
    /// The labels are not classes.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// The goal is none that a training can meet.
    #[error(transparent)]
    Goal(#[from] GoalError),
    /// The solver cannot take the problem.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Zero is no feasible start of the problem.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The kernel's parameters or the data are invalid for the kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The samples cannot be scaled.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// The solution cannot be stored as a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The seeding does not apply to the folds of this study.
    #[error("seeding {}: {why}; use cold or full", seeding.name())]
    Seeding {
        /// The requested seeding.
        seeding: Seeding,
        /// The reason.
        why: &'static str,
    },
    /// The formulation fixes its own loss and bias, and the caller set one of them.
    #[error("{0}: its loss is the hinge loss and its bias free; leave the loss and the bias out")]
    Fixed(&'static str),
    /// The formulation has one loss, and another was asked for.
    #[error("{0} has a loss of its own; leave the loss out")]
    OwnLoss(&'static str),
    /// The caller set a parameter that the formulation does not have.
    #[error("{parameter} is for {owners}, not {formulation}; leave it out")]
    Parameter {
        /// The parameter.
        parameter: &'static str,
        /// The formulations that have it.
        owners: &'static str,
        /// The formulation of the training.
        formulation: &'static str,
    },
    /// Permutation importance that cannot be computed.
    #[error("importance of columns: {0}")]
    Importance(String),
    /// Several levels that are no ascending list, or that the formulation does not have.
    #[error("levels of quantiles: {0}")]
    Levels(String),
    /// Probabilities of a quantile or expectile, about which errors have no common scale.
    #[error("{0} has no probabilities: LIBSVM's scale is of errors that are alike on both sides; leave them out")]
    OneSided(&'static str),
    /// Classes were given for a formulation without classes, or are missing for one with classes.
    #[error("{0}: classes are for formulations that tell classes apart, and only for these")]
    Classes(&'static str),
    /// The labels are words, and the formulation predicts numbers.
    #[error(
        "{formulation} predicts numbers, and the target of the table has words, such as `{}`; read it with another target",
        quoted(word, 40)
    )]
    Words {
        /// The name of the formulation.
        formulation: &'static str,
        /// The first label that is a word.
        word: String,
    },
    /// A feature factor is not a positive number.
    #[error("the factor of feature {feature} (from 0) is {value}: it must be a positive finite number")]
    Factor {
        /// The feature, from 0.
        feature: usize,
        /// Its factor.
        value: f64,
    },
    /// The number of feature factors differs from the number of features.
    #[error("{found} factors for {features} features; give one for each that a kernel sees")]
    Factors {
        /// Factors given.
        found: usize,
        /// Features that a kernel sees.
        features: usize,
    },
    /// The number of class weights differs from the number of classes.
    #[error("{found} class weights for {classes} classes")]
    Weights {
        /// Weights given.
        found: usize,
        /// Classes of the data.
        classes: usize,
    },
    /// A class weight is negative or not finite.
    #[error("the weight of class {label} is {value}: it must be a finite number, 0 or more")]
    ClassWeight {
        /// The label.
        label: f64,
        /// Its weight.
        value: f64,
    },
    /// The machine of Crammer and Singer with a free bias.
    #[error("the machine of Crammer and Singer has no free bias; give it a bias that is one more feature, or none")]
    FreeBias,
    /// The number of sample weights differs from the number of samples.
    #[error("{found} weights for {rows} samples: give one for each")]
    SampleWeights {
        /// Weights given.
        found: usize,
        /// Samples of the data.
        rows: usize,
    },
    /// A sample weight is negative or not finite.
    #[error("the weight of row {} is {value}: it must be a finite number, 0 or more", row + 1)]
    SampleWeight {
        /// The row, from 0.
        row: usize,
        /// Its weight.
        value: f64,
    },
    /// The plan has another number of samples than the data.
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
        /// The requested seeding.
        seeding: Seeding,
        /// The reason.
        source: PathError,
    },
    /// The search is not possible as requested.
    #[error("{option}: {why}")]
    Search {
        /// The option of the search.
        option: &'static str,
        /// The reason, and what to do.
        why: String,
    },
    /// The run ended before any certificate was computed. Results without a certificate are not
    /// reported.
    #[error("ended before any solution was certified: there is nothing to report")]
    Ended(Status),
    /// A class has one sample only, which cannot be in both a training set and a test set.
    #[error(
        "class {label} has one sample: a threshold is chosen by samples that a training did not see, and needs two of each class"
    )]
    Alone {
        /// The class.
        label: f64,
    },
    /// No class has two samples, or values have one row.
    #[error(
        "probabilities need {}, because they are fitted to samples that a training did not see; add samples, \
         or train without probabilities",
        if *has_classes { "a class with at least two samples" } else { "at least two rows" }
    )]
    NoCalibration {
        /// The samples have classes.
        has_classes: bool,
    },
    /// The model was not trained by this study.
    #[error("the model cannot be given probabilities or a threshold by this data: {0}; name the data it was trained on")]
    OtherModel(ModelMismatch),
    /// No threshold can be chosen for this data, or by this metric.
    #[error("a threshold: {0}")]
    Threshold(#[from] ThresholdProblem),
    /// Conformal predictions are not possible as requested.
    #[error("conformal prediction: {0}")]
    Conformal(#[from] ConformalProblem),
    /// The folds cannot be made.
    #[error(transparent)]
    Folds(#[from] crate::plan::PlanError),
    /// A weight for a class that the data does not have.
    #[error("a weight for class {label}: the classes of the data are {known}")]
    UnknownClass {
        /// The label.
        label: f64,
        /// The labels of the data.
        known: String,
    },
}
