//! Decision values and labels of samples.

use crate::decision::{DecisionRule, certain};
use crate::error::ModelError;
use crate::model::Model;
use crate::model::weights::{are_dense, sparse};
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::{Par, Samples, prepare};
use maxmargin_kernel::{Expansion, Kernel, Labels, Predictor, linear_values};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Queries per task of a linear model.
const CHUNK: usize = 1024;

/// Support vectors that are prepared for predictions, from the first one on. They follow from the
/// parts of a model, so that they play no role in comparisons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared(OnceLock<Arc<Predictor>>);

impl PartialEq for Prepared {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Model {
    /// Returns the decision values of every row of `queries`, row-major `queries × machines`. Two
    /// classes have one value a row, which selects the second class at 0 and above. More classes
    /// have one value for each of [`maxmargin_data::classes::pairs`]; the value of `(a, b)` selects
    /// `b` at 0 and above.
    ///
    /// Each kernel value is computed once for all machines. The number of features may differ from
    /// the model's: missing features are 0. Additional features count in an RBF distance, as in
    /// LIBSVM. A scaler drops them, because it has no range for them. The bits do not depend on
    /// `par`.
    ///
    /// # Errors
    ///
    /// When rows cannot be scaled, or rows of a precomputed kernel have no value for a support
    /// vector.
    pub fn decision_values(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let queries = self.prepared(queries)?;
        if *self.kernel() == Kernel::Linear {
            return Ok(self.linear(&queries, par));
        }
        Ok(self.predictor()?.decision_table(&queries, par)?)
    }

    /// Returns the prediction for every row of `queries`: a label, the value of a regression, or 1
    /// and −1 for one class. Labels are those of [`Model::decision_values`], but take less time
    /// than these ([`Predictor::labels`]).
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn predict(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let needs_values = matches!(self.decision_rule(), DecisionRule::Value | DecisionRule::Coupled);
        if *self.kernel() != Kernel::Linear && !needs_values {
            return Ok(self.labels(queries, par)?.labels);
        }
        let decisions = self.decision_values(queries, par)?;
        Ok(decisions.chunks_exact(self.machines().len()).map(|row| self.label(row)).collect())
    }

    /// Returns the labels of [`Model::predict`], and for how many rows they took decision values in
    /// `f64`.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn labels(&self, queries: &Samples, par: Par) -> Result<Labels, ModelError> {
        let queries = self.prepared(queries)?;
        let label = |values: &[f64], bounds: &[f64]| {
            let is_exact = bounds.iter().all(|bound| *bound == 0.0);
            (is_exact || self.is_certain(values, bounds)).then(|| self.label(values))
        };
        Ok(self.predictor()?.labels(&queries, par, label)?)
    }

    /// Returns true if all decision values within `bounds` of these certainly have the same label.
    /// Values of regressions and labels by probabilities are never certain.
    ///
    /// # Panics
    ///
    /// When there is not one value and one bound for each machine.
    pub fn is_certain(&self, values: &[f64], bounds: &[f64]) -> bool {
        match (self.decision_rule(), self.threshold()) {
            (DecisionRule::Threshold, Some(threshold)) => (values[0] - threshold).abs() > bounds[0],
            (DecisionRule::Inlier, _) => values[0].abs() > bounds[0],
            (DecisionRule::Vote | DecisionRule::Argmax, _) => certain(self.multiclass(), self.classes().len(), values, bounds),
            (DecisionRule::Value | DecisionRule::Coupled | DecisionRule::Threshold, _) => false,
        }
    }

    /// The prepared support vectors.
    fn predictor(&self) -> Result<&Predictor, ModelError> {
        if let Some(predictor) = self.predictor.0.get() {
            return Ok(predictor);
        }
        let Parts { kernel, support, machines, .. } = self.parts();
        let expansions: Vec<Expansion> = machines.iter().map(Machine::expansion).collect();
        let made = Arc::new(Predictor::new(kernel, support, &expansions)?);
        Ok(self.predictor.0.get_or_init(|| made))
    }

    /// Returns the rows as inputs of this model's kernel: encoded if the model has an encoder, and
    /// scaled if it has a scaler.
    ///
    /// # Errors
    ///
    /// When the rows cannot be scaled, or have a missing value that the model does not fill in.
    pub fn prepared<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
        let Parts { encoder, scaler, .. } = self.parts();
        Ok(prepare::apply(encoder.as_ref(), scaler.as_ref(), samples)?)
    }

    /// Returns the decision values of linear machines, from cached weights or from weights computed
    /// for this call.
    fn linear(&self, queries: &Samples, par: Par) -> Vec<f64> {
        let Parts { support, machines, .. } = self.parts();
        if !self.weights.is_empty() {
            let machines: Vec<(&[f64], f64)> =
                self.weights.iter().zip(machines).map(|(weights, machine)| (&weights[..], machine.bias)).collect();
            return linear_values(&machines, queries, par);
        }
        let is_dense = are_dense(support);
        let column = |p: usize| {
            let machine = &machines[p];
            if is_dense {
                let w = machine.weights(support);
                weighted(queries, machine.bias, par, |j| w.get(j).copied().unwrap_or(0.0))
            } else {
                let w = sparse(support, machine);
                weighted(queries, machine.bias, par, |j| w.get(&j).copied().unwrap_or(0.0))
            }
        };
        if let [_] = machines[..] {
            return column(0);
        }
        let mut values = vec![0.0; queries.len() * machines.len()];
        for p in 0..machines.len() {
            values.iter_mut().skip(p).step_by(machines.len()).zip(column(p)).for_each(|(place, value)| *place = value);
        }
        values
    }
}

/// Returns `wᵀx + bias` of every row.
fn weighted(queries: &Samples, bias: f64, par: Par, w: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; queries.len()];
    par.for_chunks(&mut values, CHUNK, |chunk, values| {
        for (q, value) in values.iter_mut().enumerate() {
            let mut sum = 0.0;
            queries.row(chunk * CHUNK + q).for_each(|j, v| sum += w(j) * v);
            *value = sum + bias;
        }
    });
    values
}
