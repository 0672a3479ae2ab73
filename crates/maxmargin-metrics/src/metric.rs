//! A metric: one row of a table.

use serde::Serialize;

/// Which scores are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Best {
    /// The highest.
    Highest,
    /// The lowest.
    Lowest,
}

/// Relative differences of scores up to this are rounding.
const SCORE_ROUNDING: f64 = 1e-12;

/// A score from a confusion matrix of two classes.
type ScoreOfTable = fn([[usize; 2]; 2]) -> f64;

/// A score of predictions, or of decision values, against labels.
#[derive(Clone, Copy)]
pub(crate) enum ScoreFunction {
    /// Of labels and predictions alone.
    Plain(fn(&[f64], &[f64]) -> f64),
    /// Of the level τ of a quantile or expectile, labels and predictions.
    AtLevel(fn(f64, &[f64], &[f64]) -> f64),
}

/// A score of predictions.
///
/// A new metric is a `static` beside the others of its kind and an entry in their list.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The name in documents and options.
    pub(crate) name: &'static str,
    pub(crate) best: Best,
    /// The least and the greatest score that exist.
    pub(crate) range: [f64; 2],
    pub(crate) score: ScoreFunction,
    /// No score is better than another: the metric describes predictions and cannot choose among
    /// them.
    pub(crate) is_diagnostic: bool,
    /// Decision values of two classes take the place of predictions.
    pub(crate) ranks: bool,
    /// The score counts the samples that are classified wrongly.
    pub(crate) counts_errors: bool,
    /// The score from a confusion matrix of two classes.
    pub(crate) of_table: Option<ScoreOfTable>,
    /// The loss of a sample, where the score is a function of the sum of losses.
    pub(crate) loss: Option<fn(f64, f64) -> f64>,
}

impl Metric {
    /// A metric of predicted labels with scores from 0 to 1, of which the highest is the best: what
    /// the rows of the tables change a field or two of.
    pub(crate) const fn new(name: &'static str, score: fn(&[f64], &[f64]) -> f64) -> Self {
        Self {
            name,
            best: Best::Highest,
            range: [0.0, 1.0],
            score: ScoreFunction::Plain(score),
            is_diagnostic: false,
            ranks: false,
            counts_errors: false,
            of_table: None,
            loss: None,
        }
    }

    /// A metric of predictions of a quantile or expectile, otherwise as [`Metric::new`].
    pub(crate) const fn at_level(name: &'static str, score: fn(f64, &[f64], &[f64]) -> f64) -> Self {
        Self { score: ScoreFunction::AtLevel(score), ..Self::new(name, |_, _| f64::NAN) }
    }

    /// The name in documents and options.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Which scores are better.
    pub fn best(&self) -> Best {
        self.best
    }

    /// Returns true if one score is better than another by more than rounding: solutions that are
    /// the same to their tolerance, such as those of all C above the largest dual variable, have
    /// scores that differ in the last digits.
    pub fn is_better(&self, score: f64, other: f64) -> bool {
        // A score with a finite best value, such as r², is a difference from it.
        let least = self.range.iter().map(|end| end.abs()).filter(|end| end.is_finite()).fold(0.0, f64::max);
        let rounding = SCORE_ROUNDING * score.abs().min(other.abs()).max(least);
        match self.best {
            Best::Highest => score > other + rounding,
            Best::Lowest => score < other - rounding,
        }
    }

    /// The least and the greatest score that exist.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Whether the metric needs decision values of two classes instead of predictions.
    pub fn ranks(&self) -> bool {
        self.ranks
    }

    /// Whether the metric only describes predictions, so that no search can choose by it.
    pub fn is_diagnostic(&self) -> bool {
        self.is_diagnostic
    }

    /// Whether more errors of classes, counted by samples, always make a worse score.
    pub fn counts_errors(&self) -> bool {
        self.counts_errors
    }

    /// The score of `predicted` against `truth`, one entry a sample; NaN where there are no
    /// samples, and of metrics that need a level ([`Metric::score_at`]). A metric that ranks takes
    /// decision values for `predicted`, positive for the greater label.
    ///
    /// # Panics
    ///
    /// When `truth` and `predicted` have different lengths, as all functions of this crate do.
    pub fn score(&self, truth: &[f64], predicted: &[f64]) -> f64 {
        self.score_at(f64::NAN, truth, predicted)
    }

    /// As [`Metric::score`], of predictions of the quantile or expectile `tau`.
    ///
    /// # Panics
    ///
    /// As [`Metric::score`].
    pub fn score_at(&self, tau: f64, truth: &[f64], predicted: &[f64]) -> f64 {
        assert_one_each("predictions", predicted.len(), truth.len());
        match self.score {
            ScoreFunction::Plain(score) => score(truth, predicted),
            ScoreFunction::AtLevel(score) => score(tau, truth, predicted),
        }
    }

    /// The score from a confusion matrix of two classes (rows: the classes, the lesser label first;
    /// columns: predictions), with the bits of [`Metric::score`]. None where the matrix does not
    /// determine the score, and where predicting one sample apart from all others is best
    /// (precision, recall).
    pub fn of_table(&self, table: [[usize; 2]; 2]) -> Option<f64> {
        self.of_table.map(|of| of(table))
    }

    /// The loss of each sample, where the score is a function of the sum of losses. Such scores can
    /// be bounded before all folds are done.
    ///
    /// # Panics
    ///
    /// As [`Metric::score`].
    pub fn losses(&self, truth: &[f64], predicted: &[f64]) -> Option<Vec<f64>> {
        assert_one_each("predictions", predicted.len(), truth.len());
        self.loss.map(|loss| truth.iter().zip(predicted).map(|(t, p)| loss(*t, *p)).collect())
    }
}

/// Panics unless there is one value for each label: scores of a part of the samples would look
/// those of all.
pub(crate) fn assert_one_each(what: &str, values: usize, labels: usize) {
    assert!(values == labels, "{values} {what} for {labels} labels: give one for each label");
}

/// The greatest of some labels; NaN of none.
pub fn greatest_label(labels: &[f64]) -> f64 {
    labels.iter().copied().fold(f64::NAN, f64::max)
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(self.name)
    }
}

impl PartialEq for Metric {
    /// Names are unique.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        ACCURACY, Confusion, LevelScores, MEAN_SQUARED_ERROR, Purpose, RankingCurves, Reliability, all_metrics, score_of, scores,
    };
    use maxmargin_core::{Formulation, TargetKind};

    /// The message of a panic.
    fn panic_of<T>(run: impl FnOnce() -> T + std::panic::UnwindSafe) -> String {
        let panic = std::panic::catch_unwind(|| drop(run())).expect_err("a panic");
        panic.downcast_ref::<String>().expect("a message").clone()
    }

    /// Accuracies of a part of the samples looked like those of all; rankings read out of bounds.
    #[test]
    fn unequal_lengths_panic_with_both_lengths() {
        let (truth, short) = ([1.0, 2.0], [1.0]);
        let expected = |what: &str| format!("1 {what} for 2 labels: give one for each label");
        for kind in [TargetKind::Classes, TargetKind::Values, TargetKind::Nothing] {
            for metric in all_metrics(kind) {
                assert_eq!(panic_of(|| metric.score(&truth, &short)), expected("predictions"), "{metric:?}");
                assert_eq!(panic_of(|| metric.losses(&truth, &short)), expected("predictions"), "{metric:?}");
            }
            assert_eq!(panic_of(|| scores(kind, 2.0, &truth, &short, None)), expected("predictions"));
            let decisions = || scores(kind, 2.0, &truth, &truth, Some(&short));
            assert_eq!(panic_of(decisions), expected("decision values"));
            assert_eq!(panic_of(|| score_of(kind.into(), &ACCURACY, 2.0, &truth, &[f64::NAN])), expected("predictions"));
        }
        let longer = "2 predictions for 1 labels: give one for each label";
        assert_eq!(panic_of(|| MEAN_SQUARED_ERROR.score(&short, &truth)), longer);
        assert_eq!(panic_of(|| Confusion::of(&truth, &truth, &short)), expected("predictions"));
        assert_eq!(panic_of(|| RankingCurves::of(&truth, &short)), expected("decision values"));
        let purpose = Purpose::from(Formulation::quantile(1.0, 0.5));
        let found = panic_of(|| LevelScores::of(purpose, &[0.25, 0.5], &truth, &[1.0; 3]));
        assert_eq!(found, "3 decision values for 2 labels at 2 levels: give one for each label and level");
        let found = panic_of(|| Reliability::of(&[0.5; 3], 2, &[0, 1]));
        assert_eq!(found, "3 probabilities for 2 samples and 2 classes: give one for each sample and class, of two or more");
        let found = panic_of(|| Reliability::of(&[0.5; 4], 2, &[0, 2]));
        assert_eq!(found, "sample 1 (from 0) is of class 2, and there are 2 classes (from 0)");
    }

    #[test]
    fn a_score_is_better_beyond_rounding_alone() {
        assert!(!ACCURACY.is_better(0.1 + 0.2, 0.3) && !ACCURACY.is_better(0.3, 0.1 + 0.2));
        assert!(ACCURACY.is_better(0.3001, 0.3) && !ACCURACY.is_better(0.3, 0.3001));
        // Errors of targets of any scale.
        assert!(MEAN_SQUARED_ERROR.is_better(1e-20, 2e-20) && !MEAN_SQUARED_ERROR.is_better(2e-20, 1e-20));
        assert!(!MEAN_SQUARED_ERROR.is_better(1e-20, 1e-20 * (1.0 + 1e-15)));
        assert!(MEAN_SQUARED_ERROR.is_better(3.0, f64::INFINITY) && !MEAN_SQUARED_ERROR.is_better(f64::NAN, 1.0));
    }
}
