//! Intervals, sets and p-values of new rows.

use crate::conformal::class_scores::Scorer;
use crate::conformal::state::Conformal;
use crate::run::refusal::ConformalProblem;
use maxmargin_conformal::{Band, CrossScores, Interval, Level};
use maxmargin_core::TargetKind;
use maxmargin_data::{Par, Samples};
use maxmargin_model::{Model, ModelError};

/// Number of decision values that are computed together.
const TOGETHER: usize = 1 << 20;

impl Conformal {
    /// The interval of every row of `samples` for a regression. `groups` has the group of each row
    /// if the model has groups ([`Conformal::groups`]): scores of its group alone are counted.
    ///
    /// # Errors
    ///
    /// When the model is no regression, or predicts no decision values for these samples; when
    /// groups are missing, unknown, or not asked for.
    pub fn intervals(
        &self,
        model: &Model,
        samples: &Samples,
        level: Level,
        groups: Option<&[String]>,
        par: Par,
    ) -> Result<Vec<Interval>, ConformalProblem> {
        check_kind(model, TargetKind::Values)?;
        let ((scores, taxonomy), scorer) = (self.scores(None)?, self.scorer(model));
        let group = self.groups_of(groups, samples.len())?;
        self.for_each(model, samples, par, |row, decisions, columns| {
            let bands: Vec<Band> = decisions.chunks_exact(columns).map(|of_fold| scorer.band(of_fold)).collect();
            scores.interval(taxonomy.category(of_row(group.as_deref(), row), 0), &bands, level)
        })
    }

    /// The p-value of every row of `samples` for one class: the share of training rows, counting
    /// the row itself, that are at least as strange. `groups` as in [`Conformal::intervals`].
    ///
    /// # Errors
    ///
    /// When the model is none of one class, and as [`Conformal::intervals`].
    pub fn p_values(
        &self,
        model: &Model,
        samples: &Samples,
        groups: Option<&[String]>,
        par: Par,
    ) -> Result<Vec<f64>, ConformalProblem> {
        check_kind(model, TargetKind::Nothing)?;
        let (scores, taxonomy) = self.scores(None)?;
        let group = self.groups_of(groups, samples.len())?;
        self.for_each(model, samples, par, |row, decisions, _| {
            let own: Vec<f64> = decisions.iter().map(|f| -f).collect();
            scores.p_value(taxonomy.category(of_row(group.as_deref(), row), 0), &own)
        })
    }

    /// The p-value of every class for every row of `samples`, row-major rows × classes. With
    /// `per_class`, it counts the scores of that class alone; `groups` as in
    /// [`Conformal::intervals`].
    ///
    /// # Errors
    ///
    /// When the model has no classes, and as [`Conformal::intervals`].
    pub fn class_p_values(
        &self,
        model: &Model,
        samples: &Samples,
        per_class: bool,
        groups: Option<&[String]>,
        par: Par,
    ) -> Result<Vec<f64>, ConformalProblem> {
        self.of_classes(model, samples, per_class, groups, par, CrossScores::p_value)
    }

    /// Whether each class is in the set of each row of `samples`, row-major rows × classes. With
    /// `per_class`, each class has the promise by itself; `groups` as in [`Conformal::intervals`].
    ///
    /// # Errors
    ///
    /// As [`Conformal::class_p_values`].
    pub fn sets(
        &self,
        model: &Model,
        samples: &Samples,
        level: Level,
        per_class: bool,
        groups: Option<&[String]>,
        par: Par,
    ) -> Result<Vec<bool>, ConformalProblem> {
        self.of_classes(model, samples, per_class, groups, par, |scores, category, own| scores.includes(category, own, level))
    }

    fn of_classes<T: Send>(
        &self,
        model: &Model,
        samples: &Samples,
        per_class: bool,
        groups: Option<&[String]>,
        par: Par,
        each: impl Fn(&CrossScores, usize, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>, ConformalProblem> {
        check_kind(model, TargetKind::Classes)?;
        let (count, scorer) = (model.classes().len(), self.scorer(model));
        let (scores, taxonomy) = self.scores(per_class.then_some(count))?;
        let group = self.groups_of(groups, samples.len())?;
        let rows = self.for_each(model, samples, par, |row, decisions, columns| {
            let (share, group) = (scorer.share(samples.row(row)), of_row(group.as_deref(), row));
            let mut by_fold = vec![0.0; self.folds() * count];
            let folds = decisions.chunks_exact(columns).zip(by_fold.chunks_exact_mut(count));
            folds.enumerate().for_each(|(fold, (decisions, own))| scorer.write(fold, share, decisions, own));
            let of_class = |class: usize| {
                let own: Vec<f64> = by_fold.iter().skip(class).step_by(count).copied().collect();
                each(&scores, taxonomy.category(group, class), &own)
            };
            (0..count).map(of_class).collect::<Vec<T>>()
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Calls `each` with every row, its decision values by all folds, fold after fold, and the
    /// number of values of a fold.
    fn for_each<T: Send>(
        &self,
        model: &Model,
        samples: &Samples,
        par: Par,
        each: impl Fn(usize, &[f64], usize) -> T + Sync,
    ) -> Result<Vec<T>, ConformalProblem> {
        let predictors = self.ensembles.iter().map(|ensemble| ensemble.predictor(model)).collect::<Result<Vec<_>, _>>()?;
        let machines: usize = self.ensembles.iter().map(|ensemble| ensemble.machines().len()).sum();
        let step = (TOGETHER / machines.max(1)).clamp(32, 4096);
        let columns = self.places[0].len();
        let mut found = Vec::with_capacity(samples.len());
        for begin in (0..samples.len()).step_by(step) {
            let block: Vec<usize> = (begin..samples.len().min(begin + step)).collect();
            let block = samples.select(&block);
            let tables = self.ensembles.iter().zip(&predictors);
            let tables = tables.map(|(ensemble, predictor)| ensemble.decision_values(predictor, &block, par));
            let tables: Vec<Vec<f64>> = tables.collect::<Result<_, ModelError>>()?;
            let of_row = |row: usize| {
                let value = |place: &(u32, u32)| {
                    let (ensemble, machine) = (place.0 as usize, place.1 as usize);
                    tables[ensemble][row * self.ensembles[ensemble].machines().len() + machine]
                };
                let decisions: Vec<f64> = self.places.iter().flatten().map(value).collect();
                each(begin + row, &decisions, columns)
            };
            found.extend(par.map(block.len(), of_row));
        }
        Ok(found)
    }

    /// The score of every kept row, computed again by the machine of its fold. `samples` and
    /// `labels` are the training data.
    pub(crate) fn recomputed(
        &self,
        model: &Model,
        samples: &Samples,
        labels: &[f64],
        par: Par,
    ) -> Result<Vec<f64>, ConformalProblem> {
        let rows: Vec<usize> = self.rows.iter().map(|row| *row as usize).collect();
        let own = samples.select(&rows);
        let (count, scorer, kind) = (model.classes().len(), self.scorer(model), model.decision_rule().target_kind());
        self.for_each(model, &own, par, |at, decisions, columns| {
            let of_fold = &decisions[self.fold[at] as usize * columns..][..columns];
            match kind {
                TargetKind::Values => scorer.band(of_fold).score(labels[rows[at]]),
                TargetKind::Nothing => -of_fold[0],
                TargetKind::Classes => {
                    let mut scores = vec![0.0; count];
                    scorer.write(self.fold[at] as usize, scorer.share(own.row(at)), of_fold, &mut scores);
                    scores[self.class[at] as usize]
                }
            }
        })
    }

    /// The scores of rows by the machines of a fold.
    fn scorer(&self, model: &Model) -> Scorer<'_> {
        Scorer { multiclass: model.multiclass(), adaptive: self.adaptive.as_ref(), spread: self.spread }
    }

    /// The score of every kept row.
    pub(crate) fn stored_scores(&self) -> &[f64] {
        &self.score
    }
}

/// The group of a row; 0 without groups.
fn of_row(groups: Option<&[u32]>, row: usize) -> u32 {
    groups.map_or(0, |groups| groups[row])
}

/// Refuses predictions that the model's kind of target does not have.
fn check_kind(model: &Model, wanted: TargetKind) -> Result<(), ConformalProblem> {
    let kind = model.decision_rule().target_kind();
    if kind == wanted { Ok(()) } else { Err(ConformalProblem::Kind(kind)) }
}
