//! Probabilities of outcomes, and labels from probabilities, thresholds or votes.

use crate::calibration::Calibration;
use crate::calibration::coupled;
use crate::decision::{DecisionRule, LabelsOf, Multiclass, greatest, label};
use crate::error::ModelError;
use crate::model::Model;
use maxmargin_core::TargetKind;
use maxmargin_data::{Par, Samples};

/// Rows per task.
const CHUNK: usize = 64;

/// The tolerance for equal probabilities where ties follow an order of labels: elimination rounds
/// each probability a few times for every class.
pub const EQUAL_PROBABILITIES: f64 = 1e-12;

/// Returns the class with the greatest probability. Among classes that are equal up to rounding,
/// the first in `order` wins. `probabilities` has one value for each class.
///
/// # Panics
///
/// When `order` is empty or names a class that has no probability.
pub fn likeliest_in_order(order: &[u32], probabilities: &[f64]) -> usize {
    let most = order.iter().map(|&class| probabilities[class as usize]).fold(f64::NEG_INFINITY, f64::max);
    let is_most = |class: &&u32| probabilities[**class as usize] >= most - EQUAL_PROBABILITIES;
    order.iter().find(is_most).map_or(order[0] as usize, |class| *class as usize)
}

impl Multiclass {
    /// Returns the probabilities of the outcomes of one row: of each class in the order of the
    /// labels, or of inside and outside for a one-class model.
    ///
    /// Two classes have the probability of their machine. More classes have coupled probabilities
    /// of pairs (one-vs-one), or sigmoids divided by their sum (one-vs-rest).
    ///
    /// # Panics
    ///
    /// When there is not one decision value and one calibration for each machine.
    pub fn probabilities(self, classes: usize, calibration: &[Calibration], decisions: &[f64]) -> Vec<f64> {
        assert_eq!(calibration.len(), decisions.len(), "a decision value and a calibration for each machine");
        let each: Vec<f64> = calibration.iter().zip(decisions).map(|(one, f)| one.probability(*f)).collect();
        match self {
            _ if classes == 0 => vec![each[0], 1.0 - each[0]],
            Self::OneVsOne => coupled(classes, &each),
            Self::OneVsRest => {
                let sum: f64 = each.iter().sum();
                each.iter().map(|p| p / sum).collect()
            }
        }
    }
}

impl Model {
    /// Adds a calibration for each machine. A classifier then predicts the class with the greatest
    /// probability ([`DecisionRule::Coupled`]), unless it predicts by a threshold.
    /// [`Model::with_decision_rule`] restores decision values.
    ///
    /// # Errors
    ///
    /// When the number of calibrations is not the number of machines, or a calibration does not fit
    /// the decision rule.
    pub fn with_calibration(self, calibration: Vec<Calibration>) -> Result<Self, ModelError> {
        let mut parts = self.without_calibration().into_parts();
        if parts.decision_rule.target_kind() == TargetKind::Classes
            && parts.decision_rule != DecisionRule::Threshold
            && !calibration.is_empty()
        {
            parts.decision_rule = DecisionRule::Coupled;
        }
        parts.calibration = calibration;
        Self::new(parts)
    }

    /// Removes the calibrations. The model then predicts by its decision values.
    #[must_use]
    pub fn without_calibration(mut self) -> Self {
        let parts = &mut self.parts;
        if parts.decision_rule == DecisionRule::Coupled {
            parts.decision_rule = parts.multiclass.decision_rule();
        }
        parts.calibration = Vec::new();
        self
    }

    /// Sets the threshold of a model of two classes ([`DecisionRule::Threshold`]). It then predicts
    /// the second class of [`Model::classes`] if the decision value is at least `threshold`.
    /// Decision values and probabilities do not change. [`Model::with_decision_rule`] restores
    /// another rule.
    ///
    /// # Errors
    ///
    /// When the threshold is not finite, or the model does not have two classes.
    pub fn with_threshold(self, threshold: f64) -> Result<Self, ModelError> {
        let mut parts = self.into_parts();
        (parts.threshold, parts.decision_rule) = (Some(threshold), DecisionRule::Threshold);
        Self::new(parts)
    }

    /// Removes the threshold. The model then predicts by its probabilities if it has them,
    /// otherwise by its decision values.
    #[must_use]
    pub fn without_threshold(mut self) -> Self {
        let parts = &mut self.parts;
        if parts.decision_rule == DecisionRule::Threshold {
            parts.decision_rule =
                if parts.calibration.is_empty() { parts.multiclass.decision_rule() } else { DecisionRule::Coupled };
        }
        parts.threshold = None;
        self
    }

    /// The least decision value that predicts the second of two classes, if the model has a
    /// threshold. It has effect if [`Model::decision_rule`] is [`DecisionRule::Threshold`].
    pub fn threshold(&self) -> Option<f64> {
        self.parts().threshold
    }

    /// Sets the decision rule.
    ///
    /// # Errors
    ///
    /// When the rule does not fit the machines of this model, or needs probabilities or a threshold
    /// that it does not have.
    pub fn with_decision_rule(self, decision_rule: DecisionRule) -> Result<Self, ModelError> {
        let mut parts = self.into_parts();
        parts.decision_rule = decision_rule;
        Self::new(parts)
    }

    /// The calibration of each machine; empty if the model has no probabilities.
    pub fn calibration(&self) -> &[Calibration] {
        &self.parts().calibration
    }

    /// The outcomes, which are the columns of [`Model::probabilities`]: the labels in the order of
    /// [`Model::classes`], or 1 (inside) and −1 for one class. Empty for regression, and if there
    /// are no probabilities.
    pub fn outcomes(&self) -> &[f64] {
        match self.decision_rule().target_kind() {
            _ if self.calibration().is_empty() => &[],
            TargetKind::Classes => self.classes(),
            TargetKind::Values => &[],
            TargetKind::Nothing => &[1.0, -1.0],
        }
    }

    /// Returns the probability of every outcome for every row of `queries`, row-major `queries ×
    /// outcomes` ([`Model::outcomes`]). Each row sums to 1. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`], and when the model has no probabilities of outcomes: it has
    /// no calibration, or is a regression ([`Model::error_scale`]).
    pub fn probabilities(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        self.check_outcomes()?;
        self.probabilities_of(&self.decision_values(queries, par)?, par)
    }

    /// Returns the probabilities as [`Model::probabilities`], from decision values (row-major rows
    /// × machines).
    ///
    /// # Errors
    ///
    /// When the model has no probabilities of outcomes.
    ///
    /// # Panics
    ///
    /// When the length of `decisions` is not a multiple of the number of machines.
    pub fn probabilities_of(&self, decisions: &[f64], par: Par) -> Result<Vec<f64>, ModelError> {
        self.check_outcomes()?;
        let (machines, outcomes) = (self.machines().len(), self.outcomes().len());
        assert_eq!(decisions.len() % machines, 0, "a decision value of each machine for every row");
        let (classes, multiclass) = (self.classes().len(), self.multiclass());
        let mut all = vec![0.0; decisions.len() / machines * outcomes];
        par.for_chunks(&mut all, CHUNK * outcomes, |chunk, all| {
            let rows = decisions[chunk * CHUNK * machines..].chunks_exact(machines);
            all.chunks_exact_mut(outcomes)
                .zip(rows)
                .for_each(|(to, row)| to.copy_from_slice(&multiclass.probabilities(classes, self.calibration(), row)));
        });
        Ok(all)
    }

    fn check_outcomes(&self) -> Result<(), ModelError> {
        if !self.outcomes().is_empty() {
            return Ok(());
        }
        Err(ModelError::NoProbabilities(match self.decision_rule() {
            DecisionRule::Value => "it is a regression; a calibrated regression has a scale of its errors instead",
            _ => "it has no calibration; train it with probabilities, or calibrate it with its training data",
        }))
    }

    /// The scale `s` of the errors of a calibrated regression: an error `z` has the density
    /// `exp(−|z|/s) / (2 s)`.
    pub fn error_scale(&self) -> Option<f64> {
        self.calibration().first().and_then(Calibration::scale)
    }

    /// Returns half the width of the interval around a predicted value that contains the target
    /// with probability `level`: `−s ln(1 − level)`. `None` unless the model is a calibrated
    /// regression and `level` is in [0, 1[.
    pub fn half_interval(&self, level: f64) -> Option<f64> {
        self.error_scale().filter(|_| (0.0..1.0).contains(&level)).map(|scale| -scale * (-level).ln_1p())
    }

    /// Returns the prediction from the decision values of one row.
    ///
    /// # Panics
    ///
    /// When there is not one value per machine.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        let (classes, multiclass, order) = (self.classes(), self.multiclass(), self.tie_order());
        match (self.decision_rule(), self.threshold()) {
            (DecisionRule::Threshold, Some(threshold)) => return classes[usize::from(decisions[0] >= threshold)],
            (DecisionRule::Coupled, _) => {}
            (decision_rule, _) => {
                return label(decision_rule, multiclass, LabelsOf { classes, levels: self.levels() }, order, decisions);
            }
        }
        let probabilities = multiclass.probabilities(classes.len(), self.calibration(), decisions);
        if !order.is_empty() {
            return classes[likeliest_in_order(order, &probabilities)];
        }
        let (likeliest, elected) = (greatest(&probabilities), multiclass.elected(classes.len(), order, decisions));
        classes[if probabilities[elected] >= probabilities[likeliest] { elected } else { likeliest }]
    }
}
