//! The reasons for which a model gets no calibration or no conformal predictions.

use maxmargin_conformal::ConformalError;
use maxmargin_core::TargetKind;
use maxmargin_export::ExportError;
use maxmargin_model::ModelError;

/// The reason why data are not those of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelMismatch {
    /// The model keeps no record of its training.
    #[error("it has no record of its training")]
    NoRecord,
    /// The record names a solver that this version does not know.
    #[error("{0}")]
    Solver(String),
    /// The hash of the data is another one.
    #[error("it was trained on other data, by the hash that it keeps")]
    Data,
    /// The classes or the number of rows are others.
    #[error("its classes or rows are not those of the data")]
    Classes,
    /// The formulation or the multiclass scheme is another one.
    #[error("it is a model of another formulation")]
    Formulation,
    /// A support vector is no row of the data, or has a coefficient of the other class.
    #[error("{0}")]
    Vector(String),
}

/// The reason why no threshold can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdProblem {
    /// The metric does not weigh the errors of both classes against each other.
    #[error("{metric} does not weigh errors of both classes against each other; there are {}", alternatives.join(", "))]
    Metric {
        /// The name of the metric.
        metric: &'static str,
        /// The names of the metrics that do.
        alternatives: Vec<&'static str>,
    },
    /// The data have not two classes.
    #[error("it is for two classes, and the data has {classes}")]
    Classes {
        /// Classes of the data.
        classes: usize,
    },
    /// The formulation tells no classes apart.
    #[error("it is for two classes, and the formulation tells none apart")]
    NoClasses,
}

/// The reason why there are no conformal predictions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformalProblem {
    /// A level or scores are not valid.
    #[error(transparent)]
    Scores(#[from] ConformalError),
    /// The fold machines do not predict these samples.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The formulation has no conformal predictions.
    #[error("{0} has no intervals; use epsilon-svr, nu-svr or quantile")]
    Formulation(&'static str),
    /// The coverage of a quantile's own cross-validation.
    #[error(
        "intervals of quantiles are between two others, which a training adds; train the model with them, which reports their coverage"
    )]
    Quantile,
    /// The coverage of scaled errors in a cross-validation of one machine.
    #[error(
        "scaled errors need a second machine, which a training adds; train the model with them, which reports their coverage"
    )]
    Scaled,
    /// Scaled errors of a formulation that has none.
    #[error("{0} has no errors to be scaled; use epsilon-svr or nu-svr, or other scores")]
    NoErrors(&'static str),
    /// A row has no error that the second machine could learn.
    #[error("scaled errors need folds that test every row; use such folds, or plain scores")]
    SpreadFolds,
    /// Rows are tested several times.
    #[error("the folds test rows in {0} rounds, and each row needs one score; leave repeats out")]
    Rounds(usize),
    /// A promise for each class of a formulation without classes.
    #[error("{0} has no classes; leave the promise for each class out")]
    PerClass(&'static str),
    /// A score of probabilities for a formulation without classes.
    #[error("{0} has no classes, whose probabilities aps and raps add up; use plain scores")]
    NoProbabilities(&'static str),
    /// One fold alone tests rows of a class.
    #[error(
        "one fold alone tests rows of class {label}, so that its probabilities cannot be fitted to other folds; use stratified folds, or plain scores"
    )]
    OneFold {
        /// The class.
        label: f64,
    },
    /// A training set lacks a class.
    #[error(
        "fold {fold} trains on no row of class {label}, so that its machines give the class no score; use stratified folds, or fewer"
    )]
    FoldClass {
        /// The fold, from 0.
        fold: usize,
        /// The class.
        label: f64,
    },
    /// No fold tests a row of a class.
    #[error(
        "no fold tests a row of class {label}, so that the class has no score; use folds that test all rows, such as stratified ones"
    )]
    NoScore {
        /// The class.
        label: f64,
    },
    /// The model has another kind of target.
    #[error("{}", match .0 {
        TargetKind::Classes => "the model predicts classes, which have sets and no intervals",
        TargetKind::Values => "the model predicts values, which have intervals and no sets",
        TargetKind::Nothing => "the model tells normal rows from others, and has p-values alone",
    })]
    Kind(TargetKind),
    /// The scores in a model are damaged.
    #[error("the scores for conformal predictions in the model are damaged: {0}")]
    Damaged(String),
}
