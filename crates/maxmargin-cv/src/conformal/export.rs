//! Models as prediction programs, with the intervals that they keep.

use super::state::Conformal;
use crate::run::refusal::ConformalProblem;
use maxmargin_conformal::Level;
use maxmargin_core::TargetKind;
use maxmargin_export::program::{FoldBand, FoldIntervals, Functions};
use maxmargin_export::{Labels, Program};
use maxmargin_model::{Ensemble, Model};
use std::borrow::Cow;

/// The warning about predictions of a model that its program has not.
const LEFT_OUT: &str = "left out: sets and p-values of conformal predictions, and intervals of scaled errors or of groups; \
     exported files have other intervals of regressions alone";

/// Returns a warning if a model keeps conformal scores and its program has no intervals.
///
/// # Errors
///
/// When the scores of the model are damaged.
pub fn left_out_of(program: &Program, model: &Model) -> Result<Option<&'static str>, ConformalProblem> {
    Ok(Conformal::of(model)?.filter(|_| program.intervals.is_none()).map(|_| LEFT_OUT))
}

/// Returns the prediction program of a model, with intervals at `level`, or at that of the
/// training, if it is a regression that keeps the machines of folds, scales no errors and has no
/// groups. `labels` replaces the labels of its classes.
///
/// # Errors
///
/// When the model cannot be exported, or its folds are damaged.
pub fn prediction_program(model: &Model, labels: Option<Labels>, level: Option<Level>) -> Result<Program, ConformalProblem> {
    let program = Program::new(model, labels)?;
    let is_regression = model.decision_rule().target_kind() == TargetKind::Values;
    match Conformal::of(model)?.filter(|kept| is_regression && kept.spread.is_none() && kept.groups.is_none()) {
        Some(kept) => {
            let intervals = kept.fold_intervals(model, level.unwrap_or(kept.level))?;
            Ok(program.with_intervals(intervals))
        }
        None => Ok(program),
    }
}

impl Conformal {
    /// Returns the intervals of a regression as a part of its program.
    fn fold_intervals(&self, model: &Model, level: Level) -> Result<FoldIntervals, ConformalProblem> {
        let functions = self.ensembles.iter().map(|ensemble| functions(ensemble, model)).collect::<Result<_, _>>()?;
        let place = |(group, at): &(u32, u32)| [*group as usize, *at as usize];
        let mut folds: Vec<FoldBand> = self
            .places
            .iter()
            .map(|places| FoldBand { lower: place(&places[0]), upper: place(&places[places.len() - 1]), scores: Vec::new() })
            .collect();
        for (&fold, &score) in self.fold.iter().zip(&self.score) {
            folds[fold as usize].scores.push(score);
        }
        folds.iter_mut().for_each(|fold| fold.scores.sort_unstable_by(f64::total_cmp));
        Ok(FoldIntervals { alpha: level.alpha(), rank: level.rank(self.score.len()), functions, folds })
    }
}

fn functions(ensemble: &Ensemble, model: &Model) -> Result<Functions, ConformalProblem> {
    let mut support = ensemble.support(Some(model))?;
    if support.is_empty() {
        // A matrix without rows does not know its width.
        support = Cow::Owned(support.into_owned().with_features(model.parts().support.features()));
    }
    Ok(Functions::new(ensemble.kernel(), ensemble.encoder(), ensemble.scaler(), &support, ensemble.machines())?)
}
