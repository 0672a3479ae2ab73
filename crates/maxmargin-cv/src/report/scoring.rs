//! The scores of predictions of a study.

use maxmargin_metrics::{Purpose, Score, scores, scores_of_levels};

/// The inputs of scores that all predictions of a study share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scoring<'a> {
    /// The purpose of the predictions.
    pub(crate) purpose: Purpose,
    /// Number of machines.
    pub(crate) machines: usize,
    /// The levels τ of several machines; otherwise empty.
    pub(crate) levels: &'a [f64],
    /// The greatest label of the data.
    pub(crate) greatest_label: f64,
}

impl Scoring<'_> {
    /// Returns true if scores depend on decision values.
    pub(crate) fn reads_decisions(&self) -> bool {
        self.machines == 1 || !self.levels.is_empty()
    }

    /// Returns the scores of some rows. `decisions` are row-major rows × machines.
    pub(crate) fn scores(&self, truth: &[f64], predicted: &[f64], decisions: &[f64]) -> Vec<Score> {
        if !self.levels.is_empty() {
            return scores_of_levels(self.purpose, self.levels, truth, predicted, decisions);
        }
        let ranked = (self.machines == 1).then_some(decisions);
        scores(self.purpose, self.greatest_label, truth, predicted, ranked)
    }
}
