//! From decision values to probabilities: what each machine of a model has for it.

mod coupling;
mod isotonic;
mod libsvm_rules;
mod platt;

pub(crate) use coupling::coupled;

use crate::decision::DecisionRule;
use crate::error::ModelError;
use maxmargin_core::TargetKind;
use serde::{Deserialize, Serialize};

/// Probabilities of two sides are kept this far away from 0 and 1, as LIBSVM does: of a finite
/// sample nobody knows more.
const LEAST: f64 = 1e-7;

/// How many marks one class has.
const MARKS: usize = 10;

/// Probabilities of one class beyond its outermost marks.
const BEYOND: (f64, f64) = (0.001, 0.999);

/// How the decision value of one machine becomes a probability.
///
/// Fits are deterministic and count every sample once, whatever its weight: weights say what errors
/// cost, not how often samples are met. Formulas and sources: `docs/math/probabilities.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Calibration {
    /// Platt's sigmoid: of the later class `1 / (1 + exp(a f + b))`.
    Sigmoid {
        /// Factor of the decision value; not positive where it was fitted here.
        a: f64,
        /// Added to it.
        b: f64,
    },
    /// A monotone function that is linear between its knots and constant outside: of the later
    /// class.
    Steps {
        /// Decision values, ascending.
        at: Vec<f64>,
        /// The probability at each, ascending or equal, above 0 and below 1.
        probability: Vec<f64>,
    },
    /// Errors of a regression are distributed as `exp(−|z|/scale) / (2 scale)`.
    Laplace {
        /// In units of the target, above 0.
        scale: f64,
    },
    /// LIBSVM's marks of one class: ten decision values, ascending; between mark `i − 1` and mark
    /// `i` a sample is inside with probability `i / 10`.
    Marks(Vec<f64>),
}

impl Calibration {
    /// Platt's sigmoid for decision values, each with whether its sample is of the later class: the
    /// least negative log-likelihood of Platt's targets among sigmoids that do not fall.
    ///
    /// # Errors
    ///
    /// When there are no values, or some are not finite.
    ///
    /// # Panics
    ///
    /// When there are not as many sides as values.
    pub fn platt(decisions: &[f64], later: &[bool]) -> Result<Self, ModelError> {
        check_finite(decisions)?;
        assert_eq!(decisions.len(), later.len(), "a side for each decision value");
        let (a, b) = platt::fit(decisions, later);
        Self::Sigmoid { a, b }.checked()
    }

    /// How far decision values are from telling the sides apart: the mean negative log-likelihood
    /// of Platt's targets (the sides themselves, but for a prior of one sample) at their sigmoid,
    /// and its derivative by each decision value. A smooth function of them: the sigmoid is the
    /// best there is, so that what it changes by does not count.
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

    /// The monotone function nearest to Platt's targets in squares, by pooling adjacent violators;
    /// equal decision values are one.
    ///
    /// The targets are `(n₊ + 1)/(n₊ + 2)` for the later class and `1/(n₋ + 2)` for the earlier, of
    /// which there are `n₊` and `n₋`: no mean of them is 0 or 1. Every pool has a knot at its first
    /// and its last decision value.
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

    /// The scale of the errors `target − prediction` of a regression: the mean of their absolute
    /// values without those beyond five standard deviations of the distribution that all of them
    /// suggest (LIBSVM's rule).
    ///
    /// # Errors
    ///
    /// When there are no errors, some are not finite, or all are 0: then there is no distribution.
    pub fn laplace(errors: &[f64]) -> Result<Self, ModelError> {
        check_finite(errors)?;
        Self::Laplace { scale: libsvm_rules::scale(errors) }.checked()
    }

    /// The marks of one class from decision values of samples of it; none where fewer than five of
    /// them lie on either side of 0.
    ///
    /// # Errors
    ///
    /// When some values are not finite.
    pub fn marks(decisions: &[f64]) -> Result<Option<Self>, ModelError> {
        if decisions.is_empty() {
            return Ok(None);
        }
        check_finite(decisions)?;
        libsvm_rules::marks(decisions).map(|marks| Self::Marks(marks).checked()).transpose()
    }

    /// The same where its numbers are possible.
    ///
    /// # Errors
    ///
    /// When a number is not finite, knots or marks do not ascend, probabilities fall or leave ]0,
    /// 1[, or a scale is not positive.
    pub fn checked(self) -> Result<Self, ModelError> {
        let wrong = match &self {
            Self::Sigmoid { a, b } => (!a.is_finite() || !b.is_finite()).then(|| format!("the sigmoid has {a} and {b}")),
            Self::Steps { at, probability } => wrong_steps(at, probability),
            Self::Laplace { scale } => (!scale.is_finite() || *scale <= 0.0).then(|| format!("the scale of errors is {scale}")),
            Self::Marks(marks) => {
                let ascend = marks.iter().all(|mark| mark.is_finite()) && marks.is_sorted();
                (marks.len() != MARKS || !ascend).then(|| format!("the marks of one class are not {MARKS} that ascend"))
            }
        };
        wrong.map_or(Ok(self), |reason| Err(ModelError::invalid("calibration", reason)))
    }

    /// Whether machines that decide like this can have it.
    pub(crate) fn fits(&self, decision_rule: DecisionRule) -> bool {
        match self {
            Self::Sigmoid { .. } | Self::Steps { .. } => decision_rule.target_kind() == TargetKind::Classes,
            Self::Laplace { .. } => decision_rule == DecisionRule::Value,
            Self::Marks(_) => decision_rule == DecisionRule::Inlier,
        }
    }

    /// The probability of the later class, or of being inside, at a decision value: between 10⁻⁷
    /// and 1 − 10⁻⁷. Regression has none: not a number.
    pub fn probability(&self, decision: f64) -> f64 {
        match self {
            Self::Sigmoid { a, b } => platt::sigmoid(a * decision + b).clamp(LEAST, 1.0 - LEAST),
            Self::Steps { at, probability } => isotonic::between(at, probability, decision).clamp(LEAST, 1.0 - LEAST),
            Self::Laplace { .. } => f64::NAN,
            Self::Marks(marks) => match marks.iter().position(|mark| decision < *mark) {
                Some(0) => BEYOND.0,
                Some(below) => below as f64 / MARKS as f64,
                // The last mark itself belongs to what is beyond it.
                None => BEYOND.1,
            },
        }
    }

    /// The scale of the errors of a regression.
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
        Some(value) => invalid(format!("a decision value that it should be fitted to is {value}")),
        None => Ok(()),
    }
}

fn wrong_steps(at: &[f64], probability: &[f64]) -> Option<String> {
    if at.is_empty() || at.len() != probability.len() {
        return Some(format!("{} knots with {} probabilities", at.len(), probability.len()));
    }
    if !at.iter().all(|value| value.is_finite()) || !at.is_sorted_by(|a, b| a < b) {
        return Some("its knots do not ascend".to_owned());
    }
    let inside = probability.iter().all(|p| *p > 0.0 && *p < 1.0);
    (!inside || !probability.is_sorted()).then(|| "its probabilities fall, or leave the range from 0 to 1".to_owned())
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
