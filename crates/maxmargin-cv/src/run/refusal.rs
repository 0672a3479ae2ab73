//! The reasons for which a model gets no calibration or no conformal predictions.

use crate::run::label_text::label_in_words;
use maxmargin_conformal::ConformalError;
use maxmargin_core::TargetKind;
use maxmargin_data::quote::quoted;
use maxmargin_export::ExportError;
use maxmargin_model::ModelError;

/// Characters of a group's name in a message.
const SHOWN: usize = 40;

/// Names of groups in a message.
const LISTED: usize = 10;

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
    /// No class has two samples, or values have one row.
    #[error(
        "scores need at least two {}, because they are those of samples that a training did not see; add samples",
        if *has_classes { "samples of each class" } else { "rows" }
    )]
    TooFew {
        /// The samples have classes.
        has_classes: bool,
    },
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
    /// A row without a group.
    #[error("row {} has no group; give every row one", row + 1)]
    NoGroup {
        /// The row, from 0.
        row: usize,
    },
    /// A row of a group that no training row has.
    #[error("row {} is of group `{}`, which no training row has; the groups are {known}", row + 1, quoted(group, SHOWN))]
    UnknownGroup {
        /// The row, from 0.
        row: usize,
        /// Its group.
        group: String,
        /// The known groups, in words.
        known: String,
    },
    /// Another number of groups than of rows.
    #[error("{groups} groups for {rows} rows; give one for each row")]
    GroupCount {
        /// Number of groups.
        groups: usize,
        /// Number of rows.
        rows: usize,
    },
    /// Predictions without groups by a model that has the promise for each group.
    #[error("the model was trained with the promise for each group by itself; give the group of each row: {known}")]
    GroupsNeeded {
        /// The known groups, in words.
        known: String,
    },
    /// Groups for a model that knows none.
    #[error("the model was trained without groups; train it with the group of each row, or leave groups out")]
    NoGroups,
    /// No fold tests a row of a group.
    #[error(
        "no fold tests a row of group `{}`, so that the group has no score; use folds that test all rows, such as shuffled ones",
        quoted(.0, SHOWN)
    )]
    UntestedGroup(String),
    /// A score of probabilities for a formulation without classes.
    #[error("{0} has no classes, whose probabilities aps and raps add up; use plain scores")]
    NoProbabilities(&'static str),
    /// One fold alone tests rows of a class.
    #[error("{}", one_fold(&label_in_words(*label)))]
    OneFold {
        /// The class.
        label: f64,
    },
    /// A training set lacks a class.
    #[error("{}", fold_class(*fold, &label_in_words(*label)))]
    FoldClass {
        /// The fold, from 0.
        fold: usize,
        /// The class.
        label: f64,
    },
    /// No fold tests a row of a class.
    #[error("{}", no_score(&label_in_words(*label)))]
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

impl ConformalProblem {
    /// Returns the refusal of a row whose group is none of these.
    pub(crate) fn unknown_group(row: usize, group: &str, names: &[String]) -> Self {
        Self::UnknownGroup { row, group: group.to_owned(), known: listed(names) }
    }

    /// Returns the refusal of rows without groups.
    pub(crate) fn groups_needed(names: &[String]) -> Self {
        Self::GroupsNeeded { known: listed(names) }
    }
}

/// `a, b and 3 more`
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name, SHOWN)).collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

impl ConformalProblem {
    /// Returns the message with the name of a class by `label`, for labels that stand for words.
    pub fn worded(&self, label: impl Fn(f64) -> String) -> String {
        match self {
            Self::OneFold { label: class } => one_fold(&label(*class)),
            Self::FoldClass { fold, label: class } => fold_class(*fold, &label(*class)),
            Self::NoScore { label: class } => no_score(&label(*class)),
            other => other.to_string(),
        }
    }
}

fn one_fold(class: &str) -> String {
    format!(
        "one fold alone tests rows of class {class}, so that its probabilities cannot be fitted to other folds; \
         use stratified folds, or plain scores"
    )
}

fn fold_class(fold: usize, class: &str) -> String {
    format!(
        "fold {fold} trains on no row of class {class}, so that its machines give the class no score; \
         use stratified folds, or fewer"
    )
}

fn no_score(class: &str) -> String {
    format!(
        "no fold tests a row of class {class}, so that the class has no score; \
         use folds that test all rows, such as stratified ones"
    )
}
