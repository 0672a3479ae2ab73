//! The model: decision functions and the rule that makes labels of them, checked once when it is
//! made.

mod predict;
mod probability;
pub(crate) mod weights;

pub use probability::likeliest_in_order;
pub use weights::check_width;

use crate::decision::{DecisionRule, Multiclass, Rule};
use crate::error::ModelError;
use crate::model::weights::cached;
use crate::parts::Machine;
use crate::parts::Record;
use crate::parts::check::{check, check_encoder, check_index_base, check_record, check_scaler, check_tie_order};
use crate::parts::{Parts, Section};
use maxmargin_data::scale::Scaler;
use maxmargin_data::{Columns, Encoder, Samples};
use maxmargin_kernel::Kernel;

/// A trained support vector machine, of classes, of values or of one class: one or several
/// [`Machine`]s over shared vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub(crate) parts: Parts,
    /// The weights of every machine of a linear kernel, or nothing where there are too many.
    weights: Vec<Vec<f64>>,
}

impl Model {
    /// Checks the parts and derives the weights of linear machines.
    ///
    /// # Errors
    ///
    /// When a kernel parameter, coefficient, bias or label is not possible, or lengths do not fit.
    pub fn new(mut parts: Parts) -> Result<Self, ModelError> {
        parts.kernel = parts.kernel.checked()?;
        check(&parts)?;
        if parts.support.is_empty() {
            // Dense rows that are not there would take their width for granted, which then no byte
            // of a file accounts for.
            parts.support = Samples::from_sparse(parts.support.features(), vec![0], Vec::new(), Vec::new())
                .map_err(|e| ModelError::invalid("matrix of support vectors", e.to_string()))?;
        }
        let weights = cached(&parts);
        Ok(Self { parts, weights })
    }

    /// Gathers the machines of all pairs of classes, each given as (row of `samples`, coefficient)
    /// with rows ascending, and a bias; two classes are one machine, and so are regression
    /// ([`Rule::VALUE`]) and one class ([`Rule::INLIER`]).
    ///
    /// `samples` are scaled already where a scaler will be added ([`Model::with_scaler`]). The
    /// model has index base 1 ([`Model::with_index_base`]) and no record yet
    /// ([`Model::with_record`], which comes last).
    ///
    /// # Errors
    ///
    /// As [`Model::new`].
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn from_machines(
        kernel: Kernel,
        samples: &Samples,
        rule: impl Into<Rule>,
        machines: &[(Vec<(usize, f64)>, f64)],
    ) -> Result<Self, ModelError> {
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
        Self::ruled(kernel, support, rule.into(), machines.collect())
    }

    /// Gathers linear machines that keep their weights alone, each given as (feature, weight) with
    /// features ascending below `features`, and a bias; otherwise as [`Model::from_machines`].
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
        Self::ruled(Kernel::Linear, support.compact(), rule.into(), machines.collect())
    }

    fn ruled(kernel: Kernel, support: Samples, rule: Rule, machines: Vec<Machine>) -> Result<Self, ModelError> {
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
        })
    }

    /// The same model with the record of its training.
    ///
    /// # Errors
    ///
    /// When the record does not fit the model.
    pub fn with_record(mut self, record: Record) -> Result<Self, ModelError> {
        check_record(&record, &self.parts)?;
        self.parts.record = Some(record);
        Ok(self)
    }

    /// The same model behind a scaler, whose work the support vectors must be: scaling is part of
    /// the training.
    ///
    /// # Errors
    ///
    /// When the scaler has another number of features than the support vectors, and when the model
    /// has its record: that tells of a training without this scaler.
    pub fn with_scaler(mut self, scaler: Scaler) -> Result<Self, ModelError> {
        self.check_unrecorded("scaler")?;
        check_scaler(&scaler, &self.parts.support)?;
        self.parts.scaler = Some(scaler);
        Ok(self)
    }

    /// The same model behind the columns of a table, whose work the support vectors must be; it
    /// comes before the record, as a scaler does.
    ///
    /// # Errors
    ///
    /// When the columns have another number of features than the support vectors, or other labels
    /// than the classes; and when the model has its record.
    pub fn with_encoder(mut self, encoder: Encoder) -> Result<Self, ModelError> {
        self.check_unrecorded("list of columns")?;
        check_encoder(&encoder, &self.parts)?;
        self.parts.encoder = Some(encoder);
        Ok(self)
    }

    /// The columns of the table that the model was trained on, if it was one.
    pub fn columns(&self) -> Option<&Columns> {
        self.parts.encoder.as_ref().map(Encoder::columns)
    }

    /// The same model for files whose first feature has the number `index_base`.
    ///
    /// # Errors
    ///
    /// When it is neither 0 nor 1, and when the model has its record: that tells of a file with the
    /// other numbering.
    pub fn with_index_base(mut self, index_base: u32) -> Result<Self, ModelError> {
        self.check_unrecorded("index base")?;
        check_index_base(index_base)?;
        self.parts.index_base = index_base;
        Ok(self)
    }

    /// The same model that decides ties as LIBSVM and LIBLINEAR do ([`Parts::tie_order`]): `order`
    /// has the places of all classes in [`Model::classes`], in the order of their `label` line;
    /// empty: by its own rule.
    ///
    /// # Errors
    ///
    /// When a class is not in `order`, or is there twice.
    pub fn with_tie_order(mut self, order: Vec<u32>) -> Result<Self, ModelError> {
        check_tie_order(&order, self.parts.classes.len())?;
        self.parts.tie_order = order;
        Ok(self)
    }

    /// The order of labels by which ties are decided; empty where that is this program's own rule.
    pub fn tie_order(&self) -> &[u32] {
        &self.parts.tie_order
    }

    /// The places of the classes in the order of labels that LIBSVM's and LIBLINEAR's text has:
    /// that of ties where there is one; otherwise of two classes the one with positive decisions
    /// first, and more as they are.
    pub fn label_order(&self) -> Vec<u32> {
        match (&self.parts.tie_order[..], self.parts.classes.len()) {
            ([], 2) => vec![1, 0],
            ([], count) => (0..count as u32).collect(),
            (order, _) => order.to_vec(),
        }
    }

    /// What changes the samples that the kernel sees comes before the record of the training that
    /// saw them.
    fn check_unrecorded(&self, what: &'static str) -> Result<(), ModelError> {
        if self.parts.record.is_none() {
            return Ok(());
        }
        let reason =
            "the model has the record of a training without it; train with it, or give it to the model before its record";
        Err(ModelError::invalid(what, reason))
    }

    /// Stores `bytes` under `tag`, in place of what was there.
    #[must_use]
    pub fn with_section(mut self, tag: [u8; 8], bytes: Vec<u8>) -> Self {
        self.parts.sections.retain(|s| s.tag != tag);
        self.parts.sections.push(Section { tag, bytes });
        self
    }

    /// The bytes stored under `tag`.
    pub fn section(&self, tag: [u8; 8]) -> Option<&[u8]> {
        self.parts.sections.iter().find(|s| s.tag == tag).map(|s| &s.bytes[..])
    }

    /// All numbers of the model.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// All numbers of the model, to be changed and checked again.
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.parts.kernel
    }

    /// The labels of the classes, two or more; of two, the second has positive decision values, and
    /// 0 unless [`Model::tie_order`] says otherwise ([`Model::threshold`] and above, where it
    /// decides by that). None for regression and one class.
    pub fn classes(&self) -> &[f64] {
        &self.parts.classes
    }

    /// How decision values become predictions.
    pub fn decision_rule(&self) -> DecisionRule {
        self.parts.decision_rule
    }

    /// Which classes the machines tell apart.
    pub fn multiclass(&self) -> Multiclass {
        self.parts.multiclass
    }

    /// The labels that a machine decides between, where there are classes: the one below 0 (none
    /// where that is all the others), and the one from 0 on.
    pub fn sides(&self, machine: usize) -> Option<(Option<f64>, f64)> {
        let classes = self.classes();
        let (a, b) = *self.multiclass().sides(classes.len()).get(machine)?;
        Some((a.map(|a| classes[a]), classes[b]))
    }

    /// The decision functions; of two classes there is one.
    pub fn machines(&self) -> &[Machine] {
        &self.parts.machines
    }

    /// Number of different support vectors of the training, whether the model keeps them or their
    /// sums.
    pub fn support_vectors(&self) -> usize {
        let Some(record) = self.record().filter(|_| self.folded()) else { return self.len() };
        let mut rows: Vec<u64> = record.machines.iter().flat_map(|machine| &machine.rows).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }

    /// Whether the machines keep their weights instead of their support vectors
    /// ([`crate::MachineRecord::folded`]).
    pub fn folded(&self) -> bool {
        self.record().is_some_and(|record| record.machines.iter().any(|machine| machine.folded.is_some()))
    }

    /// Number of vectors that the model keeps: support vectors, or 1 per machine for linear
    /// machines of weights alone.
    pub fn len(&self) -> usize {
        self.parts.support.len()
    }

    /// Whether no vectors are kept, so that every decision value is a bias.
    pub fn is_empty(&self) -> bool {
        self.parts.support.is_empty()
    }

    /// Number of features of the training data.
    pub fn features(&self) -> usize {
        self.record().map_or(self.parts.support.features(), |record| record.features as usize)
    }

    /// The record of the training, if there is one.
    pub fn record(&self) -> Option<&Record> {
        self.parts.record.as_ref()
    }

    /// `w = Σ coef_k x_k` of a machine of a linear kernel, one entry per feature; none when there
    /// is no such machine, or features and machines are so many that almost all entries are 0.
    pub fn weights(&self, machine: usize) -> Option<&[f64]> {
        self.weights.get(machine).map(Vec::as_slice)
    }
}
