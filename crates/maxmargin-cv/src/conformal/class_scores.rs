//! Scores of rows by the machines of a fold: errors, margins, or sums of probabilities.

use crate::calibrate::CalibrationFit;
use crate::conformal::spread_range::SpreadRange;
use crate::plan::FoldPlan;
use crate::report::margin_scores;
use crate::run::refusal::ConformalProblem;
use crate::study::Study;
use maxmargin_conformal::{Band, ConformalScore, Penalty, adaptive_score, share_of_row};
use maxmargin_data::{ClassLabels, Par, Row};
use maxmargin_model::{Calibration, Multiclass};
use serde::{Deserialize, Serialize};

/// The probabilities behind the scores APS and RAPS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AdaptiveScores {
    penalty: Penalty,
    /// The seed of the share of each row ([`share_of_row`]).
    seed: u64,
    /// For each fold the calibration of each machine, fitted to rows that other folds tested.
    calibration: Vec<Vec<Calibration>>,
}

impl AdaptiveScores {
    /// Fits the probabilities for a score to the decision values of a cross-validation; `None` if
    /// the score needs none.
    ///
    /// # Errors
    ///
    /// When the folds other than one test no row of a class.
    pub(super) fn fit(
        study: &Study,
        score: ConformalScore,
        plan: &FoldPlan,
        decisions: &[f64],
    ) -> Result<Option<Self>, ConformalProblem> {
        let (ConformalScore::Adaptive(penalty), Some(classes)) = (score, study.classes) else { return Ok(None) };
        let probability = study.options.calibration.probability.unwrap_or_default();
        let fit = CalibrationFit::new(decisions, classes, study.rule().multiclass, probability);
        let of_fold = |fold: usize| {
            let mut others = vec![true; plan.len()];
            plan.test(fold).iter().for_each(|&i| others[i] = false);
            fit.over(|i| others[i], Par::Seq)
        };
        let calibration = study.options.par.map(plan.folds(), of_fold).into_iter().collect::<Result<_, _>>()?;
        Ok(Some(Self { penalty, seed: study.options.seed, calibration }))
    }

    /// The score that these probabilities are for.
    pub(super) fn score(&self) -> ConformalScore {
        ConformalScore::Adaptive(self.penalty)
    }

    /// Returns true if every fold has a sound calibration for each of its machines.
    pub(super) fn is_sound(&self, folds: usize, machines: usize) -> bool {
        let is_sigmoid = |of: &Calibration| {
            matches!(of, Calibration::Sigmoid { .. } | Calibration::Steps { .. }) && of.clone().checked().is_ok()
        };
        let is_whole = |fold: &Vec<Calibration>| fold.len() == machines && fold.iter().all(is_sigmoid);
        self.penalty.is_valid() && self.calibration.len() == folds && self.calibration.iter().all(is_whole)
    }
}

/// The scores of rows by decision values.
#[derive(Clone, Copy)]
pub(super) struct Scorer<'a> {
    pub(super) multiclass: Multiclass,
    /// The probabilities, if scores are not margins.
    pub(super) adaptive: Option<&'a AdaptiveScores>,
    /// The range of the second value of a fold, if it is a spread.
    pub(super) spread: Option<SpreadRange>,
}

impl Scorer<'_> {
    /// The band of a fold's decision values for a regression: one prediction, one with its spread,
    /// or two quantiles.
    pub(super) fn band(self, decisions: &[f64]) -> Band {
        match (decisions, self.spread) {
            ([value, log], Some(spread)) => Band { unit: spread.unit(*log), ..Band::around(*value) },
            ([lower, upper], None) => Band { lower: *lower, upper: *upper, unit: 1.0 },
            _ => Band::around(decisions[0]),
        }
    }

    /// The share of a row for [`Scorer::write`], the same for all folds.
    pub(super) fn share(self, row: Row<'_>) -> f64 {
        self.adaptive.map_or(0.0, |adaptive| share_of_row(adaptive.seed, row.entries()))
    }

    /// Writes the score of each class for a row with this share, by the decision values of a fold.
    pub(super) fn write(self, fold: usize, share: f64, decisions: &[f64], scores: &mut [f64]) {
        let Some(AdaptiveScores { penalty, calibration, .. }) = self.adaptive else {
            return margin_scores(self.multiclass, decisions, scores);
        };
        let probabilities = self.multiclass.probabilities(scores.len(), &calibration[fold], decisions);
        for (class, score) in scores.iter_mut().enumerate() {
            *score = adaptive_score(&probabilities, class, *penalty, share);
        }
    }
}

/// Returns a class whose rows only one fold tests, so that this fold's probabilities have no row to
/// be fitted to.
pub(super) fn class_of_one_fold(plan: &FoldPlan, classes: &ClassLabels) -> Option<f64> {
    let mut tested = vec![0_usize; classes.count()];
    for fold in 0..plan.folds() {
        let mut own = vec![false; classes.count()];
        plan.test(fold).iter().for_each(|&row| own[classes.of()[row] as usize] = true);
        own.iter().zip(&mut tested).for_each(|(own, tested)| *tested += usize::from(*own));
    }
    tested.iter().position(|folds| *folds < 2).map(|class| classes.labels()[class])
}
