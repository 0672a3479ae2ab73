//! The requested conformal predictions of a training.

use crate::plan::FoldPlan;
use crate::study::conformal_groups::ConformalGroups;
use maxmargin_conformal::{ConformalScore, Level};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The requested conformal predictions: intervals of a regression, sets of classes, p-values of one
/// class.
#[derive(Clone, Debug, PartialEq)]
pub struct ConformalOptions {
    /// The share of predictions that may miss the truth.
    pub level: Level,
    /// True if each class has the promise by itself (Mondrian), instead of all rows together.
    pub per_class: bool,
    /// The group of each row, if each group has the promise by itself; with `per_class`, each class
    /// in each group. Default: all rows are together.
    pub groups: Option<Arc<ConformalGroups>>,
    /// The kind of score: margins of classes or errors of values, or sums of probabilities that are
    /// calibrated by the rows of the other folds.
    pub score: ConformalScore,
    /// The folds. Default: ten, stratified if there are classes, by the seed of the options.
    pub plan: Option<Arc<FoldPlan>>,
    /// The units that new data have in common with the folds. Default: rows, if every row is
    /// tested once.
    pub exchangeable: Exchangeable,
}

impl ConformalOptions {
    /// Returns the request of this level for all classes together, over the default folds.
    pub fn new(level: Level) -> Self {
        Self { level, per_class: false, groups: None, score: ConformalScore::Plain, plan: None, exchangeable: Exchangeable::Rows }
    }
}

/// The units whose order tells nothing: the premise under which predictions cover the truth as
/// often as they promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchangeable {
    /// A new row is like any row of the training set.
    #[default]
    Rows,
    /// A new group is like the groups of the training set, whose rows belong together.
    Groups,
    /// Nothing: rows are in order of time, or some took no part.
    Nothing,
}

impl Exchangeable {
    /// Returns the part of the promise that is missing; `None` if rows are exchangeable.
    pub fn caveat(self) -> Option<&'static str> {
        match self {
            Self::Rows => None,
            Self::Groups => {
                Some("folds of groups: coverage is that of rows of new groups, on average over groups; few groups promise little")
            }
            Self::Nothing => Some(
                "rows that are tested in order, or not at all, are not exchangeable with new rows: coverage is what was observed, not a promise",
            ),
        }
    }
}
