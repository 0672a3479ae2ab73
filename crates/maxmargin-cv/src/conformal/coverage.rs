//! The coverage and the size of conformal predictions of held-out rows.

use crate::conformal::held_out::HeldOutScores;
use crate::conformal::state::method;
use crate::conformal::taxonomy::Taxonomy;
use crate::plan::FoldPlan;
use crate::run::refusal::ConformalProblem;
use crate::study::{ConformalGroups, ConformalOptions, Exchangeable, Study};
use maxmargin_conformal::{ConformalScore, Level, held_out_thresholds};
use maxmargin_data::ClassLabels;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// The coverage of each group that has the promise by itself; empty without groups.
    pub groups: Vec<GroupCoverage>,
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

/// The coverage of the predictions of the rows of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupCoverage {
    /// The name.
    pub group: String,
    /// The number of its rows with a score.
    pub rows: usize,
    /// True if these are enough for the level; with the promise for each class, those of each of
    /// its classes. Otherwise some intervals of the group are infinite, and some classes in all
    /// sets.
    pub has_enough_rows: bool,
    /// False if a fold tests so many of these rows that the other folds have too few of them: as
    /// when folds keep groups together. The coverage is then that of predictions that say nothing.
    pub is_estimated: bool,
    /// The share of the rows whose prediction covers the truth.
    pub coverage: f64,
    /// The mean width of their intervals, as that of all rows.
    pub width: Option<f64>,
    /// The mean number of classes in their sets.
    pub size: Option<f64>,
}

/// The predictions of rows with a score.
struct Predicted {
    /// Whether each prediction covers the truth.
    covered: Vec<bool>,
    /// The number of classes in each set; empty without classes.
    sizes: Vec<f64>,
    /// The width of each interval; empty without intervals.
    widths: Vec<f64>,
}

impl ConformalCoverage {
    /// Compares the scores of every fold with those of the other folds.
    pub(super) fn of(
        study: &Study,
        options: &ConformalOptions,
        plan: &FoldPlan,
        scores: &HeldOutScores,
    ) -> Result<Self, ConformalProblem> {
        let kind = study.formulation.target_kind();
        let rows = scores.score.len();
        let count = study.classes.map_or(0, ClassLabels::count);
        let groups = options.groups.as_ref().map(|groups| groups.select(&scores.rows));
        let taxonomy = Taxonomy::new(groups.is_some(), options.per_class.then_some(count));
        let group = groups.as_ref().map_or(&[][..], ConformalGroups::of);
        let predicted = Predicted::of(scores, options.level, taxonomy, group, count)?;
        let found = predicted.mean(&(0..rows));
        // Folds that skip rows are those of time series, whatever the caller takes them for. Rows
        // of weight 0 are none.
        let whole = study
            .weighted_rows()
            .map_or_else(|| plan.fold_of().is_some(), |rows| plan.among(&rows).is_ok_and(|plan| plan.fold_of().is_some()));
        let of_class = |(at, label): (usize, &f64)| predicted.of_class(*label, at, &scores.class);
        let of_group = |(at, name): (usize, &String)| {
            let own = (0..rows).filter(|&row| group[row] as usize == at);
            let class = |row: usize| if options.per_class { scores.class[row] as usize } else { 0 };
            let mut sizes = vec![0; if options.per_class { count } else { 1 }];
            let mut of_folds = BTreeMap::<(usize, u32), usize>::new();
            for row in own.clone() {
                sizes[class(row)] += 1;
                *of_folds.entry((class(row), scores.fold[row])).or_default() += 1;
            }
            let is_enough = |size: usize| options.level.rank(size) > 0;
            GroupCoverage {
                group: name.clone(),
                has_enough_rows: sizes.iter().all(|size| is_enough(*size)),
                is_estimated: of_folds.iter().all(|((class, _), tested)| is_enough(sizes[*class] - tested)),
                ..predicted.mean(&own)
            }
        };
        Ok(Self {
            method: method(kind, study.formulation.level().is_some(), plan.folds() == rows),
            level: options.level.alpha(),
            exchangeable: if whole { options.exchangeable } else { Exchangeable::Nothing },
            per_class: options.per_class,
            score: options.score,
            rows,
            coverage: found.coverage,
            width: found.width,
            size: found.size,
            classes: study.classes.map_or_else(Vec::new, |classes| classes.labels().iter().enumerate().map(of_class).collect()),
            groups: groups.as_ref().map_or_else(Vec::new, |groups| groups.names().iter().enumerate().map(of_group).collect()),
        })
    }
}

impl Predicted {
    /// Compares the score of every row with those of its category in the other folds.
    fn of(
        scores: &HeldOutScores,
        level: Level,
        taxonomy: Taxonomy,
        group: &[u32],
        count: usize,
    ) -> Result<Self, ConformalProblem> {
        let HeldOutScores { fold, score, class, of_classes, range, unit, .. } = scores;
        let bounds = held_out_thresholds(fold, score, taxonomy.categories(group, class).as_deref(), level)?;
        let bound = |row: usize, class: usize| {
            let category = taxonomy.category(group.get(row).copied().unwrap_or(0), class);
            bounds.threshold(fold[row] as usize, category)
        };
        let rows = 0..score.len();
        let size = |row: usize| (0..count).filter(|&class| of_classes[row * count + class] <= bound(row, class)).count() as f64;
        let own = |row: usize| class.get(row).map_or(0, |class| *class as usize);
        Ok(Self {
            covered: rows.clone().map(|row| score[row] <= bound(row, own(row))).collect(),
            sizes: rows.filter(|_| count > 0).map(size).collect(),
            widths: (0..range.len()).map(|row| (range[row] + 2.0 * unit[row] * bound(row, 0)).max(0.0)).collect(),
        })
    }

    /// The means over some rows.
    fn mean(&self, rows: &(impl Iterator<Item = usize> + Clone)) -> GroupCoverage {
        let count = rows.clone().count();
        let mean = |of: &dyn Fn(usize) -> f64| rows.clone().map(of).sum::<f64>() / count as f64;
        GroupCoverage {
            group: String::new(),
            rows: count,
            has_enough_rows: true,
            is_estimated: true,
            coverage: mean(&|row| f64::from(u8::from(self.covered[row]))),
            width: (!self.widths.is_empty()).then(|| mean(&|row| self.widths[row])).filter(|width| width.is_finite()),
            size: (!self.sizes.is_empty()).then(|| mean(&|row| self.sizes[row])),
        }
    }

    /// The coverage of a class.
    fn of_class(&self, label: f64, at: usize, class: &[u32]) -> ClassCoverage {
        let found = self.mean(&(0..class.len()).filter(|&row| class[row] as usize == at));
        ClassCoverage { label, rows: found.rows, coverage: found.coverage, size: found.size.unwrap_or(f64::NAN) }
    }
}
