//! The second machine of locally weighted intervals: it predicts the size of held-out errors.

use crate::calibrate::OutOfFold;
use crate::conformal::kept_folds::KeptFolds;
use crate::conformal::spread_range::SpreadRange;
use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::run::refusal::ConformalProblem;
use crate::seed::Seeding;
use crate::study::Study;
use maxmargin_core::{Formulation, RunControl};
use maxmargin_data::Dataset;
use maxmargin_model::Model;
use std::time::Instant;

/// The price of errors of the second machine, and their width. Logarithms of errors have deviations
/// near 1 for any noise (1.1 for normal errors), so that LIBSVM's defaults fit every target.
const PRICE: f64 = 1.0;
const WIDTH: f64 = 0.1;

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
