//! Scores of several levels of a target's distribution.

use crate::regression::COVERAGE;
use crate::scores::{Purpose, Score, metrics_of, score_of, scores};
use maxmargin_core::levels;
use serde::Serialize;

/// The score of one level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelScore {
    /// The level τ.
    pub tau: f64,
    /// The mean pinball loss, or the mean expectile loss.
    pub loss: f64,
    /// The share of targets at or below the value.
    pub coverage: f64,
}

/// The scores of several levels, after the values of each row are sorted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelScores {
    /// The score of each level, ascending.
    pub levels: Vec<LevelScore>,
    /// Number of rows with values.
    pub rows: usize,
    /// Number of rows whose values cross before they are sorted.
    pub crossing: usize,
}

impl LevelScores {
    /// Returns the scores of rows by their decision values, row-major rows × levels. Rows with a
    /// value that is NaN have no prediction and are left out, as are rows without a target.
    ///
    /// # Panics
    ///
    /// When there is no level, or not one decision value for each row and level.
    pub fn of(purpose: Purpose, taus: &[f64], truth: &[f64], decisions: &[f64]) -> Self {
        assert!(
            !taus.is_empty() && decisions.len() == truth.len() * taus.len(),
            "{} decision values for {} labels at {} levels: give one for each label and level",
            decisions.len(),
            truth.len(),
            taus.len()
        );
        let rows = truth.iter().zip(decisions.chunks_exact(taus.len()));
        let known = rows.filter(|(truth, row)| !truth.is_nan() && row.iter().all(|value| !value.is_nan()));
        let (truth, rows): (Vec<f64>, Vec<&[f64]>) = known.unzip();
        let sorted: Vec<Vec<f64>> = rows.iter().map(|row| levels::rearranged(row)).collect();
        let loss = metrics_of(purpose)[0];
        let of_level = |(at, &tau): (usize, &f64)| {
            let values: Vec<f64> = sorted.iter().map(|row| row[at]).collect();
            let own = Purpose { level: purpose.level.map(|level| level.at(tau)), ..purpose };
            let score = |metric| score_of(own, metric, f64::NAN, &truth, &values);
            LevelScore { tau, loss: score(loss), coverage: score(&COVERAGE) }
        };
        Self {
            levels: taus.iter().enumerate().map(of_level).collect(),
            rows: rows.len(),
            crossing: rows.iter().filter(|row| levels::cross(row)).count(),
        }
    }

    /// Returns the mean loss of all levels.
    pub fn mean_loss(&self) -> f64 {
        self.levels.iter().map(|level| level.loss).sum::<f64>() / self.levels.len() as f64
    }
}

/// As [`scores`], of predictions at several levels: the loss is the mean of all levels, the other
/// scores are of the predicted value, which is that of the central level. `decisions` are row-major
/// rows × levels.
///
/// # Panics
///
/// As [`scores`] and [`LevelScores::of`].
pub fn scores_of_levels(purpose: Purpose, taus: &[f64], truth: &[f64], predicted: &[f64], decisions: &[f64]) -> Vec<Score> {
    let mut scores = scores(purpose, f64::NAN, truth, predicted, None);
    scores[0].1 = LevelScores::of(purpose, taus, truth, decisions).mean_loss();
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_core::Formulation;

    #[test]
    fn losses_are_of_sorted_values() {
        let purpose = Purpose::from(Formulation::quantile(1.0, 0.5));
        // The first row crosses, the last has no target.
        let decisions = [2.0, 0.0, 1.0, 3.0, f64::NAN, 1.0, 5.0, 6.0];
        let truth = [1.0, 2.0, 3.0, f64::NAN];
        let found = LevelScores::of(purpose, &[0.25, 0.5], &truth, &decisions);
        assert_eq!((found.rows, found.crossing), (2, 1));
        // Sorted: (0, 2) for 1 and (1, 3) for 2. Errors are 1 above the first, 1 below the second.
        assert_eq!(found.levels[0], LevelScore { tau: 0.25, loss: 0.25, coverage: 0.0 });
        assert_eq!(found.levels[1], LevelScore { tau: 0.5, loss: 0.5, coverage: 1.0 });
        let scores = scores_of_levels(purpose, &[0.25, 0.5], &truth, &[2.0, 3.0, f64::NAN, f64::NAN], &decisions);
        assert_eq!(scores[..2], [("pinball_loss", 0.375), ("coverage", 1.0)]);
    }
}
