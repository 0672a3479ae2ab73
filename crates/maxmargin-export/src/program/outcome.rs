//! The steps from decision values to outcomes: labels, ties, probabilities.

use crate::error::ExportError;
use maxmargin_model::{DecisionRule, Model, Multiclass};
use serde::Serialize;

/// The labels of classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Labels {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Words.
    Words(Vec<String>),
}

impl Labels {
    /// Returns numbers, as whole numbers if all are.
    pub fn of_numbers(numbers: &[f64]) -> Self {
        // Whole numbers up to 2⁵³ are exact in both.
        let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
        if numbers.iter().all(is_whole) {
            Self::Integers(numbers.iter().map(|number| *number as i64).collect())
        } else {
            Self::Numbers(numbers.to_vec())
        }
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(labels) => labels.len(),
            Self::Numbers(labels) => labels.len(),
            Self::Words(labels) => labels.len(),
        }
    }

    /// Returns true if there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels as texts.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Integers(labels) => labels.iter().map(ToString::to_string).collect(),
            Self::Numbers(labels) => labels.iter().map(ToString::to_string).collect(),
            Self::Words(labels) => labels.clone(),
        }
    }
}

/// The outcome of a prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// A regression: the decision value, or several levels.
    Value,
    /// One class: 1 if the decision value is above 0, else −1.
    Inlier,
    /// One of several classes.
    Classes(Classes),
}

/// The choice of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classes {
    /// The labels.
    pub labels: Labels,
    /// The rule: `vote`, `argmax`, `coupled` (by probabilities) or `threshold`.
    pub rule: DecisionRule,
    /// The classes that each decision function separates.
    pub multiclass: Multiclass,
    /// The two classes of each function; the first one is `null` for all others.
    pub sides: Vec<(Option<usize>, usize)>,
    /// For each function, whether the value 0 is for the second class.
    pub zero_is_second: Vec<bool>,
    /// The classes in the order in which the first of equals wins.
    pub order: Vec<usize>,
    /// Of classes with equal probabilities, whether the one that decision values elect wins.
    pub elected_first: bool,
    /// Probabilities that differ by this much count as equal.
    pub tie_tolerance: f64,
    /// The least decision value of the second class, for the rule `threshold`.
    pub threshold: Option<f64>,
}

/// The map from a decision value to a probability. The probabilities of classifiers are cut to
/// [10⁻⁷, 1 − 10⁻⁷].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "map", rename_all = "snake_case")]
pub enum CalibrationMap {
    /// `1 / (1 + exp(a f + b))` for the second class.
    Sigmoid {
        /// The factor.
        a: f64,
        /// The summand.
        b: f64,
    },
    /// Linear between knots, constant beyond the outermost ones.
    Steps {
        /// Decision values, ascending.
        at: Vec<f64>,
        /// The probability at each knot.
        probability: Vec<f64>,
    },
    /// The scale of a regression's errors, which have the density `exp(−|z|/scale) / (2 scale)`.
    Laplace {
        /// In units of the target.
        scale: f64,
    },
    /// The probability of being inside for one class: `i / 10` where `i` marks are at most the
    /// decision value, 0.001 for none and 0.999 for all ten.
    Marks {
        /// Decision values, ascending.
        marks: Vec<f64>,
    },
}

impl Outcome {
    /// Returns the outcome of a model; `labels` replaces the labels of its classes.
    pub(super) fn of(model: &Model, labels: Option<Labels>) -> Result<Self, ExportError> {
        match model.decision_rule() {
            DecisionRule::Value => Ok(Self::Value),
            DecisionRule::Inlier => Ok(Self::Inlier),
            rule => Classes::of(model, rule, labels).map(Self::Classes),
        }
    }
}

impl Classes {
    fn of(model: &Model, rule: DecisionRule, labels: Option<Labels>) -> Result<Self, ExportError> {
        let (numbers, multiclass, own) = (model.classes(), model.multiclass(), model.tie_order());
        let words = model.columns().map_or(&[][..], |columns| columns.labels());
        let of_words = || Labels::Words(numbers.iter().map(|label| words[*label as usize].clone()).collect());
        let labels = labels.unwrap_or_else(|| if words.is_empty() { Labels::of_numbers(numbers) } else { of_words() });
        if labels.len() != numbers.len() {
            return Err(ExportError::Labels { found: labels.len(), expected: numbers.len() });
        }
        let order: Vec<usize> = match own {
            [] => (0..numbers.len()).collect(),
            own => own.iter().map(|class| *class as usize).collect(),
        };
        let place = |class: usize| order.iter().position(|other| *other == class);
        let sides = multiclass.sides(numbers.len());
        let is_second = |(a, b): &(Option<usize>, usize)| own.is_empty() || a.is_none_or(|a| place(*b) > place(a));
        Ok(Self {
            labels,
            rule,
            multiclass,
            zero_is_second: sides.iter().map(is_second).collect(),
            sides,
            order,
            elected_first: own.is_empty(),
            tie_tolerance: if own.is_empty() { 0.0 } else { maxmargin_model::EQUAL_PROBABILITIES },
            threshold: model.threshold().filter(|_| rule == DecisionRule::Threshold),
        })
    }

    /// Returns true if the machines separate pairs of classes.
    pub fn are_pairs(&self) -> bool {
        self.multiclass == Multiclass::OneVsOne
    }
}
