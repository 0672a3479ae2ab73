//! Probabilities and labels: from the decision values of all machines to one number for each
//! outcome, and to what is predicted.

use crate::calibration::Calibration;
use crate::calibration::coupled;
use crate::decision::{DecisionRule, Multiclass, greatest, label};
use crate::error::ModelError;
use crate::model::Model;
use maxmargin_core::TargetKind;
use maxmargin_data::{Par, Samples};

/// Rows per task.
const CHUNK: usize = 64;

/// Probabilities that differ by less are equal: elimination rounds each of them a few times for
/// every class.
const ROUNDING: f64 = 1e-12;

/// The class with the greatest of `probabilities`, which has one for each class; of equals, but for
/// rounding, the one that comes first in `order`.
///
/// # Panics
///
/// When `order` is empty or names a class that has no probability.
pub fn likeliest_in_order(order: &[u32], probabilities: &[f64]) -> usize {
    let most = order.iter().map(|&class| probabilities[class as usize]).fold(f64::NEG_INFINITY, f64::max);
    let is_most = |class: &&u32| probabilities[**class as usize] >= most - ROUNDING;
    order.iter().find(is_most).map_or(order[0] as usize, |class| *class as usize)
}

impl Multiclass {
    /// The probabilities of the outcomes of one row: of each of `classes` in the order of the
    /// labels, or, of one class, of being inside and outside.
    ///
    /// Two classes have that of their machine; several those of pairs coupled, or, each class
    /// against the rest, the sigmoids divided by their sum.
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
    /// The same model with a calibration for each machine. Where there are classes, labels are from
    /// now on those of the greatest probability ([`DecisionRule::Coupled`]), or stay those of the
    /// threshold where there is one; [`Model::with_decision_rule`] goes back to decision values.
    ///
    /// # Errors
    ///
    /// When there is not one for each machine, or one of another kind than the machines have.
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

    /// The same model without probabilities, which decides by its decision values.
    #[must_use]
    pub fn without_calibration(mut self) -> Self {
        let parts = &mut self.parts;
        if parts.decision_rule == DecisionRule::Coupled {
            parts.decision_rule = parts.multiclass.decision_rule();
        }
        parts.calibration = Vec::new();
        self
    }

    /// The same model of two classes, whose labels are from now on those of this threshold
    /// ([`DecisionRule::Threshold`]): the second class of [`Model::classes`] where the decision
    /// value is `threshold` or more. Decision values and probabilities stay what they are.
    /// [`Model::with_decision_rule`] goes back to another rule.
    ///
    /// # Errors
    ///
    /// When it is not finite, or the model is not one of two classes.
    pub fn with_threshold(self, threshold: f64) -> Result<Self, ModelError> {
        let mut parts = self.into_parts();
        (parts.threshold, parts.decision_rule) = (Some(threshold), DecisionRule::Threshold);
        Self::new(parts)
    }

    /// The same model without a threshold: it decides by its probabilities where it has them,
    /// otherwise by its decision values alone.
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

    /// The decision value from which on a sample is of the second of two classes, where the model
    /// has another one than 0 for that. It counts where [`Model::decision_rule`] is
    /// [`DecisionRule::Threshold`].
    pub fn threshold(&self) -> Option<f64> {
        self.parts().threshold
    }

    /// The same model with another rule for its labels.
    ///
    /// # Errors
    ///
    /// When it is no rule for the machines of this model, or asks for probabilities or a threshold
    /// that it does not have.
    pub fn with_decision_rule(self, decision_rule: DecisionRule) -> Result<Self, ModelError> {
        let mut parts = self.into_parts();
        parts.decision_rule = decision_rule;
        Self::new(parts)
    }

    /// How the decision values of each machine become probabilities; empty where there are none.
    pub fn calibration(&self) -> &[Calibration] {
        &self.parts().calibration
    }

    /// What the columns of [`Model::probabilities`] are about: the labels in the order of
    /// [`Model::classes`]; of one class 1 (inside) and −1. Empty for regression, and where there
    /// are no probabilities.
    pub fn outcomes(&self) -> &[f64] {
        match self.decision_rule().target_kind() {
            _ if self.calibration().is_empty() => &[],
            TargetKind::Classes => self.classes(),
            TargetKind::Values => &[],
            TargetKind::Nothing => &[1.0, -1.0],
        }
    }

    /// The probability of every outcome for every row of `queries`, row-major `queries × outcomes`
    /// ([`Model::outcomes`]); each row sums to 1. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`], and when the model has no probabilities of outcomes: it was
    /// not calibrated, or is a regression ([`Model::error_scale`]).
    pub fn probabilities(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        self.check_outcomes()?;
        self.probabilities_of(&self.decision_values(queries, par)?, par)
    }

    /// The same from decision values, row-major rows × machines.
    ///
    /// # Errors
    ///
    /// When the model has no probabilities of outcomes.
    ///
    /// # Panics
    ///
    /// When `decisions` are not whole rows.
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
            DecisionRule::Value => "it predicts values, whose errors have a scale where it was calibrated",
            _ => "it was not calibrated: train it with probabilities, or calibrate it with its training data",
        }))
    }

    /// The scale `s` of a calibrated regression: errors `z` have the density `exp(−|z|/s) / (2 s)`.
    pub fn error_scale(&self) -> Option<f64> {
        self.calibration().first().and_then(Calibration::scale)
    }

    /// Half the width of the interval around a predicted value that holds the target with
    /// probability `level`, from 0 to below 1, where the model is a calibrated regression: `−s ln(1
    /// − level)`.
    pub fn half_interval(&self, level: f64) -> Option<f64> {
        self.error_scale().filter(|_| (0.0..1.0).contains(&level)).map(|scale| -scale * (-level).ln_1p())
    }

    /// The label that the decision values of one row elect.
    ///
    /// # Panics
    ///
    /// When there is not one value per machine.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        let (classes, multiclass, order) = (self.classes(), self.multiclass(), self.tie_order());
        match (self.decision_rule(), self.threshold()) {
            (DecisionRule::Threshold, Some(threshold)) => return classes[usize::from(decisions[0] >= threshold)],
            (DecisionRule::Coupled, _) => {}
            (decision_rule, _) => return label(decision_rule, (classes, multiclass), order, decisions),
        }
        let probabilities = multiclass.probabilities(classes.len(), self.calibration(), decisions);
        if !order.is_empty() {
            return classes[likeliest_in_order(order, &probabilities)];
        }
        let (likeliest, elected) = (greatest(&probabilities), multiclass.elected(classes.len(), order, decisions));
        classes[if probabilities[elected] >= probabilities[likeliest] { elected } else { likeliest }]
    }
}
