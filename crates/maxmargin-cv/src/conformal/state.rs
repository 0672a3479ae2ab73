//! The scores and the machines of folds that a model keeps for conformal predictions.

use crate::conformal::class_scores::AdaptiveScores;
use crate::conformal::spread_range::SpreadRange;
use crate::conformal::taxonomy::Taxonomy;
use crate::run::refusal::ConformalProblem;
use crate::study::{ConformalGroups, Exchangeable};
use maxmargin_conformal::{ConformalScore, CrossScores, Level};
use maxmargin_core::TargetKind;
use maxmargin_data::codec::{self, CodecError};
use maxmargin_model::{Ensemble, Model};
use serde::{Deserialize, Serialize};

/// The name of the section in a model file.
const TAG: [u8; 8] = *b"conform\0";

/// The name of the section with parts that older programs do not know. They then find no scores,
/// instead of taking these for margins.
const TAG_WITH_PARTS: [u8; 8] = *b"conform2";

/// The name of the section with groups, which programs that know the parts alone do not know.
const TAG_WITH_GROUPS: [u8; 8] = *b"conform3";

/// The scores of a model's training rows by machines that did not see them, and these machines: all
/// that intervals, sets and p-values of new rows need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conformal {
    pub(super) level: Level,
    pub(super) per_class: bool,
    pub(super) exchangeable: Exchangeable,
    /// The rows of the training data that some fold tested, ascending.
    pub(super) rows: Vec<u64>,
    /// The fold that tested each of them.
    pub(super) fold: Vec<u32>,
    /// The score of each of them.
    pub(super) score: Vec<f64>,
    /// The class of each of them, as an index into the model's; empty without classes.
    pub(super) class: Vec<u32>,
    /// The machines of all folds, each once.
    pub(super) ensembles: Vec<Ensemble>,
    /// The machines of each fold: the ensemble, and the place there.
    pub(super) places: Vec<Vec<(u32, u32)>>,
    /// The probabilities behind the scores of classes, unless these are margins.
    #[serde(skip)]
    pub(super) adaptive: Option<AdaptiveScores>,
    /// The range of spreads, if each fold has a second machine for them.
    #[serde(skip)]
    pub(super) spread: Option<SpreadRange>,
    /// The group of each row with a score, if each group has the promise by itself.
    #[serde(skip)]
    pub(super) groups: Option<ConformalGroups>,
}

/// The parts of a section that not every model has.
#[derive(Serialize, Deserialize)]
struct Parts {
    adaptive: Option<AdaptiveScores>,
    spread: Option<SpreadRange>,
}

impl Conformal {
    /// The scores and machines that a model keeps; `None` if it was trained without them.
    ///
    /// # Errors
    ///
    /// When the bytes are damaged, or do not belong to the model.
    pub fn of(model: &Model) -> Result<Option<Self>, ConformalProblem> {
        let damaged = |error: CodecError| ConformalProblem::Damaged(error.to_string());
        let kept = if let Some(bytes) = model.section(TAG_WITH_GROUPS) {
            let (kept, parts, groups): (Self, Parts, ConformalGroups) = codec::decode(bytes, bytes.len()).map_err(damaged)?;
            Self { adaptive: parts.adaptive, spread: parts.spread, groups: Some(groups), ..kept }
        } else if let Some(bytes) = model.section(TAG_WITH_PARTS) {
            let (kept, parts): (Self, Parts) = codec::decode(bytes, bytes.len()).map_err(damaged)?;
            Self { adaptive: parts.adaptive, spread: parts.spread, ..kept }
        } else {
            let Some(bytes) = model.section(TAG) else { return Ok(None) };
            codec::decode(bytes, bytes.len()).map_err(damaged)?
        };
        kept.check(model)?;
        Ok(Some(kept))
    }

    /// Stores the scores and machines in the model.
    pub(super) fn put_into(&self, model: Model) -> Result<Model, ConformalProblem> {
        self.check(&model)?;
        let parts = Parts { adaptive: self.adaptive.clone(), spread: self.spread };
        let (tag, bytes) = match &self.groups {
            Some(groups) => (TAG_WITH_GROUPS, codec::encode(&(self, parts, groups))),
            None if self.score_kind() == ConformalScore::Plain => (TAG, codec::encode(self)),
            None => (TAG_WITH_PARTS, codec::encode(&(self, parts))),
        };
        let bytes = bytes.map_err(|error| ConformalProblem::Damaged(error.to_string()))?;
        let without = [TAG, TAG_WITH_PARTS, TAG_WITH_GROUPS].into_iter().fold(model, Model::without_section);
        Ok(without.with_section(tag, bytes))
    }

    /// The level of the training.
    pub fn level(&self) -> Level {
        self.level
    }

    /// True if each class has the promise by itself.
    pub fn per_class(&self) -> bool {
        self.per_class
    }

    /// The names of the groups, if each group has the promise by itself.
    pub fn groups(&self) -> Option<&[String]> {
        self.groups.as_ref().map(ConformalGroups::names)
    }

    /// Checks the groups of `rows` new rows before their predictions, which may be made in parts.
    ///
    /// # Errors
    ///
    /// When there is not one known group for each row, or the model has no groups.
    pub fn check_groups(&self, groups: Option<&[String]>, rows: usize) -> Result<(), ConformalProblem> {
        self.groups_of(groups, rows).map(drop)
    }

    /// The kind of score.
    pub fn score_kind(&self) -> ConformalScore {
        let plain = if self.spread.is_some() { ConformalScore::Scaled } else { ConformalScore::Plain };
        self.adaptive.as_ref().map_or(plain, AdaptiveScores::score)
    }

    /// The premise of the promise.
    pub fn exchangeable(&self) -> Exchangeable {
        self.exchangeable
    }

    /// The number of scores.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of folds.
    pub fn folds(&self) -> usize {
        self.places.len()
    }

    /// The name of the method: `cv+`, `jackknife+`, `conformalised quantiles`, `cross-conformal`.
    pub fn method(&self, model: &Model) -> &'static str {
        let kind = model.decision_rule().target_kind();
        method(kind, has_levels(model), self.folds() == self.rows.len())
    }

    /// The scores by fold and by category, and the categories: by group if the model has groups,
    /// and by class if each of `classes` has the promise by itself.
    pub(super) fn scores(&self, classes: Option<usize>) -> Result<(CrossScores, Taxonomy), ConformalProblem> {
        let group = self.groups.as_ref().map_or(&[][..], ConformalGroups::of);
        let taxonomy = Taxonomy::new(self.groups.is_some(), classes);
        let categories = taxonomy.categories(group, &self.class);
        Ok((CrossScores::new(&self.fold, &self.score, categories.as_deref())?, taxonomy))
    }

    /// The group of each of `rows` new rows; `None` if the model has no groups.
    pub(super) fn groups_of(&self, words: Option<&[String]>, rows: usize) -> Result<Option<Vec<u32>>, ConformalProblem> {
        match (&self.groups, words) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(ConformalProblem::NoGroups),
            (Some(known), None) => Err(ConformalProblem::groups_needed(known.names())),
            (Some(_), Some(words)) if words.len() != rows => Err(ConformalProblem::GroupCount { groups: words.len(), rows }),
            (Some(known), Some(words)) => known.places(words).map(Some),
        }
    }

    /// Checks that lists have the right lengths and that every index exists.
    fn check(&self, model: &Model) -> Result<(), ConformalProblem> {
        let damaged = |what: &str| Err(ConformalProblem::Damaged(what.to_owned()));
        let classes = model.classes().len();
        let n = self.rows.len();
        let has_classes = if classes == 0 { self.class.is_empty() && !self.per_class } else { self.class.len() == n };
        if n == 0 || self.fold.len() != n || self.score.len() != n || !has_classes {
            return damaged("its lists have different lengths");
        }
        let known = model.record().map_or(u64::MAX, |record| record.rows);
        if !self.rows.is_sorted_by(|a, b| a < b) || self.rows.last().is_some_and(|row| *row >= known) {
            return damaged("its rows are not rows of the training data");
        }
        let has_folds = self.fold.iter().max().is_some_and(|most| *most as usize + 1 == self.places.len());
        if !has_folds || self.class.iter().any(|class| *class as usize >= classes) {
            return damaged("a fold or a class does not exist");
        }
        if let Some(row) = self.score.iter().position(|score| !score.is_finite()) {
            return damaged(&format!("the score of row {row} is no number"));
        }
        let is_regression = model.decision_rule().target_kind() == TargetKind::Values && !has_levels(model);
        if !self.spread.is_none_or(|spread| is_regression && spread.is_sound()) {
            return damaged("the spreads of errors are not sound");
        }
        if !self.groups.as_ref().is_none_or(|groups| groups.is_sound(n)) {
            return damaged("the groups are not those of its rows");
        }
        let columns = columns(model) + usize::from(self.spread.is_some());
        let is_sound = |adaptive: &AdaptiveScores| classes > 0 && adaptive.is_sound(self.places.len(), columns);
        if !self.adaptive.as_ref().is_none_or(is_sound) {
            return damaged("the probabilities of a fold are not sound");
        }
        let exists = |place: &(u32, u32)| {
            self.ensembles.get(place.0 as usize).is_some_and(|ensemble| (place.1 as usize) < ensemble.machines().len())
        };
        if self.places.iter().any(|fold| fold.len() != columns || !fold.iter().all(exists)) {
            return damaged("a machine does not exist");
        }
        self.ensembles.iter().try_for_each(|ensemble| ensemble.check(model)).or_else(|error| damaged(&error.to_string()))
    }
}

/// The number of decision values of each fold for a row.
pub(super) fn columns(model: &Model) -> usize {
    if has_levels(model) { 2 } else { model.machines().len() }
}

/// Returns whether the model predicts quantiles. Intervals are then those of two quantiles.
fn has_levels(model: &Model) -> bool {
    model.record().is_some_and(|record| record.formulation.level().is_some())
}

/// The name of the method for a kind of target. Leave-one-out has a fold for each row.
pub(super) fn method(kind: TargetKind, quantiles: bool, one_out: bool) -> &'static str {
    match kind {
        TargetKind::Values if quantiles => "conformalised quantiles",
        TargetKind::Values if one_out => "jackknife+",
        TargetKind::Values => "cv+",
        TargetKind::Classes | TargetKind::Nothing => "cross-conformal",
    }
}
