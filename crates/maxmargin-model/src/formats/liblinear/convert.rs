//! Conversion between linear models of this crate and LIBLINEAR's.

use super::LinearModel;
use crate::decision::{DecisionRule, LEVELS, Multiclass, Rule, THRESHOLD};
use crate::error::{ModelError, Unsupported};
use crate::model::Model;
use crate::model::check_width;
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_core::{Loss, TargetKind};
use maxmargin_kernel::Kernel;

impl LinearModel {
    /// Converts a linear model to LIBLINEAR's. Labels have the order of [`Model::label_order`];
    /// biases become the weights of a feature of value 1. Probabilities are left out.
    ///
    /// # Errors
    ///
    /// When the model has a kernel other than the linear one, a scaler, a threshold, features
    /// numbered from 0, far more features than values, or one-vs-one machines of more than two
    /// classes.
    pub fn from_model(model: &Model) -> Result<Self, ModelError> {
        let model = &*model.uncentred()?;
        let parts = model.parts();
        if parts.kernel != Kernel::Linear {
            return Err(Unsupported::Kernel { program: "LIBLINEAR", kernel: parts.kernel.name().to_owned() }.into());
        }
        if let Some(property) = obstacle(parts) {
            return Err(ModelError::text("LIBLINEAR", property, None));
        }
        let labels = parts.classes.iter().map(|label| {
            let fits = label.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(label);
            if fits { Ok(*label as i32) } else { Err(ModelError::Label(*label)) }
        });
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let order: Vec<usize> = model.label_order().iter().map(|&class| class as usize).collect();
        let labels = order.iter().map(|&class| labels[class]).collect();
        // In LIBLINEAR, a positive decision value selects the first of two labels.
        let sign = if order == [0, 1] { -1.0 } else { 1.0 };
        let squared = model.record().is_some_and(|record| record.formulation.loss() == Loss::SquaredHinge);
        let needs = parts.decision_rule.target_kind();
        let solver = match (needs, squared) {
            (TargetKind::Classes, false) => 3,
            (TargetKind::Classes, true) => 1,
            (TargetKind::Values, false) => 13,
            (TargetKind::Values, true) => 12,
            (TargetKind::Nothing, _) => 21,
        };
        let features = parts.support.features();
        let terms: usize = parts.machines.iter().map(|machine| machine.coef.len()).sum();
        check_width(features, parts.machines.len(), parts.support.non_zeros() + terms)?;
        let rho = (needs == TargetKind::Nothing).then(|| 0.0 - parts.machines[0].bias);
        let has_bias = rho.is_none() && parts.machines.iter().any(|machine| machine.bias != 0.0);
        let column = |machine: &Machine| {
            let mut w = vec![0.0; features];
            for (&k, coef) in machine.support.iter().zip(&machine.coef) {
                parts.support.row(k as usize).for_each(|j, value| w[j] += sign * coef * value);
            }
            w.extend(has_bias.then_some(sign * machine.bias));
            w
        };
        let machines: Vec<usize> = if parts.multiclass == Multiclass::OneVsRest { order } else { vec![0] };
        let weights = machines.iter().map(|&machine| column(&parts.machines[machine])).collect();
        Ok(Self { solver, labels, features, bias: if has_bias { 1.0 } else { -1.0 }, rho, weights })
    }

    /// Converts LIBLINEAR's model to a [`Model`], without a training record. Ties are decided as in
    /// LIBLINEAR ([`Model::tie_order`]).
    ///
    /// # Errors
    ///
    /// When a classifier has one class only, or two classes with a column of weights for each.
    pub fn to_model(&self) -> Result<Model, ModelError> {
        let mut classes: Vec<f64> = self.labels.iter().map(|label| f64::from(*label)).collect();
        let multiclass = if classes.len() > 2 { Multiclass::OneVsRest } else { Multiclass::OneVsOne };
        if multiclass == Multiclass::OneVsOne {
            classes.reverse();
        }
        let order: Vec<u32> = match classes.len() {
            2 => vec![1, 0],
            count => (0..count as u32).collect(),
        };
        let rule = match classes.len() {
            _ if self.is_regression() => Rule::VALUE,
            _ if self.is_one_class() => Rule::INLIER,
            1 => return Err(Unsupported::OneClass.into()),
            2 if self.weights.len() == 2 => {
                return Err(Unsupported::WeightsOfBothClasses.into());
            }
            _ => Rule { decision_rule: multiclass.decision_rule(), classes, multiclass, levels: Vec::new() },
        };
        let machine = |w: &Vec<f64>| {
            let bias = if self.bias >= 0.0 { self.bias * w[self.features] } else { 0.0 };
            let terms = (0..).zip(&w[..self.features]).filter(|(_, value)| **value != 0.0).map(|(j, value)| (j, *value));
            (terms.collect(), bias - self.rho.unwrap_or(0.0))
        };
        Model::from_weights(self.features, rule, &self.weights.iter().map(machine).collect::<Vec<_>>())?.with_tie_order(order)
    }
}

/// Returns the property of a model that LIBLINEAR's text cannot express, if there is one.
fn obstacle(parts: &Parts) -> Option<&'static str> {
    let obstacles = [
        (parts.scaler.is_some(), "a model that scales its features"),
        (
            parts.encoder.as_ref().is_some_and(|encoder| !encoder.is_plain()),
            "a model that encodes words or fills in missing values",
        ),
        (parts.decision_rule == DecisionRule::Threshold, THRESHOLD),
        (!parts.levels.is_empty(), LEVELS),
        (parts.index_base != 1, "a model of features numbered from 0"),
        (
            parts.classes.len() > 2 && parts.multiclass == Multiclass::OneVsOne,
            "a model of machines for pairs of classes, not of each class against the rest",
        ),
    ];
    obstacles.iter().find(|(is_there, _)| *is_there).map(|(_, property)| *property)
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::{Par, Samples};

    fn ruled(classes: Vec<f64>, multiclass: Multiclass) -> Rule {
        if classes.is_empty() {
            Rule::VALUE
        } else {
            Rule { decision_rule: multiclass.decision_rule(), classes, multiclass, levels: Vec::new() }
        }
    }

    fn linear(bias: f64, classes: Vec<f64>) -> Model {
        let (multiclass, machines) =
            if classes.len() > 2 { (Multiclass::OneVsRest, classes.len()) } else { (Multiclass::OneVsOne, 1) };
        let machine = |at: usize| (vec![(0, 0.5), (2, at as f64 - 1.5)], bias);
        let machines: Vec<_> = (0..machines).map(machine).collect();
        Model::from_weights(3, ruled(classes, multiclass), &machines).expect("a model")
    }

    #[test]
    fn linear_models_go_there_and_back() {
        let rows = Samples::from_rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]).expect("rows");
        for (bias, classes) in [
            (0.0, vec![-1.0, 1.0]),
            (0.25, vec![3.0, 2.0]),
            (-7.0, vec![]),
            (1.0, vec![3.0, 5.0, 4.0]),
            (0.0, vec![1.0, 2.0, 3.0]),
        ] {
            let model = linear(bias, classes);
            let there = LinearModel::from_model(&model).expect("a model");
            let decisions = there.decision_values(&rows, Par::Seq);
            assert_eq!(decisions, model.decision_values(&rows, Par::Seq).expect("values"));
            let order = model.label_order();
            assert_eq!(there.to_model().expect("a model"), model.clone().with_tie_order(order).expect("an order"));
            let labels: Vec<f64> = decisions.chunks(there.weights.len()).map(|row| there.label(row)).collect();
            assert_eq!(labels, model.predict(&rows, Par::Seq).expect("labels"));
        }
    }

    #[test]
    fn models_that_the_text_cannot_express_are_refused_by_name() {
        let said = |model: &Model| LinearModel::from_model(model).expect_err("refused").to_string();
        let samples = Samples::from_rows(&[[1.0], [2.0]]).expect("rows");
        let rule = ruled(vec![0.0, 1.0], Multiclass::OneVsOne);
        let rbf = Model::from_machines(Kernel::rbf(1.0), &samples, rule, &[(vec![(0, 1.0)], 0.0)]).expect("a model");
        assert!(said(&rbf).contains("the kernel rbf"));
        assert!(said(&linear(0.0, vec![0.5, 1.0])).contains("0.5"));
        let from0 = linear(0.0, vec![0.0, 1.0]).with_index_base(0).expect("a base");
        assert!(said(&from0).contains("numbered from 0"));
        let rule = ruled(vec![0.0, 1.0, 2.0], Multiclass::OneVsOne);
        let pairs = Model::from_weights(1, rule, &[(vec![(0, 1.0)], 0.0), (vec![], 0.0), (vec![], 0.0)]).expect("a model");
        assert!(said(&pairs).contains("each class against the rest"));
        let one = LinearModel { solver: 1, labels: vec![1], features: 0, bias: -1.0, rho: None, weights: vec![vec![]] };
        assert!(one.to_model().expect_err("refused").to_string().contains("one class"));
    }
}
