//! The second machine of locally weighted intervals: it predicts the size of held-out errors.

use crate::calibrate::OutOfFold;
use crate::conformal::fit::KeptFolds;
use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::run::refusal::ConformalProblem;
use crate::seed::Seeding;
use crate::study::Study;
use maxmargin_core::{Formulation, RunControl};
use maxmargin_data::Dataset;
use maxmargin_model::Model;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Errors below this share of the median error count as this share: the logarithm of an error near
/// 0 says nothing about the spread.
const FLOOR: f64 = 0.05;

/// The price of errors of the second machine, and their width. Logarithms of errors have deviations
/// near 1 for any noise (1.1 for normal errors), so that LIBSVM's defaults fit every target.
const PRICE: f64 = 1.0;
const WIDTH: f64 = 0.1;

/// The logarithms between which predicted spreads are cut, so that no spread is smaller or greater
/// than that of the rows it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpreadRange {
    least: f64,
    greatest: f64,
}

impl SpreadRange {
    /// The unit of scores at a value of the second machine.
    pub(super) fn unit(self, log: f64) -> f64 {
        log.clamp(self.least, self.greatest).exp()
    }

    /// Returns true if every unit is a number above 0.
    pub(super) fn is_sound(self) -> bool {
        let is_unit = |log: f64| (f64::MIN_POSITIVE..f64::MAX).contains(&log.exp());
        self.least <= self.greatest && is_unit(self.least) && is_unit(self.greatest)
    }

    /// The logarithms of absolute errors, and their range.
    fn of(errors: impl Iterator<Item = f64>) -> (Vec<f64>, Self) {
        let mut logs: Vec<f64> = errors.map(f64::abs).collect();
        let half = logs.len() / 2;
        let median = *logs.clone().select_nth_unstable_by(half, f64::total_cmp).1;
        let mean = logs.iter().map(|error| error / logs.len() as f64).sum::<f64>();
        // Where most errors are 0 their mean sets the floor, and where all are, any unit does.
        let typical = [median, mean, 1.0].into_iter().find(|size| *size > 0.0).unwrap_or(1.0);
        let floor = (FLOOR * typical).max(f64::MIN_POSITIVE);
        logs.iter_mut().for_each(|error| *error = error.max(floor).ln());
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (logs, Self { least, greatest })
    }
}

impl Study<'_> {
    /// Checks that errors of this formulation over these folds can be scaled.
    pub(super) fn check_scaled(&self, plan: &FoldPlan) -> Result<(), ConformalProblem> {
        if !matches!(self.formulation, Formulation::Svr { .. } | Formulation::NuSvr { .. }) {
            return Err(ConformalProblem::NoErrors(self.formulation.name()));
        }
        if plan.fold_of().is_none() { Err(ConformalProblem::SpreadFolds) } else { Ok(()) }
    }

    /// Adds the second machine of every fold: it is trained on the errors of the rows that other
    /// folds held out, so that it never sees an error of its own fold.
    pub(super) fn with_spread(
        &self,
        first: KeptFolds,
        model: &Model,
        plan: &FoldPlan,
        seeding: Seeding,
        control: &RunControl,
    ) -> Result<(OutOfFold, Option<KeptFolds>), CvError> {
        let begun = Instant::now();
        let errors = self.data.labels.iter().zip(&first.decisions).map(|(target, value)| target - value);
        let (labels, range) = SpreadRange::of(errors);
        let data = Dataset { labels, ..self.data.clone() };
        let formulation = match self.formulation {
            Formulation::Svr { loss, bias_term, .. } => Formulation::Svr { c: PRICE, epsilon: WIDTH, loss, bias_term },
            other => other.with_c(PRICE),
        };
        let study = Study { data: &data, formulation, prepared: None, ..*self };
        let (mut run, found) = study.kept_folds(model, None, plan, seeding, control)?;
        run.seconds = begun.elapsed().as_secs_f64();
        Ok((run, found.map(|second| KeptFolds { spread: Some(range), ..first.beside(second) })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_between_a_floor_and_the_largest_error() {
        let (logs, range) = SpreadRange::of([0.0, -2.0, 1.0, 4.0, 1e-9].into_iter());
        let sizes: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        for (size, expected) in sizes.iter().zip([0.05, 2.0, 1.0, 4.0, 0.05]) {
            assert!((size - expected).abs() < 1e-14, "{size} {expected}");
        }
        assert!((range.unit(-40.0) - 0.05).abs() < 1e-14 && (range.unit(900.0) - 4.0).abs() < 1e-14);
        assert!(range.is_sound());
        let (logs, range) = SpreadRange::of([0.0; 3].into_iter());
        assert!(logs.iter().all(|log| *log == FLOOR.ln()) && range.is_sound());
        assert!(!SpreadRange { least: 0.0, greatest: 800.0 }.is_sound());
        assert!(!SpreadRange { least: f64::NAN, greatest: 0.0 }.is_sound());
    }
}
