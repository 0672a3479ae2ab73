//! A model of any number of classes: one two-class machine for each pair, support vectors shared.

use crate::error::ModelError;
use crate::model::check_serials;
use crate::predict::{prepared, without_gaps_if_hollow};
use crate::record::data_sha256;
use maxmargin_core::{Certificate, Loss, Offset, Status};
use maxmargin_data::classes::elected;
use maxmargin_data::scale::Scaler;
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_kernel::{Expansion, Kernel, decision_table};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The decision function of one pair of classes: `Σ coef_k K(x_k, x) + bias`, the later class at 0 and above.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Which of the model's vectors it uses, ascending.
    pub support: Vec<u32>,
    /// `s α` of each.
    pub coef: Vec<f64>,
    /// Added to the weighted kernel sum.
    pub bias: f64,
}

impl Machine {
    /// The sum over the model's vectors.
    fn expansion(&self) -> Expansion<'_> {
        Expansion { support: &self.support, coef: &self.coef, bias: self.bias }
    }
}

/// All numbers of a multi-class model, before anything is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MulticlassParts {
    /// The kernel.
    pub kernel: Kernel,
    /// Vectors of all machines (scaled, if there is a scaler); for a precomputed kernel column 0 with the serial numbers, nothing else.
    pub support: Samples,
    /// The labels. Of classes with equally many votes the earliest wins.
    pub classes: Vec<f64>,
    /// One per pair of classes, in the order of [`maxmargin_data::classes::pairs`].
    pub machines: Vec<Machine>,
    /// The number that files give to the first feature: 0 or 1.
    pub index_base: u32,
    /// Applied to samples before the kernel.
    pub scaler: Option<Scaler>,
    /// How the model was trained; none for models from elsewhere.
    pub record: Option<MulticlassRecord>,
}

/// The training that made a multi-class model. Claims, not proofs: `verify` recomputes them from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MulticlassRecord {
    /// C before class weights.
    pub c: f64,
    /// Factor of C for each class.
    pub weights: Vec<f64>,
    /// Tolerance of the KKT violation that was asked for.
    pub eps: f64,
    /// Rows of the training data.
    pub rows: u64,
    /// Columns of the training data.
    pub features: u64,
    /// [`data_sha256`] of the training data.
    pub data_sha256: [u8; 32],
    /// The loss that was minimised.
    pub loss: Loss,
    /// What the bias is.
    pub offset: Offset,
    /// One per machine.
    pub pairs: Vec<PairRecord>,
}

/// The training of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRecord {
    /// Row (from 0) of each support vector in the training data, ascending.
    pub rows: Vec<u64>,
    /// For a machine that keeps its weights instead of its support vectors: `s α` of each row.
    pub folded: Option<Vec<f64>>,
    /// Support vectors at their bound `C`.
    pub bounded: u64,
    /// How the solver stopped.
    pub status: Status,
    /// Solver iterations.
    pub iterations: u64,
    /// What the certificate said.
    pub certificate: Certificate,
}

impl MulticlassRecord {
    /// A record of trainings on `data` that has no machines yet.
    pub fn new(data: &Dataset, c: f64, weights: Vec<f64>, eps: f64, (loss, offset): (Loss, Offset)) -> Self {
        Self {
            c,
            weights,
            eps,
            rows: data.samples.len() as u64,
            features: data.samples.features() as u64,
            data_sha256: data_sha256(data),
            loss,
            offset,
            pairs: Vec::new(),
        }
    }
}

/// A support vector machine of two or more classes by one-versus-one voting.
#[derive(Clone, Debug, PartialEq)]
pub struct MulticlassModel {
    parts: MulticlassParts,
}

impl MulticlassModel {
    /// Checks the parts.
    ///
    /// # Errors
    ///
    /// When a kernel parameter, coefficient, bias or label is not possible, or lengths do not fit.
    pub fn new(mut parts: MulticlassParts) -> Result<Self, ModelError> {
        parts.kernel = parts.kernel.checked()?;
        check(&parts)?;
        if parts.kernel == Kernel::Precomputed {
            check_serials(&parts.support)?;
        }
        if let Some(record) = &parts.record {
            check_record(record, &parts)?;
        }
        Ok(Self { parts })
    }

    /// Gathers the decision functions of all pairs, each given as (row of `samples`, coefficient) with rows ascending, and a bias.
    ///
    /// # Errors
    ///
    /// As [`MulticlassModel::new`].
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn from_machines(
        kernel: Kernel,
        samples: &Samples,
        classes: &ClassLabels,
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
        Self::assembled(kernel, support, classes, machines.collect())
    }

    /// Gathers linear machines that keep their weights alone, each given as (feature, weight) with features ascending below `features`, and a bias.
    ///
    /// # Errors
    ///
    /// As [`MulticlassModel::new`], and when features do not ascend below `features`.
    pub fn from_weights(features: usize, classes: &ClassLabels, machines: &[(Vec<(u32, f64)>, f64)]) -> Result<Self, ModelError> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for (weights, _) in machines {
            indices.extend(weights.iter().map(|w| w.0));
            values.extend(weights.iter().map(|w| w.1));
            offsets.push(indices.len());
        }
        let support = Samples::from_sparse(features, offsets, indices, values)
            .map_err(|e| ModelError::invalid("matrix of weights", e.to_string()))?;
        let machines = machines.iter().zip(0..).map(|((_, bias), p)| Machine { support: vec![p], coef: vec![1.0], bias: *bias });
        Self::assembled(Kernel::Linear, support.compact(), classes, machines.collect())
    }

    fn assembled(kernel: Kernel, support: Samples, classes: &ClassLabels, machines: Vec<Machine>) -> Result<Self, ModelError> {
        let classes = classes.labels().to_vec();
        Self::new(MulticlassParts { kernel, support, classes, machines, index_base: 1, scaler: None, record: None })
    }

    /// The same model with the record of its training.
    ///
    /// # Errors
    ///
    /// When the record does not fit the model.
    pub fn with_record(self, record: MulticlassRecord) -> Result<Self, ModelError> {
        Self::new(MulticlassParts { record: Some(record), ..self.parts })
    }

    /// The same model behind a scaler.
    ///
    /// # Errors
    ///
    /// When the scaler has another number of features than the support vectors.
    pub fn with_scaler(self, scaler: Scaler) -> Result<Self, ModelError> {
        Self::new(MulticlassParts { scaler: Some(scaler), ..self.parts })
    }

    /// The same model for files whose first feature has the number `index_base`.
    ///
    /// # Errors
    ///
    /// When it is neither 0 nor 1.
    pub fn with_index_base(self, index_base: u32) -> Result<Self, ModelError> {
        Self::new(MulticlassParts { index_base, ..self.parts })
    }

    /// All numbers of the model.
    pub fn parts(&self) -> &MulticlassParts {
        &self.parts
    }

    /// The labels of the classes.
    pub fn classes(&self) -> &[f64] {
        &self.parts.classes
    }

    /// Number of different support vectors of the training, whether the model keeps them or their sums.
    pub fn support_vectors(&self) -> usize {
        let Some(record) = self.record().filter(|r| r.pairs.iter().any(|p| p.folded.is_some())) else {
            return self.parts.support.len();
        };
        let mut rows: Vec<u64> = record.pairs.iter().flat_map(|p| &p.rows).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }

    /// Number of features of the training data.
    pub fn features(&self) -> usize {
        self.record().map_or(self.parts.support.features(), |record| record.features as usize)
    }

    /// The record of the training, if there is one.
    pub fn record(&self) -> Option<&MulticlassRecord> {
        self.parts.record.as_ref()
    }

    /// The decision values of every row of `queries`, row-major `queries × pairs` in the order of [`maxmargin_data::classes::pairs`]: `(a, b)` goes to `b` at 0 and above.
    ///
    /// Each kernel value is computed once for all pairs. Feature counts may differ, as for [`crate::Model::decision_values`].
    ///
    /// # Errors
    ///
    /// When rows cannot be scaled, or rows of a precomputed kernel lack the value of a support vector.
    pub fn decision_values(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let parts = &self.parts;
        let queries = self.prepared(queries)?;
        let expansions: Vec<Expansion> = parts.machines.iter().map(Machine::expansion).collect();
        let narrow = if parts.kernel.is_of_products() { without_gaps_if_hollow(&parts.support, &queries)? } else { None };
        let (support, queries) = narrow.as_ref().map_or((&parts.support, &*queries), |(support, queries)| (support, queries));
        Ok(decision_table(&parts.kernel, support, &expansions, queries, par)?)
    }

    /// The label of every row of `queries`.
    ///
    /// # Errors
    ///
    /// As [`MulticlassModel::decision_values`].
    pub fn predict(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let decisions = self.decision_values(queries, par)?;
        Ok(decisions.chunks_exact(self.parts.machines.len()).map(|row| self.label(row)).collect())
    }

    /// The label that the decision values of one row elect.
    ///
    /// # Panics
    ///
    /// When there is not one value per pair.
    pub fn label(&self, decisions: &[f64]) -> f64 {
        self.parts.classes[elected(self.parts.classes.len(), decisions)]
    }

    /// The rows as the kernel of this model sees them: behind the scaler, if there is one.
    ///
    /// # Errors
    ///
    /// When they cannot be scaled.
    pub fn prepared<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
        prepared(self.parts.scaler.as_ref(), samples)
    }
}

fn check(parts: &MulticlassParts) -> Result<(), ModelError> {
    let invalid = |what, reason: String| Err(ModelError::invalid(what, reason));
    let (classes, vectors) = (parts.classes.len(), parts.support.len());
    if classes < 2 || parts.classes.iter().any(|label| !label.is_finite()) {
        return invalid("list of classes", format!("{:?}", parts.classes));
    }
    let mut sorted = parts.classes.clone();
    sorted.sort_by(f64::total_cmp);
    if let Some((twice, _)) = sorted.iter().zip(&sorted[1..]).find(|(a, b)| a == b) {
        return invalid("list of classes", format!("it has {twice} twice"));
    }
    if parts.machines.len() as u128 != classes as u128 * (classes as u128 - 1) / 2 {
        return invalid("number of machines", format!("{} for {classes} classes", parts.machines.len()));
    }
    for (p, machine) in parts.machines.iter().enumerate() {
        let ascends =
            machine.support.is_sorted_by(|a, b| a < b) && machine.support.last().is_none_or(|&k| (k as usize) < vectors);
        if machine.coef.len() != machine.support.len() || !ascends {
            return invalid("list of support vectors", format!("that of machine {p} does not fit {vectors} vectors"));
        }
        if let Some(value) = machine.coef.iter().chain([&machine.bias]).find(|v| !v.is_finite()) {
            return invalid("a coefficient or bias", format!("machine {p} has {value}"));
        }
    }
    if parts.index_base > 1 {
        return invalid("index base", format!("it is {}", parts.index_base));
    }
    match &parts.scaler {
        Some(scaler) if scaler.features() != parts.support.features() => {
            let reason = format!("it scales {} features, the model has {}", scaler.features(), parts.support.features());
            invalid("scaler", reason)
        }
        _ => Ok(()),
    }
}

fn check_record(record: &MulticlassRecord, parts: &MulticlassParts) -> Result<(), ModelError> {
    let invalid = |reason: String| Err(ModelError::invalid("training record", reason));
    if record.pairs.len() != parts.machines.len() || record.weights.len() != parts.classes.len() {
        return invalid(format!("{} pairs and {} weights", record.pairs.len(), record.weights.len()));
    }
    for (p, (pair, machine)) in record.pairs.iter().zip(&parts.machines).enumerate() {
        let vectors = pair.folded.as_ref().map_or(machine.coef.len(), Vec::len);
        let ascends = pair.rows.is_sorted_by(|a, b| a < b) && pair.rows.last().is_none_or(|&r| r < record.rows);
        if pair.rows.len() != vectors || !ascends {
            return invalid(format!("the rows of machine {p} do not ascend below {}, one for each support vector", record.rows));
        }
        if pair.folded.as_ref().is_some_and(|coef| coef.iter().any(|c| !c.is_finite()) || parts.kernel != Kernel::Linear) {
            return invalid(format!("machine {p} cannot be the sum that it says"));
        }
    }
    let width = parts.support.features() as u64;
    if parts.kernel != Kernel::Precomputed && record.features != width {
        return invalid(format!("{} features, the support vectors have {width}", record.features));
    }
    let positive = |value: f64| value > 0.0 && value.is_finite();
    let weights = record.weights.iter().all(|w| *w >= 0.0 && w.is_finite());
    if !positive(record.c) || !positive(record.eps) || !weights || record.offset.feature().is_some_and(|f| !f.is_finite()) {
        return invalid(format!(
            "C = {}, weights {:?}, eps = {}, bias {:?}",
            record.c, record.weights, record.eps, record.offset
        ));
    }
    Ok(())
}
