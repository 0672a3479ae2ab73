//! The record of a training: the data for which certificates can be recomputed.

use super::class_weights::ClassWeights;
use maxmargin_core::{Certificate, Formulation, Goal, Status};
use maxmargin_data::Dataset;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The record of the training of a model. It contains claims; `verify` recomputes them from the
/// data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The formulation that was solved, with C before class weights.
    pub formulation: Formulation,
    /// The factor of C for each class, in the order of [`crate::Parts::classes`].
    pub weights: Vec<f64>,
    /// The rule by which the training set determines a part of `weights`.
    pub class_weights: ClassWeights,
    /// The factors that were given besides the rule, in the same order.
    pub given_weights: Vec<f64>,
    /// The factor of C for each row of the training data, if sample weights were given.
    pub sample_weights: Option<Vec<f64>>,
    /// The requested KKT tolerance; infinite if only a duality gap was requested.
    pub eps: f64,
    /// The requested relative duality gap, if there was one.
    pub gap: Option<f64>,
    /// The short name of the solver, such as `smo`; empty if unknown.
    pub solver: String,
    /// The number of rows of the training data.
    pub rows: u64,
    /// The number of features of the training data.
    pub features: u64,
    /// [`data_sha256`] of the training data.
    pub data_sha256: [u8; 32],
    /// The record of each machine.
    pub machines: Vec<MachineRecord>,
}

/// The training of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// The row (from 0) of each support vector in the training data, ascending.
    pub rows: Vec<u64>,
    /// The dual solution `s α` of each row in `rows`, for a linear machine that stores its weights
    /// instead of its support vectors. The weights are the sum of these rows with these
    /// coefficients.
    pub folded: Option<Vec<f64>>,
    /// The number of bounded support vectors, those with `α = C`.
    pub bounded: u64,
    /// The status of the solver at its end.
    pub status: Status,
    /// The number of solver iterations.
    pub iterations: u64,
    /// The certificate of the solution.
    pub certificate: Certificate,
}

impl Record {
    /// Returns a record of a training on `data` to `goal`, without machines and without the name of
    /// a solver. `hash` is the [`data_sha256`] of the data, and `weights` has one given factor of C
    /// for each class.
    pub fn new(data: &Dataset, hash: [u8; 32], formulation: Formulation, weights: Vec<f64>, goal: Goal) -> Self {
        Self {
            formulation,
            given_weights: weights.clone(),
            weights,
            class_weights: ClassWeights::Given,
            sample_weights: None,
            eps: goal.kkt().unwrap_or(f64::INFINITY),
            gap: goal.gap(),
            solver: String::new(),
            rows: data.samples.len() as u64,
            features: data.samples.features() as u64,
            data_sha256: hash,
            machines: Vec::new(),
        }
    }

    /// Returns the record of a training whose factors of C come from the given ones and from this
    /// rule, which has the factors `own` in the training set.
    #[must_use]
    pub fn with_class_weights(mut self, rule: ClassWeights, own: &[f64]) -> Self {
        self.class_weights = rule;
        self.weights = self.given_weights.iter().zip(own).map(|(given, own)| given * own).collect();
        self
    }

    /// The requested goal.
    pub fn goal(&self) -> Goal {
        match self.gap {
            Some(gap) if self.eps == f64::INFINITY => Goal::Gap(gap),
            Some(gap) => Goal::Both { kkt: self.eps, gap },
            None => Goal::Kkt(self.eps),
        }
    }

    /// The machine with the greatest KKT violation, the first of equals; `None` without machines.
    pub fn worst(&self) -> Option<&MachineRecord> {
        // `max_by` returns the last of equal maxima; the reversed order makes it the first.
        self.machines.iter().rev().max_by(|a, b| a.certificate.kkt.total_cmp(&b.certificate.kkt))
    }

    /// The least favourable status of all machines.
    pub fn status(&self) -> Status {
        self.machines.iter().fold(Status::Converged, |worst, machine| worst.worse(machine.status))
    }

    /// The number of solver iterations of all machines.
    pub fn iterations(&self) -> u64 {
        self.machines.iter().fold(0, |sum, machine| sum.saturating_add(machine.iterations))
    }
}

/// Returns the hash that identifies training data: the SHA-256 of its text, or of its numbers if it
/// was not read from text.
pub fn data_sha256(data: &Dataset) -> [u8; 32] {
    if data.sha256 == [0; 32] { numbers_sha256(data) } else { data.sha256 }
}

/// Returns the SHA-256 of labels and non-zero values, for data that changed after it was read.
pub fn numbers_sha256(data: &Dataset) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((data.samples.features() as u64).to_le_bytes());
    let mut bytes = Vec::new();
    for (i, label) in data.labels.iter().enumerate().take(data.samples.len()) {
        bytes.clear();
        bytes.extend_from_slice(&label.to_le_bytes());
        data.samples.row(i).for_each(|column, value| {
            bytes.extend_from_slice(&(column as u64).to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        });
        hash.update(&bytes);
    }
    hash.finalize().into()
}
