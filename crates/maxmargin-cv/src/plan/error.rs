//! The errors of fold plans.

/// The reason why samples cannot be divided into folds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Fewer than two folds.
    #[error("{0} folds: cross-validation needs at least 2")]
    TooFew(usize),
    /// A fold that tests every sample.
    #[error("fold {fold} tests all rows, so that none is left to train on; use another number of folds, or more rows")]
    NothingLeft {
        /// The fold, from 1.
        fold: usize,
    },
    /// More folds than samples.
    #[error("{folds} folds for {samples} samples: use at most one fold per sample")]
    TooMany {
        /// Requested folds.
        folds: usize,
        /// Number of samples.
        samples: usize,
    },
    /// More folds than groups.
    #[error("{folds} folds for {groups} groups: a group is never split, so use at most {groups} folds")]
    TooManyForGroups {
        /// Requested folds.
        folds: usize,
        /// Number of groups.
        groups: usize,
    },
    /// Every class has fewer members than there are folds.
    #[error(
        "{folds} stratified folds, and no class has more than {most} sample{}: use at most as many folds, or contiguous or shuffled ones",
        if *most == 1 { "" } else { "s" }
    )]
    SmallClasses {
        /// Size of the largest class.
        most: usize,
        /// Requested folds.
        folds: usize,
    },
    /// A line of a folds file is not a fold number.
    #[error(
        "line {line}: '{found}' is not a fold number; a folds file holds one number (from 0) per sample: the fold that tests it"
    )]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The text.
        found: String,
    },
    /// A folds file has another number of lines than there are samples.
    #[error("{found} fold numbers for {samples} samples")]
    Length {
        /// Numbers in the file.
        found: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A fold number between 0 and the greatest has no sample.
    #[error("fold {fold} has no sample (the greatest fold number is {greatest})")]
    EmptyFold {
        /// The fold.
        fold: usize,
        /// The greatest fold number.
        greatest: usize,
    },
    /// Too few samples for the requested folds in the order of time.
    #[error(
        "{folds} folds of {samples} samples in order: each needs a sample to test, and the first one to train on; use fewer folds"
    )]
    TooManyInOrder {
        /// Requested folds.
        folds: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A gap, or a window, that leaves nothing to train on.
    #[error(
        "a gap of {gap} samples: the first test set has {before} samples before it, and training needs one of them outside the gap, in a window of 1 or more"
    )]
    Gap {
        /// Samples of the gap.
        gap: usize,
        /// Samples before the first test set.
        before: usize,
    },
    /// A fold without samples to test.
    #[error("fold {fold} tests no sample")]
    TestsNothing {
        /// The fold.
        fold: usize,
    },
    /// A fold without samples to train on.
    #[error("fold {fold} leaves no sample to train on")]
    TrainsOnNothing {
        /// The fold.
        fold: usize,
    },
    /// A fold names a sample that does not exist.
    #[error("fold {fold} names sample {sample} (from 0), and there are {samples}")]
    NoSample {
        /// The fold.
        fold: usize,
        /// The sample, from 0.
        sample: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A fold names a sample twice.
    #[error("fold {fold} names sample {sample} (from 0) twice: it is trained on once, tested once, or left out")]
    Twice {
        /// The fold.
        fold: usize,
        /// The sample, from 0.
        sample: usize,
    },
    /// A label of stratified folds is not finite.
    #[error("the label of row {row} (from 0) is {value}: stratified folds need the class of each row")]
    Label {
        /// The row, from 0.
        row: usize,
        /// The label, as text.
        value: String,
    },
    /// The number of groups differs from that of labels.
    #[error("{groups} groups for {labels} labels: give one of each for each row")]
    Groups {
        /// Number of groups.
        groups: usize,
        /// Number of labels.
        labels: usize,
    },
    /// Plans for different samples cannot be joined.
    #[error("plan {plan} (from 0) is for {found} samples and plan 0 for {samples}; join plans for the same samples")]
    Joined {
        /// The plan, from 0.
        plan: usize,
        /// Its number of samples.
        found: usize,
        /// Number of samples of the first plan.
        samples: usize,
    },
    /// A row of a part of the samples does not exist.
    #[error("row {row} (from 0) does not exist: the plan has {samples} samples")]
    NoRow {
        /// The row, from 0.
        row: usize,
        /// Number of samples of the plan.
        samples: usize,
    },
    /// Rows of a part of the samples do not ascend.
    #[error("row {row} follows row {previous}; give rows in ascending order, each once")]
    RowOrder {
        /// The row before it.
        previous: usize,
        /// The row.
        row: usize,
    },
    /// A plan is for another number of samples.
    #[error("the fold plan has {plan} samples, and there are {samples}; make a plan for these samples")]
    Samples {
        /// Number of samples of the plan.
        plan: usize,
        /// Number of samples that it should have.
        samples: usize,
    },
}
