//! Calibration: the function that maps the decision value of one machine to a probability.

mod coupling;
mod isotonic;
mod libsvm_rules;
mod platt;

pub(crate) use coupling::coupled;

use crate::decision::DecisionRule;
use crate::error::ModelError;
use maxmargin_core::TargetKind;
use serde::{Deserialize, Serialize};

/// The least distance of a probability from 0 and from 1, as in LIBSVM. A finite sample does not
/// support more extreme probabilities.
const LEAST: f64 = 1e-7;

/// The number of marks that a one-class model has.
const MARKS: usize = 10;

/// The probabilities below the first and above the last mark of a one-class model.
const BEYOND: (f64, f64) = (0.001, 0.999);

/// A function from the decision value of one machine to a probability.
///
/// Fits are deterministic. They count every sample once and ignore sample weights: a weight is the
/// cost of an error, not a frequency. Formulas and sources: `docs/math/probabilities.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Calibration {
    /// Platt's sigmoid: the probability of the later class is `1 / (1 + exp(a f + b))`.
    Sigmoid {
        /// The factor of the decision value. Fits of this crate give no positive factor.
        a: f64,
        /// The summand.
        b: f64,
    },
    /// The probability of the later class as a monotone function, linear between its knots and
    /// constant outside.
    Steps {
        /// Decision values, ascending.
        at: Vec<f64>,
        /// The probability at each knot: not descending, above 0 and below 1.
        probability: Vec<f64>,
    },
    /// A Laplace distribution of the errors of a regression: the density is `exp(−|z|/scale) / (2
    /// scale)`.
    Laplace {
        /// In units of the target, above 0.
        scale: f64,
    },
    /// LIBSVM's density marks of a one-class model: ten decision values, ascending. Between mark `i
    /// − 1` and mark `i`, a sample is inside with probability `i / 10`.
    Marks(Vec<f64>),
}

impl Calibration {
    /// Fits Platt's sigmoid: the non-decreasing sigmoid with the least negative log-likelihood of
    /// Platt's targets. `later` has `true` for each sample of the later class.
    ///
    /// # Errors
    ///
    /// When `decisions` is empty or has a value that is not finite.
    ///
    /// # Panics
    ///
    /// When the lengths of `decisions` and `later` differ.
    pub fn platt(decisions: &[f64], later: &[bool]) -> Result<Self, ModelError> {
        check_finite(decisions)?;
        assert_eq!(decisions.len(), later.len(), "a side for each decision value");
        let (a, b) = platt::fit(decisions, later);
        Self::Sigmoid { a, b }.checked()
    }

    /// Returns the mean negative log-likelihood of Platt's targets at the fitted sigmoid, and its
    /// derivative with respect to each decision value. Platt's targets are the classes, smoothed by
    /// a prior of one sample. The loss measures how well the decision values separate the classes.
    ///
    /// The loss is a smooth function of the decision values. The sigmoid minimises it, so that the
    /// change of the sigmoid contributes nothing to the derivative.
    ///
    /// # Errors
    ///
    /// As [`Calibration::platt`].
    ///
    /// # Panics
    ///
    /// As [`Calibration::platt`].
    pub fn platt_loss(decisions: &[f64], later: &[bool]) -> Result<(f64, Vec<f64>), ModelError> {
        check_finite(decisions)?;
        assert_eq!(decisions.len(), later.len(), "a side for each decision value");
        Ok(platt::loss(decisions, later, platt::fit(decisions, later)))
    }

    /// Fits the monotone function with the least squared distance to Platt's targets, by pooling
    /// adjacent violators. Equal decision values share one value.
    ///
    /// The targets are `(n₊ + 1)/(n₊ + 2)` for the `n₊` samples of the later class and `1/(n₋ + 2)`
    /// for the `n₋` samples of the earlier class, so that no mean of targets is 0 or 1. Every pool
    /// has a knot at its first and at its last decision value.
    ///
    /// # Errors
    ///
    /// As [`Calibration::platt`].
    ///
    /// # Panics
    ///
    /// As [`Calibration::platt`].
    pub fn isotonic(decisions: &[f64], later: &[bool]) -> Result<Self, ModelError> {
        check_finite(decisions)?;
        assert_eq!(decisions.len(), later.len(), "a side for each decision value");
        let (at, probability) = isotonic::fit(decisions, later);
        Self::Steps { at, probability }.checked()
    }

    /// Fits the scale of the errors `target − prediction` of a regression, by LIBSVM's rule. The
    /// scale is the mean absolute error without outliers. An outlier lies beyond five standard
    /// deviations of the Laplace distribution fitted to all errors.
    ///
    /// # Errors
    ///
    /// When `errors` is empty, has a value that is not finite, or has only zeros, which have no
    /// Laplace distribution.
    pub fn laplace(errors: &[f64]) -> Result<Self, ModelError> {
        check_finite(errors)?;
        Self::Laplace { scale: libsvm_rules::scale(errors) }.checked()
    }

    /// Returns the density marks of a one-class model, from decision values of training samples.
    /// `None` if fewer than five values are below 0, or fewer than five are 0 or above.
    ///
    /// # Errors
    ///
    /// When a value is not finite.
    pub fn marks(decisions: &[f64]) -> Result<Option<Self>, ModelError> {
        if decisions.is_empty() {
            return Ok(None);
        }
        check_finite(decisions)?;
        libsvm_rules::marks(decisions).map(|marks| Self::Marks(marks).checked()).transpose()
    }

    /// Returns the calibration if its numbers are valid.
    ///
    /// # Errors
    ///
    /// When a number is not finite, knots or marks do not ascend, probabilities descend or lie
    /// outside ]0, 1[, or a scale is not positive.
    pub fn checked(self) -> Result<Self, ModelError> {
        let wrong = match &self {
            Self::Sigmoid { a, b } => (!a.is_finite() || !b.is_finite()).then(|| format!("the sigmoid has a = {a}, b = {b}")),
            Self::Steps { at, probability } => wrong_steps(at, probability),
            Self::Laplace { scale } => (!scale.is_finite() || *scale <= 0.0).then(|| format!("the scale of errors is {scale}")),
            Self::Marks(marks) => {
                let ascend = marks.iter().all(|mark| mark.is_finite()) && marks.is_sorted();
                (marks.len() != MARKS || !ascend).then(|| format!("it needs {MARKS} marks in ascending order"))
            }
        };
        wrong.map_or(Ok(self), |reason| Err(ModelError::invalid("calibration", reason)))
    }

    /// Returns true if machines with this decision rule can have this calibration.
    pub(crate) fn fits(&self, decision_rule: DecisionRule) -> bool {
        match self {
            Self::Sigmoid { .. } | Self::Steps { .. } => decision_rule.target_kind() == TargetKind::Classes,
            Self::Laplace { .. } => decision_rule == DecisionRule::Value,
            Self::Marks(_) => decision_rule == DecisionRule::Inlier,
        }
    }

    /// Returns the probability of the later class, or of being inside, at a decision value: between
    /// 10⁻⁷ and 1 − 10⁻⁷. NaN for regression, which has no such probability.
    pub fn probability(&self, decision: f64) -> f64 {
        match self {
            Self::Sigmoid { a, b } => platt::sigmoid(a * decision + b).clamp(LEAST, 1.0 - LEAST),
            Self::Steps { at, probability } => isotonic::between(at, probability, decision).clamp(LEAST, 1.0 - LEAST),
            Self::Laplace { .. } => f64::NAN,
            Self::Marks(marks) => match marks.iter().position(|mark| decision < *mark) {
                Some(0) => BEYOND.0,
                Some(below) => below as f64 / MARKS as f64,
                // The last mark itself belongs to the range above it.
                None => BEYOND.1,
            },
        }
    }

    /// The scale of the errors of a regression; `None` for other calibrations.
    pub fn scale(&self) -> Option<f64> {
        if let Self::Laplace { scale } = self { Some(*scale) } else { None }
    }

    /// The method in one word: `platt`, `isotonic`, `laplace` or `marks`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sigmoid { .. } => "platt",
            Self::Steps { .. } => "isotonic",
            Self::Laplace { .. } => "laplace",
            Self::Marks(_) => "marks",
        }
    }
}

fn check_finite(values: &[f64]) -> Result<(), ModelError> {
    let invalid = |reason| Err(ModelError::invalid("calibration", reason));
    match values.iter().find(|value| !value.is_finite()) {
        _ if values.is_empty() => invalid("there are no decision values to fit it to".to_owned()),
        Some(value) => invalid(format!("cannot be fitted to the decision value {value}")),
        None => Ok(()),
    }
}

fn wrong_steps(at: &[f64], probability: &[f64]) -> Option<String> {
    if at.is_empty() || at.len() != probability.len() {
        return Some(format!("it has {} knots and {} probabilities", at.len(), probability.len()));
    }
    if !at.iter().all(|value| value.is_finite()) || !at.is_sorted_by(|a, b| a < b) {
        return Some("its knots are not in ascending order".to_owned());
    }
    let inside = probability.iter().all(|p| *p > 0.0 && *p < 1.0);
    (!inside || !probability.is_sorted()).then(|| "its probabilities descend, or lie outside the range from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_numbers_are_refused() {
        let steps = |at: &[f64], probability: &[f64]| Calibration::Steps { at: at.to_vec(), probability: probability.to_vec() };
        let bad = [
            Calibration::Sigmoid { a: f64::NAN, b: 0.0 },
            Calibration::Sigmoid { a: -1.0, b: f64::INFINITY },
            steps(&[], &[]),
            steps(&[0.0, 1.0], &[0.5]),
            steps(&[1.0, 1.0], &[0.5, 0.6]),
            steps(&[0.0, 1.0], &[0.6, 0.5]),
            steps(&[0.0, 1.0], &[0.0, 0.5]),
            steps(&[0.0, f64::NAN], &[0.2, 0.5]),
            Calibration::Laplace { scale: 0.0 },
            Calibration::Laplace { scale: f64::NAN },
            Calibration::Marks(vec![0.0; 9]),
            Calibration::Marks((0..10).map(|i| -f64::from(i)).collect()),
        ];
        for calibration in bad {
            assert!(calibration.clone().checked().is_err(), "{calibration:?}");
        }
        assert!(Calibration::platt(&[], &[]).is_err() && Calibration::isotonic(&[f64::NAN], &[true]).is_err());
        assert!(Calibration::laplace(&[0.0, 0.0]).is_err());
    }

    #[test]
    fn one_class_has_the_probability_of_the_marks_around_a_value() {
        let marks = Calibration::Marks((0..10).map(f64::from).collect());
        let of = [-0.5, 0.0, 0.5, 4.0, 8.5, 9.0, 9.5].map(|f| marks.probability(f));
        assert_eq!(of, [0.001, 0.1, 0.1, 0.5, 0.9, 0.999, 0.999]);
    }

    #[test]
    fn probabilities_stay_away_from_0_and_1() {
        let steep = Calibration::Sigmoid { a: -1e3, b: 0.0 };
        assert_eq!((steep.probability(-10.0), steep.probability(10.0)), (1e-7, 1.0 - 1e-7));
    }
}
