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
}
