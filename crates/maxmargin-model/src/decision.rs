//! The step from the decision values of all machines to a label: multiclass schemes and decision
//! rules.

use maxmargin_core::{TargetKind, levels};
use maxmargin_data::ClassLabels;
use maxmargin_data::classes::{elected, elected_in_order, greatest_in_order, pairs};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The rule that turns the decision values of one row into its label. Models read from LIBSVM's and
/// LIBLINEAR's text decide ties as those programs do ([`crate::Parts::tie_order`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecisionRule {
    /// Voting of one machine for each pair of classes, in the order of
    /// [`maxmargin_data::classes::pairs`]. A machine votes for the later class at 0 and above. The
    /// earliest of the classes with most votes wins. Two classes have one machine.
    Vote,
    /// Regression: the decision value of the single machine is the prediction. There are no
    /// classes. A model of several levels has one machine for each ([`maxmargin_core::levels`]).
    /// The prediction is then the rearranged value of the central level.
    Value,
    /// One class: the prediction is 1 if the decision value of the single machine is above 0, else
    /// −1 (LIBSVM's rule). There are no classes.
    Inlier,
    /// One-vs-rest ([`Multiclass::OneVsRest`]): the class with the greatest decision value wins,
    /// the earliest of equals.
    Argmax,
    /// The class with the greatest probability wins. Among equals, the class that decision values
    /// select wins if it is one of them, else the earliest. For models with a calibration,
    /// one-vs-one or one-vs-rest.
    Coupled,
    /// Two classes: the second class wins if the decision value is at least
    /// [`crate::Parts::threshold`], instead of 0. For models with a threshold, with or without a
    /// calibration.
    Threshold,
}

/// The description of a model with a threshold in errors: texts of other programs cannot express
/// it.
pub(crate) const THRESHOLD: &str = "a model that decides by a threshold of its own instead of 0";

/// The description of a model of several levels in errors: texts of other programs have one machine
/// for a regression.
pub(crate) const LEVELS: &str = "a model of several quantiles or expectiles";

/// The multiclass scheme: the classes that each machine of a model separates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One machine for each pair of classes, in the order of [`maxmargin_data::classes::pairs`].
    /// Two classes, a regression and a one-class model have one machine.
    #[default]
    OneVsOne,
    /// One machine for each class against all others, with three classes or more.
    OneVsRest,
}

impl Multiclass {
    /// The number of machines for `classes` classes; 1 for no classes.
    pub fn machines(self, classes: usize) -> u128 {
        match self {
            Self::OneVsOne if classes == 0 => 1,
            Self::OneVsOne => classes as u128 * (classes as u128 - 1) / 2,
            Self::OneVsRest => classes as u128,
        }
    }

    /// The two sides of every machine: the class below 0 (`None` for all other classes) and the
    /// class at 0 and above.
    pub fn sides(self, classes: usize) -> Vec<(Option<usize>, usize)> {
        match self {
            Self::OneVsOne => pairs(classes).map(|(a, b)| (Some(a), b)).collect(),
            Self::OneVsRest => (0..classes).map(|class| (None, class)).collect(),
        }
    }

    /// The decision rule of models without probabilities.
    pub fn decision_rule(self) -> DecisionRule {
        match self {
            Self::OneVsOne => DecisionRule::Vote,
            Self::OneVsRest => DecisionRule::Argmax,
        }
    }

    /// Returns the class that decision values select: by votes, or by the greatest value. Ties are
    /// decided by `order` if it is not empty.
    pub(crate) fn elected(self, classes: usize, order: &[u32], decisions: &[f64]) -> usize {
        match (self, order) {
            (Self::OneVsOne, []) => elected(classes, decisions),
            (Self::OneVsRest, []) => greatest(decisions),
            (Self::OneVsOne, order) => elected_in_order(order, decisions),
            (Self::OneVsRest, order) => greatest_in_order(order, decisions),
        }
    }
}

/// Returns true if the decision values within `bounds` of `values` all select the same class,
/// whatever the rule for ties.
pub(crate) fn certain(multiclass: Multiclass, classes: usize, values: &[f64], bounds: &[f64]) -> bool {
    if multiclass == Multiclass::OneVsRest {
        let best = greatest(values);
        return (0..classes).all(|class| class == best || values[class] + bounds[class] < values[best] - bounds[best]);
    }
    // A bound that is no number leaves the sign open.
    let is_open = |at: usize| values[at].abs().partial_cmp(&bounds[at]) != Some(Ordering::Greater);
    if !(0..values.len()).any(is_open) {
        return true;
    }
    // Votes that are certain, and those that a class may have.
    let (mut least, mut most) = (vec![0_u32; classes], vec![0_u32; classes]);
    for (at, (a, b)) in pairs(classes).enumerate() {
        let voted = if values[at] >= 0.0 { b } else { a };
        most[voted] += 1;
        if is_open(at) {
            most[a + b - voted] += 1;
        } else {
            least[voted] += 1;
        }
    }
    let best = (0..classes).max_by_key(|&class| least[class]).unwrap_or(0);
    (0..classes).all(|class| class == best || most[class] < least[best])
}

/// Returns the index of the greatest value, the first of equals.
pub(crate) fn greatest(values: &[f64]) -> usize {
    // `max_by` returns the last of equal maxima; the reversed order makes it the first.
    (0..values.len()).rev().max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
}

impl DecisionRule {
    /// The decision rule for formulations with this kind of target.
    pub fn of(needs: TargetKind) -> Self {
        match needs {
            TargetKind::Classes => Self::Vote,
            TargetKind::Values => Self::Value,
            TargetKind::Nothing => Self::Inlier,
        }
    }

    /// The kind of target that samples have under this rule.
    pub fn target_kind(self) -> TargetKind {
        match self {
            Self::Vote | Self::Argmax | Self::Coupled | Self::Threshold => TargetKind::Classes,
            Self::Value => TargetKind::Values,
            Self::Inlier => TargetKind::Nothing,
        }
    }
}

/// A decision rule with its labels: everything that turns decision values into predictions without
/// probabilities and thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule.
    pub decision_rule: DecisionRule,
    /// The labels; empty for regression and one class.
    pub classes: Vec<f64>,
    /// The classes that each machine separates.
    pub multiclass: Multiclass,
    /// The level τ of each machine of a regression with several, ascending; otherwise empty.
    pub levels: Vec<f64>,
}

impl Rule {
    /// The rule of regression.
    pub const VALUE: Self = Self::without_classes(DecisionRule::Value);

    /// The rule of one class.
    pub const INLIER: Self = Self::without_classes(DecisionRule::Inlier);

    const fn without_classes(decision_rule: DecisionRule) -> Self {
        Self { decision_rule, classes: Vec::new(), multiclass: Multiclass::OneVsOne, levels: Vec::new() }
    }

    /// Returns the rule of a regression with a machine for each of these levels τ, ascending; empty
    /// for one machine.
    pub fn of_levels(levels: &[f64]) -> Self {
        Self { levels: levels.to_vec(), ..Self::VALUE }
    }

    /// Returns the rule of these classes in the given multiclass scheme. Two classes are always
    /// one-vs-one.
    pub fn of(classes: &ClassLabels, multiclass: Multiclass) -> Self {
        let multiclass = if classes.count() == 2 { Multiclass::OneVsOne } else { multiclass };
        Self { decision_rule: multiclass.decision_rule(), classes: classes.labels().to_vec(), multiclass, levels: Vec::new() }
    }

    /// Returns the prediction from one decision value per machine, without probabilities and
    /// thresholds.
    ///
    /// # Panics
    ///
    /// When there is not one value per machine.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        label(self.decision_rule, self.multiclass, LabelsOf { classes: &self.classes, levels: &self.levels }, &[], decisions)
    }
}

impl From<&ClassLabels> for Rule {
    fn from(classes: &ClassLabels) -> Self {
        Self::of(classes, Multiclass::OneVsOne)
    }
}

/// The classes of a rule's labels, or the levels of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelsOf<'a> {
    pub(crate) classes: &'a [f64],
    pub(crate) levels: &'a [f64],
}

/// Returns the prediction from one decision value per machine, without probabilities and
/// thresholds. Ties are decided by `order` if it is not empty.
pub(crate) fn label(
    decision_rule: DecisionRule,
    multiclass: Multiclass,
    LabelsOf { classes, levels }: LabelsOf,
    order: &[u32],
    decisions: &[f64],
) -> f64 {
    match decision_rule {
        DecisionRule::Vote | DecisionRule::Argmax | DecisionRule::Coupled | DecisionRule::Threshold => {
            classes[multiclass.elected(classes.len(), order, decisions)]
        }
        DecisionRule::Value => levels::central_value(levels, decisions),
        DecisionRule::Inlier if decisions[0] > 0.0 => 1.0,
        DecisionRule::Inlier => -1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Calls `each` with every choice of the least, the middle and the greatest of each value.
    fn for_corners(values: &[f64], bounds: &[f64], each: &mut dyn FnMut(&[f64])) {
        for mut corner in 0..3_usize.pow(values.len() as u32) {
            let shifted = values.iter().zip(bounds).map(|(value, bound)| {
                let shift = [-1.0, 0.0, 1.0][corner % 3];
                corner /= 3;
                value + shift * bound
            });
            each(&shifted.collect::<Vec<f64>>());
        }
    }

    proptest! {
        #[test]
        fn certain_labels_are_those_of_all_values_within_the_bounds(
            classes in 3_usize..5,
            numbers in proptest::collection::vec((-6_i8..7, 0_u8..5), 6),
            is_pairs in any::<bool>(),
        ) {
            let multiclass = if is_pairs { Multiclass::OneVsOne } else { Multiclass::OneVsRest };
            let machines = multiclass.machines(classes) as usize;
            let (values, bounds): (Vec<f64>, Vec<f64>) =
                numbers[..machines].iter().map(|&(v, b)| (f64::from(v) / 2.0, f64::from(b.saturating_sub(1)) / 2.0)).unzip();
            let orders = [Vec::new(), (0..classes as u32).collect(), (0..classes as u32).rev().collect()];
            for order in &orders {
                let of_all = multiclass.elected(classes, order, &values);
                if certain(multiclass, classes, &values, &bounds) {
                    for_corners(&values, &bounds, &mut |corner| {
                        assert_eq!(multiclass.elected(classes, order, corner), of_all, "{values:?} {bounds:?} {corner:?}");
                    });
                }
            }
            // Without bounds, only ties are open.
            let mut distinct: Vec<f64> = values.clone();
            distinct.sort_by(f64::total_cmp);
            let has_tie = if is_pairs { values.contains(&0.0) } else { distinct[machines - 2] == distinct[machines - 1] };
            prop_assert!(has_tie || certain(multiclass, classes, &values, &vec![0.0; machines]));
            prop_assert!(!certain(multiclass, classes, &values, &vec![f64::INFINITY; machines]));
        }
    }
}
