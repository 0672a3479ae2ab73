//! Linear models of ours as LIBLINEAR's, and back.

use super::LinearModel;
use crate::error::ModelError;
use crate::machine::{Decide, Rule};
use crate::model::Model;
use maxmargin_core::Loss;
use maxmargin_kernel::Kernel;

impl LinearModel {
    /// A linear model of ours as LIBLINEAR's. Of two classes the one with positive decisions comes first; the bias becomes the weight of a feature of value 1.
    ///
    /// # Errors
    ///
    /// When it has a kernel, a scaler, features numbered from 0, or machines for pairs of more than two classes.
    pub fn from_model(model: &Model) -> Result<Self, ModelError> {
        let parts = model.parts();
        let refused = |what: &str| Err(ModelError::Unsupported(format!("{what}, in LIBLINEAR's text")));
        if parts.kernel != Kernel::Linear {
            return refused(&format!("the kernel {}", parts.kernel.name()));
        }
        if parts.scaler.is_some() {
            return refused("a model that scales its features");
        }
        if parts.index_base != 1 {
            return refused("a model of features numbered from 0");
        }
        let [machine] = &parts.machines[..] else {
            return refused("machines for pairs of classes, where it has one class against the rest");
        };
        let labels = parts.classes.iter().rev().map(|label| {
            let fits = label.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(label);
            if fits { Ok(*label as i32) } else { Err(ModelError::Label(*label)) }
        });
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let squared = model.record().is_some_and(|record| record.formulation.loss() == Loss::SquaredHinge);
        let solver = match (parts.decide, squared) {
            (Decide::Vote, false) => 3,
            (Decide::Vote, true) => 1,
            (Decide::Value, false) => 13,
            (Decide::Value, true) => 12,
            (Decide::Inlier, _) => 21,
        };
        let features = parts.support.features();
        let mut w = vec![0.0; features];
        for (&k, coef) in machine.support.iter().zip(&machine.coef) {
            parts.support.row(k as usize).for_each(|j, value| w[j] += coef * value);
        }
        let (bias, rho) = match parts.decide {
            Decide::Inlier => (-1.0, Some(0.0 - machine.bias)),
            _ if machine.bias == 0.0 => (-1.0, None),
            _ => (1.0, None),
        };
        if bias >= 0.0 {
            w.push(machine.bias);
        }
        Ok(Self { solver, labels, features, bias, rho, weights: vec![w] })
    }

    /// LIBLINEAR's model as one of ours, without a record of its training. Of two classes exactly 0 is for the class of positive decisions here, for the
    /// other there.
    ///
    /// # Errors
    ///
    /// When it has several columns of weights.
    pub fn to_model(&self) -> Result<Model, ModelError> {
        let [w] = &self.weights[..] else {
            let what = format!("a model of {} classes, each against the rest, as machines for pairs", self.labels.len());
            return Err(ModelError::Unsupported(what));
        };
        let rule = match self.labels[..] {
            _ if self.is_regression() => Rule::VALUE,
            _ if self.is_one_class() => Rule::INLIER,
            [positive, negative] => Rule { decide: Decide::Vote, classes: vec![f64::from(negative), f64::from(positive)] },
            _ => return Err(ModelError::Unsupported("a model of one class only".to_owned())),
        };
        let bias = if self.bias >= 0.0 { self.bias * w[self.features] } else { 0.0 };
        let terms = (0..).zip(&w[..self.features]).filter(|(_, value)| **value != 0.0).map(|(j, value)| (j, *value));
        Model::from_weights(self.features, rule, &[(terms.collect(), bias - self.rho.unwrap_or(0.0))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::{Par, Samples};

    fn linear(bias: f64, classes: Vec<f64>) -> Model {
        let rule = if classes.is_empty() { Rule::VALUE } else { Rule { decide: Decide::Vote, classes } };
        Model::from_weights(3, rule, &[(vec![(0, 0.5), (2, -2.0)], bias)]).expect("a model")
    }

    #[test]
    fn linear_models_go_there_and_back() {
        let rows = Samples::from_rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]).expect("rows");
        for model in [linear(0.0, vec![-1.0, 1.0]), linear(0.25, vec![3.0, 2.0]), linear(-7.0, vec![])] {
            let there = LinearModel::from_model(&model).expect("a model");
            assert_eq!(there.decision_values(&rows, Par::Seq), model.decision_values(&rows, Par::Seq).expect("values"));
            assert_eq!(there.to_model().expect("a model"), model);
            let labels: Vec<f64> = there.decision_values(&rows, Par::Seq).chunks(1).map(|row| there.label(row)).collect();
            assert_eq!(labels, model.predict(&rows, Par::Seq).expect("labels"));
        }
    }

    #[test]
    fn what_it_has_no_words_for_is_refused_by_name() {
        let said = |model: &Model| LinearModel::from_model(model).expect_err("refused").to_string();
        let samples = Samples::from_rows(&[[1.0], [2.0]]).expect("rows");
        let rule = Rule { decide: Decide::Vote, classes: vec![0.0, 1.0] };
        let rbf = Model::from_machines(Kernel::rbf(1.0), &samples, rule, &[(vec![(0, 1.0)], 0.0)]).expect("a model");
        assert!(said(&rbf).contains("the kernel rbf"));
        assert!(said(&linear(0.0, vec![0.5, 1.0])).contains("0.5"));
        let from0 = linear(0.0, vec![0.0, 1.0]).with_index_base(0).expect("a base");
        assert!(said(&from0).contains("numbered from 0"));
        let three =
            LinearModel { solver: 1, labels: vec![1, 2, 3], features: 0, bias: -1.0, rho: None, weights: vec![vec![]; 3] };
        assert!(three.to_model().expect_err("refused").to_string().contains("3 classes"));
    }
}
