//! Folds of samples in the order of time: what is tested comes after what is trained on.

use super::{FoldPlan, PlanError};

impl FoldPlan {
    /// Test sets of `samples / (folds + 1)` samples (rounded down), one after the other up to the
    /// last sample. Each fold trains on what comes before its test set, but for the `gap` samples
    /// next to it: on all of these, or on the last `window` of them. The samples before the first
    /// test set are never tested. These are the splits of scikit-learn's `TimeSeriesSplit`.
    ///
    /// The order of the samples is that of time: nobody looks at a time.
    ///
    /// # Errors
    ///
    /// When `folds < 2`, when there are not enough samples for a test set each, or when the gap
    /// leaves the first training set empty, as a window of 0 does.
    pub fn time_series(samples: usize, folds: usize, window: Option<usize>, gap: usize) -> Result<Self, PlanError> {
        if folds < 2 {
            return Err(PlanError::TooFew(folds));
        }
        let size = samples / (folds + 1);
        if size == 0 {
            return Err(PlanError::TooManyInOrder { folds, samples });
        }
        let first = samples - folds * size;
        if gap >= first || window == Some(0) {
            return Err(PlanError::Gap { gap, before: first });
        }
        Self::from_tests(
            samples,
            (0..folds).map(|fold| {
                let start = first + fold * size;
                let end = start - gap;
                let begin = window.map_or(0, |window| end.saturating_sub(window));
                (start..start + size, (0..begin).chain(end..start).chain(start + size..samples))
            }),
        )
    }
}
