//! The model: checked parts, and access to them.

mod centre;
mod predict;
mod probability;
pub(crate) mod weights;

pub use probability::{EQUAL_PROBABILITIES, likeliest_in_order};
pub use weights::check_width;

use crate::decision::{DecisionRule, Multiclass, Rule};
use crate::error::ModelError;
use crate::model::predict::Prepared;
use crate::model::weights::cached;
use crate::parts::Machine;
use crate::parts::Record;
use crate::parts::check::{check, check_encoder, check_index_base, check_record, check_scaler, check_tie_order};
use crate::parts::{Parts, Section};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Columns, Encoder, Samples};
use maxmargin_kernel::Kernel;

/// A trained support vector machine for classification, regression or one class: one or several
/// [`Machine`]s over shared vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) parts: Parts,
    /// The weights of every machine of a linear kernel; empty if there are too many.
    weights: Vec<Vec<f64>>,
    predictor: Prepared,
}

impl Model {
    /// Returns the model of these parts, after all checks.
    ///
    /// # Errors
    ///
    /// When a kernel parameter, coefficient, bias or label is not valid, or lengths do not match.
    pub fn new(mut parts: Parts) -> Result<Self, ModelError> {
        parts.kernel = parts.kernel.checked()?;
        check(&parts)?;
        if parts.support.is_empty() {
            // A dense matrix without rows would have any width, although no byte of a file supports
            // it.
            parts.support = Samples::from_sparse(parts.support.features(), vec![0], Vec::new(), Vec::new())
                .map_err(|e| ModelError::invalid("matrix of support vectors", e.to_string()))?;
        }
        let weights = cached(&parts);
        Ok(Self { parts, weights, predictor: Prepared::default() })
    }

    /// Returns the model of these machines. Each machine has terms (row of `samples`, coefficient),
    /// with rows ascending, and a bias. Two classes, regression ([`Rule::VALUE`]) and one class
    /// ([`Rule::INLIER`]) have one machine.
    ///
    /// If a scaler follows ([`Model::with_scaler`]), `samples` must be scaled already. The model
    /// has index base 1 ([`Model::with_index_base`]) and no record; add the record last
    /// ([`Model::with_record`]).
    ///
    /// # Errors
    ///
    /// As [`Model::new`], and when `samples` lacks a row.
    pub fn from_machines(
        kernel: Kernel,
        samples: &Samples,
        rule: impl Into<Rule>,
        machines: &[(Vec<(usize, f64)>, f64)],
    ) -> Result<Self, ModelError> {
        if let Some((row, _)) = machines.iter().flat_map(|m| &m.0).find(|(row, _)| *row >= samples.len()) {
            let reason = format!("a machine names row {row}, the matrix has {} rows", samples.len());
            return Err(ModelError::invalid("matrix of support vectors", reason));
        }
        let mut place = vec![None; samples.len()];
        machines.iter().flat_map(|m| &m.0).for_each(|&(row, _)| place[row] = Some(0));
        let rows: Vec<usize> = (0..samples.len()).filter(|&row| place[row].is_some()).collect();
        rows.iter().zip(0_u32..).for_each(|(&row, at)| place[row] = Some(at));
        let mut support = samples.select(&rows);
        if kernel == Kernel::Precomputed {
            support = support.with_features(1);
        }
        let machines = machines.iter().map(|(terms, bias)| Machine {
            support: terms.iter().filter_map(|(row, _)| place[*row]).collect(),
            coef: terms.iter().map(|t| t.1).collect(),
            bias: *bias,
        });
        Self::with_rule(kernel, support, rule.into(), machines.collect())
    }

    /// Returns the model of linear machines that store weights instead of support vectors. Each
    /// machine has terms (feature, weight), with features ascending below `features`, and a bias.
    /// Otherwise as [`Model::from_machines`].
    ///
    /// # Errors
    ///
    /// As [`Model::new`], and when features do not ascend below `features`.
    pub fn from_weights(features: usize, rule: impl Into<Rule>, machines: &[(Vec<(u32, f64)>, f64)]) -> Result<Self, ModelError> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (weights, _) in machines {
            indices.extend(weights.iter().map(|w| w.0));
            values.extend(weights.iter().map(|w| w.1));
            offsets.push(indices.len());
        }
        let support = Samples::from_sparse(features, offsets, indices, values)
            .map_err(|e| ModelError::invalid("matrix of weights", e.to_string()))?;
        let machines = machines.iter().zip(0..).map(|((_, bias), p)| Machine { support: vec![p], coef: vec![1.0], bias: *bias });
        Self::with_rule(Kernel::Linear, support.compact(), rule.into(), machines.collect())
    }

    fn with_rule(kernel: Kernel, support: Samples, rule: Rule, machines: Vec<Machine>) -> Result<Self, ModelError> {
        Self::new(Parts {
            kernel,
            support,
            machines,
            decision_rule: rule.decision_rule,
            classes: rule.classes,
            index_base: 1,
            scaler: None,
            record: None,
            sections: Vec::new(),
            multiclass: rule.multiclass,
            calibration: Vec::new(),
            encoder: None,
            threshold: None,
            tie_order: Vec::new(),
            levels: rule.levels,
        })
    }

    /// Adds the record of the training.
    ///
    /// # Errors
    ///
    /// When the record does not match the model.
    pub fn with_record(mut self, record: Record) -> Result<Self, ModelError> {
        check_record(&record, &self.parts)?;
        self.parts.record = Some(record);
        Ok(self)
    }

    /// Adds the scaler that was applied to the training data. The support vectors must be scaled by
    /// it.
    ///
    /// # Errors
    ///
    /// When the scaler has another number of features than the support vectors, or the model has a
    /// record, which belongs to a training without this scaler.
    pub fn with_scaler(mut self, scaler: Scaler) -> Result<Self, ModelError> {
        self.check_unrecorded("scaler")?;
        check_scaler(&scaler, &self.parts.support)?;
        self.parts.scaler = Some(scaler);
        Ok(self)
    }

    /// Adds the encoder of the training table. The support vectors must be encoded by it. Add it
    /// before the record, like a scaler.
    ///
    /// # Errors
    ///
    /// When the columns have another number of features than the support vectors, or other labels
    /// than the classes, or the model has a record.
    pub fn with_encoder(mut self, encoder: Encoder) -> Result<Self, ModelError> {
        self.check_unrecorded("list of columns")?;
        check_encoder(&encoder, &self.parts)?;
        self.parts.encoder = Some(encoder);
        Ok(self)
    }

    /// The columns of the training table; `None` if the training data was not a table.
    pub fn columns(&self) -> Option<&Columns> {
        self.parts.encoder.as_ref().map(Encoder::columns)
    }

    /// Sets the number of the first feature in files.
    ///
    /// # Errors
    ///
    /// When it is neither 0 nor 1, or the model has a record, which belongs to a file with the
    /// other numbering.
    pub fn with_index_base(mut self, index_base: u32) -> Result<Self, ModelError> {
        self.check_unrecorded("index base")?;
        check_index_base(index_base)?;
        self.parts.index_base = index_base;
        Ok(self)
    }

    /// Sets the order of labels for ties as in LIBSVM and LIBLINEAR ([`Parts::tie_order`]). `order`
    /// has the indices of all classes in [`Model::classes`], in the order of the `label` line of
    /// their files. An empty order restores the model's own rule.
    ///
    /// # Errors
    ///
    /// When a class is missing from `order` or occurs twice.
    pub fn with_tie_order(mut self, order: Vec<u32>) -> Result<Self, ModelError> {
        check_tie_order(&order, self.parts.classes.len())?;
        self.parts.tie_order = order;
        Ok(self)
    }

    /// The order of labels for ties; empty if ties follow [`DecisionRule`].
    pub fn tie_order(&self) -> &[u32] {
        &self.parts.tie_order
    }

    /// Returns the indices of the classes in the order of LIBSVM's and LIBLINEAR's text. This is
    /// the order of ties if there is one. Otherwise two classes are reversed, so that the class
    /// with positive decision values comes first, and three or more keep their order.
    pub fn label_order(&self) -> Vec<u32> {
        match (&self.parts.tie_order[..], self.parts.classes.len()) {
            ([], 2) => vec![1, 0],
            ([], count) => (0..count as u32).collect(),
            (order, _) => order.to_vec(),
        }
    }

    /// Checks that the model has no record. A record belongs to the samples that the kernel saw in
    /// training; changes of these samples must come before it.
    fn check_unrecorded(&self, what: &'static str) -> Result<(), ModelError> {
        if self.parts.record.is_none() {
            return Ok(());
        }
        let reason = "the model has the record of a training without it; train with it, or add it to the model before the record";
        Err(ModelError::invalid(what, reason))
    }

    /// Stores `bytes` under `tag` and replaces an earlier section with this tag.
    #[must_use]
    pub fn with_section(mut self, tag: [u8; 8], bytes: Vec<u8>) -> Self {
        self.parts.sections.retain(|s| s.tag != tag);
        self.parts.sections.push(Section { tag, bytes });
        self
    }

    /// Removes the bytes stored under `tag`, if there are any.
    #[must_use]
    pub fn without_section(mut self, tag: [u8; 8]) -> Self {
        self.parts.sections.retain(|s| s.tag != tag);
        self
    }

    /// The bytes stored under `tag`, if there are any.
    pub fn section(&self, tag: [u8; 8]) -> Option<&[u8]> {
        self.parts.sections.iter().find(|s| s.tag == tag).map(|s| &s.bytes[..])
    }

    /// The contents of the model.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the contents of the model. After changes, [`Model::new`] checks them again.
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.parts.kernel
    }

    /// The labels of the classes; empty for regression and one class.
    ///
    /// The second of two classes has positive decision values. It also has the decision value 0,
    /// unless [`Model::tie_order`] changes that. With [`DecisionRule::Threshold`] it has the values
    /// from [`Model::threshold`] on.
    pub fn classes(&self) -> &[f64] {
        &self.parts.classes
    }

    /// The rule that turns decision values into predictions.
    pub fn decision_rule(&self) -> DecisionRule {
        self.parts.decision_rule
    }

    /// The classes that each machine separates.
    pub fn multiclass(&self) -> Multiclass {
        self.parts.multiclass
    }

    /// The level τ of each machine, ascending, of a model of several levels; otherwise empty.
    pub fn levels(&self) -> &[f64] {
        &self.parts.levels
    }

    /// The two sides of a machine: the label below 0 (`None` for all other classes) and the label
    /// at 0 and above. `None` if there are no classes or no such machine.
    pub fn sides(&self, machine: usize) -> Option<(Option<f64>, f64)> {
        let classes = self.classes();
        let (a, b) = *self.multiclass().sides(classes.len()).get(machine)?;
        Some((a.map(|a| classes[a]), classes[b]))
    }

    /// The decision functions; two classes have one.
    pub fn machines(&self) -> &[Machine] {
        &self.parts.machines
    }

    /// The number of different support vectors of the training. The model stores these vectors or
    /// their weighted sums.
    pub fn support_vectors(&self) -> usize {
        let Some(record) = self.record().filter(|_| self.folded()) else { return self.len() };
        let mut rows: Vec<u64> = record.machines.iter().flat_map(|machine| &machine.rows).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }

    /// Returns true if the machines store weights instead of support vectors
    /// ([`crate::MachineRecord::folded`]).
    pub fn folded(&self) -> bool {
        self.record().is_some_and(|record| record.machines.iter().any(|machine| machine.folded.is_some()))
    }

    /// The number of stored vectors: support vectors, or 1 per machine if linear machines store
    /// their weights.
    pub fn len(&self) -> usize {
        self.parts.support.len()
    }

    /// Returns true if no vectors are stored, so that every decision value is a bias.
    pub fn is_empty(&self) -> bool {
        self.parts.support.is_empty()
    }

    /// The number of features of the training data.
    pub fn features(&self) -> usize {
        self.record().map_or(self.parts.support.features(), |record| record.features as usize)
    }

    /// The record of the training, if there is one.
    pub fn record(&self) -> Option<&Record> {
        self.parts.record.as_ref()
    }

    /// The weights `w = Σ coef_k x_k` of a linear machine, one entry per feature. `None` for other
    /// kernels, if there is no such machine, or if features and machines are so many that almost
    /// all entries are 0.
    pub fn weights(&self, machine: usize) -> Option<&[f64]> {
        self.weights.get(machine).map(Vec::as_slice)
    }
}
