//! The coverage and the size of conformal predictions of held-out rows.

use crate::conformal::held_out::HeldOutScores;
use crate::conformal::state::method;
use crate::plan::FoldPlan;
use crate::run::refusal::ConformalProblem;
use crate::study::{ConformalOptions, Exchangeable, Study};
use maxmargin_conformal::{ConformalScore, held_out_thresholds};
use maxmargin_core::TargetKind;
use maxmargin_data::ClassLabels;
use serde::Serialize;

/// The coverage of conformal predictions, estimated by a cross-validation: each row by the scores
/// of the folds that did not test it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConformalCoverage {
    /// `cv+`, `jackknife+`, `conformalised quantiles` or `cross-conformal`.
    pub method: &'static str,
    /// The share of predictions that may miss the truth.
    pub level: f64,
    /// The premise of the promise.
    pub exchangeable: Exchangeable,
    /// True if each class has the promise by itself.
    pub per_class: bool,
    /// The kind of score.
    pub score: ConformalScore,
    /// The number of rows with a score.
    pub rows: usize,
    /// The share of rows whose prediction covers the truth.
    pub coverage: f64,
    /// The mean width of intervals; `None` without intervals, and if one of them is infinite.
    pub width: Option<f64>,
    /// The mean number of classes in a set; `None` without classes.
    pub size: Option<f64>,
    /// The coverage of each class; empty without classes.
    pub classes: Vec<ClassCoverage>,
}

/// The coverage of the sets of the rows of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassCoverage {
    /// The label.
    pub label: f64,
    /// The number of its rows with a score.
    pub rows: usize,
    /// The share of these whose set has the class.
    pub coverage: f64,
    /// The mean number of classes in their sets.
    pub size: f64,
}

impl ConformalCoverage {
    /// Compares the scores of every fold with those of the other folds.
    pub(super) fn of(
        study: &Study,
        options: &ConformalOptions,
        plan: &FoldPlan,
        scores: &HeldOutScores,
    ) -> Result<Self, ConformalProblem> {
        let HeldOutScores { fold, score, class, of_classes, range, unit, .. } = scores;
        let categories = options.per_class.then_some(&class[..]);
        let bounds = held_out_thresholds(fold, score, categories, options.level)?;
        let kind = study.formulation.target_kind();
        let rows = score.len();
        let bound = |row: usize, class: usize| bounds[fold[row] as usize][if options.per_class { class } else { 0 }];
        let covered: Vec<bool> =
            (0..rows).map(|row| score[row] <= bound(row, class.get(row).map_or(0, |class| *class as usize))).collect();
        let count = study.classes.map_or(0, ClassLabels::count);
        let size = |row: usize| (0..count).filter(|&class| of_classes[row * count + class] <= bound(row, class)).count() as f64;
        let sizes: Vec<f64> = (0..if count > 0 { rows } else { 0 }).map(size).collect();
        let width = |row: usize| (range[row] + 2.0 * unit[row] * bound(row, 0)).max(0.0);
        let width = (kind == TargetKind::Values).then(|| mean((0..rows).map(width))).filter(|width| width.is_finite());
        // Folds that skip rows are those of time series, whatever the caller takes them for.
        let whole = plan.fold_of().is_some();
        Ok(Self {
            method: method(kind, study.formulation.level().is_some(), plan.folds() == rows),
            level: options.level.alpha(),
            exchangeable: if whole { options.exchangeable } else { Exchangeable::Nothing },
            per_class: options.per_class,
            score: options.score,
            rows,
            coverage: mean(covered.iter().map(|covered| f64::from(u8::from(*covered)))),
            width,
            size: (count > 0).then(|| mean(sizes.iter().copied())),
            classes: study.classes.map_or_else(Vec::new, |classes| by_class(classes.labels(), class, &covered, &sizes)),
        })
    }
}

/// The coverage of each class.
fn by_class(labels: &[f64], class: &[u32], covered: &[bool], sizes: &[f64]) -> Vec<ClassCoverage> {
    let of = |(at, label): (usize, &f64)| {
        let own: Vec<usize> = (0..class.len()).filter(|&row| class[row] as usize == at).collect();
        ClassCoverage {
            label: *label,
            rows: own.len(),
            coverage: mean(own.iter().map(|&row| f64::from(u8::from(covered[row])))),
            size: mean(own.iter().map(|&row| sizes[row])),
        }
    };
    labels.iter().enumerate().map(of).collect()
}

/// The mean of some values, of which there is at least one.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
