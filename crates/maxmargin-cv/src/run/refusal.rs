//! The reasons for which a model gets no calibration.

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
