//! The scores of the rows that folds held out.

use crate::conformal::class_scores::Scorer;
use crate::plan::FoldPlan;
use crate::study::Study;
use maxmargin_core::TargetKind;
use maxmargin_data::ClassLabels;

/// The scores of rows that some fold tested.
pub(super) struct HeldOutScores {
    /// The rows, ascending.
    pub(super) rows: Vec<u64>,
    /// The fold of each.
    pub(super) fold: Vec<u32>,
    /// The score of each.
    pub(super) score: Vec<f64>,
    /// The class of each; empty without classes.
    pub(super) class: Vec<u32>,
    /// The score of every class, row after row; empty without classes.
    pub(super) of_classes: Vec<f64>,
    /// The width of the range that a score widens on both sides; 0 for one prediction.
    pub(super) range: Vec<f64>,
    /// The unit of the score; empty for classes.
    pub(super) unit: Vec<f64>,
}

impl HeldOutScores {
    /// The scores of all tested rows by the decision values of a cross-validation.
    pub(super) fn of(study: &Study, scorer: Scorer<'_>, plan: &FoldPlan, decisions: &[f64], columns: usize) -> Self {
        let mut tested: Vec<(usize, u32)> = Vec::with_capacity(plan.len());
        for fold in 0..plan.folds() {
            tested.extend(plan.test(fold).iter().map(|row| (*row, fold as u32)));
        }
        tested.sort_unstable();
        let decisions = |row: usize| &decisions[row * columns..(row + 1) * columns];
        let mut found = Self {
            rows: tested.iter().map(|row| row.0 as u64).collect(),
            fold: tested.iter().map(|row| row.1).collect(),
            score: Vec::with_capacity(tested.len()),
            class: Vec::new(),
            of_classes: Vec::new(),
            range: Vec::new(),
            unit: Vec::new(),
        };
        let count = study.classes.map_or(0, ClassLabels::count);
        let mut own = vec![0.0; count];
        for &(row, fold) in &tested {
            match (study.formulation.target_kind(), study.classes) {
                (TargetKind::Classes, Some(classes)) => {
                    let class = classes.of()[row];
                    scorer.write(fold as usize, scorer.share(study.data.samples.row(row)), decisions(row), &mut own);
                    found.score.push(own[class as usize]);
                    found.class.push(class);
                    found.of_classes.extend_from_slice(&own);
                }
                (TargetKind::Nothing, _) => found.score.push(-decisions(row)[0]),
                _ => {
                    let band = scorer.band(decisions(row));
                    found.score.push(band.score(study.data.labels[row]));
                    found.range.push(band.upper - band.lower);
                    found.unit.push(band.unit);
                }
            }
        }
        found
    }
}
