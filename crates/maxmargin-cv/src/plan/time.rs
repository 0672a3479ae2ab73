//! Folds of samples in the order of time: test samples come after training samples.

use super::{FoldPlan, PlanError};

impl FoldPlan {
    /// The splits of scikit-learn's `TimeSeriesSplit`. Samples must be in the order of time.
    ///
    /// Test sets have `samples / (folds + 1)` samples (rounded down), one after the other up to the
    /// last sample. Each fold trains on the samples before its test set, except the last `gap` of
    /// them: on all of these, or on the last `window`. The samples before the first test set are
    /// never tested.
    ///
    /// # Errors
    ///
    /// When `folds < 2`, when there are too few samples for all test sets, or when the gap or a
    /// window of 0 leaves the first training set empty.
    pub fn time_series(samples: usize, folds: usize, window: Option<usize>, gap: usize) -> Result<Self, PlanError> {
        if folds < 2 {
            return Err(PlanError::TooFew(folds));
        }
        if folds >= samples {
            return Err(PlanError::TooManyInOrder { folds, samples });
        }
        let size = samples / (folds + 1);
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
