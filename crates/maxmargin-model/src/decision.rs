//! What a model is made of: decision functions that share vectors, and the rule by which they elect
//! a label.

use maxmargin_core::TargetKind;
use maxmargin_data::ClassLabels;
use maxmargin_data::classes::{elected, elected_in_order, greatest_in_order, pairs};
use serde::{Deserialize, Serialize};

/// How the decision values of one row become its label. Models of LIBSVM and LIBLINEAR decide ties
/// as these do ([`crate::Parts::tie_order`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionRule {
    /// One machine for each pair of classes, in the order of [`maxmargin_data::classes::pairs`]; it
    /// votes for the later class at 0 and above, and of classes with equally many votes the
    /// earliest wins. Two classes are one machine.
    Vote,
    /// One machine whose decision value is what it says: regression. There are no classes.
    Value,
    /// One machine that says 1 above 0 and −1 otherwise: one class (LIBSVM's rule). There are no
    /// classes.
    Inlier,
    /// One machine for each class against the rest ([`Multiclass::OneVsRest`]): the one with the
    /// greatest decision value, the earliest of equals.
    Argmax,
    /// The class of the greatest probability; of equals the one that decision values alone elect if
    /// it is among them, else the earliest. For models with a calibration, of either scheme.
    Coupled,
    /// Of two classes the second from [`crate::Parts::threshold`] on, instead of from 0. For models
    /// that have one, with a calibration or without.
    Threshold,
}

/// What texts of other programs have no place for.
pub(crate) const THRESHOLD: &str = "a model that decides by a threshold of its own instead of 0";

/// Which classes the machines of a model tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// Each pair of classes, in the order of [`maxmargin_data::classes::pairs`]; two classes are
    /// one machine. Regression and one class are one as well.
    #[default]
    OneVsOne,
    /// Each class against the rest, three classes or more.
    OneVsRest,
}

impl Multiclass {
    /// Number of machines that `classes` classes need; 1 where there are none.
    pub fn machines(self, classes: usize) -> u128 {
        match self {
            Self::OneVsOne if classes == 0 => 1,
            Self::OneVsOne => classes as u128 * (classes as u128 - 1) / 2,
            Self::OneVsRest => classes as u128,
        }
    }

    /// The two sides of every machine: the classes below 0 (the earlier of a pair; none where it is
    /// all the others) and from 0 on.
    pub fn sides(self, classes: usize) -> Vec<(Option<usize>, usize)> {
        match self {
            Self::OneVsOne => pairs(classes).map(|(a, b)| (Some(a), b)).collect(),
            Self::OneVsRest => (0..classes).map(|class| (None, class)).collect(),
        }
    }

    /// The rule without probabilities.
    pub fn decision_rule(self) -> DecisionRule {
        match self {
            Self::OneVsOne => DecisionRule::Vote,
            Self::OneVsRest => DecisionRule::Argmax,
        }
    }

    /// The class that decision values alone elect: by votes, or by the greatest. Ties are decided
    /// by `order`, where it is not empty.
    pub(crate) fn elected(self, classes: usize, order: &[u32], decisions: &[f64]) -> usize {
        match (self, order) {
            (Self::OneVsOne, []) => elected(classes, decisions),
            (Self::OneVsRest, []) => greatest(decisions),
            (Self::OneVsOne, order) => elected_in_order(order, decisions),
            (Self::OneVsRest, order) => greatest_in_order(order, decisions),
        }
    }
}

/// The place of the greatest value, the first of equals.
pub(crate) fn greatest(values: &[f64]) -> usize {
    // The last of equal maxima would win otherwise.
    (0..values.len()).rev().max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
}

impl DecisionRule {
    /// The rule for formulations with these needs.
    pub fn of(needs: TargetKind) -> Self {
        match needs {
            TargetKind::Classes => Self::Vote,
            TargetKind::Values => Self::Value,
            TargetKind::Nothing => Self::Inlier,
        }
    }

    /// What it needs to know of samples.
    pub fn target_kind(self) -> TargetKind {
        match self {
            Self::Vote | Self::Argmax | Self::Coupled | Self::Threshold => TargetKind::Classes,
            Self::Value => TargetKind::Values,
            Self::Inlier => TargetKind::Nothing,
        }
    }
}

/// How decision values become predictions: the rule and the labels that it chooses from.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule.
    pub decision_rule: DecisionRule,
    /// The labels, where it knows any.
    pub classes: Vec<f64>,
    /// Which of them machines tell apart.
    pub multiclass: Multiclass,
}

impl Rule {
    /// That of regression.
    pub const VALUE: Self = Self { decision_rule: DecisionRule::Value, classes: Vec::new(), multiclass: Multiclass::OneVsOne };

    /// That of one class.
    pub const INLIER: Self = Self { decision_rule: DecisionRule::Inlier, classes: Vec::new(), multiclass: Multiclass::OneVsOne };

    /// The rule of these classes, whose machines are arranged by `scheme`: two classes are a pair
    /// in any case.
    pub fn of(classes: &ClassLabels, multiclass: Multiclass) -> Self {
        let multiclass = if classes.count() == 2 { Multiclass::OneVsOne } else { multiclass };
        Self { decision_rule: multiclass.decision_rule(), classes: classes.labels().to_vec(), multiclass }
    }

    /// What one value per machine says, without regard to probabilities and thresholds.
    ///
    /// # Panics
    ///
    /// When there is not one value per machine.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        label(self.decision_rule, (&self.classes, self.multiclass), &[], decisions)
    }
}

impl From<&ClassLabels> for Rule {
    fn from(classes: &ClassLabels) -> Self {
        Self::of(classes, Multiclass::OneVsOne)
    }
}

pub(crate) fn label(
    decision_rule: DecisionRule,
    (classes, multiclass): (&[f64], Multiclass),
    order: &[u32],
    decisions: &[f64],
) -> f64 {
    match decision_rule {
        DecisionRule::Vote | DecisionRule::Argmax | DecisionRule::Coupled | DecisionRule::Threshold => {
            classes[multiclass.elected(classes.len(), order, decisions)]
        }
        DecisionRule::Value => decisions[0],
        DecisionRule::Inlier if decisions[0] > 0.0 => 1.0,
        DecisionRule::Inlier => -1.0,
    }
}
