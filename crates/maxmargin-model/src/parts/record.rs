//! How a model was trained: what a certificate can be checked against.

use maxmargin_core::{Certificate, Formulation, Goal, Status};
use maxmargin_data::Dataset;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The training that made a model. Claims, not proofs: `verify` recomputes them from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was solved, with C before class weights.
    pub formulation: Formulation,
    /// Factor of C for each class, in the order of [`crate::Parts::classes`].
    pub weights: Vec<f64>,
    /// Factor of C for each row of the training data, where there were any.
    pub sample_weights: Option<Vec<f64>>,
    /// KKT violation that was asked for; infinite where a gap alone was.
    pub eps: f64,
    /// Relative duality gap that was asked for, where one was.
    pub gap: Option<f64>,
    /// Short name of the solver, such as `smo`; empty where a file does not tell.
    pub solver: String,
    /// Rows of the training data.
    pub rows: u64,
    /// Columns of the training data.
    pub features: u64,
    /// [`data_sha256`] of the training data.
    pub data_sha256: [u8; 32],
    /// One per machine.
    pub machines: Vec<MachineRecord>,
}

/// The training of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// Row (from 0) of each support vector in the training data, ascending.
    pub rows: Vec<u64>,
    /// For a linear machine that keeps its weights instead of its support vectors: the dual
    /// solution behind them, `s α` of each row; the weights are the sum of these rows with these
    /// coefficients.
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

impl Record {
    /// A record of trainings on `data` that has no machines yet, asked for `goal`: no name of a
    /// solver.
    ///
    /// `weights` has one factor of C for each class.
    pub fn new(data: &Dataset, formulation: Formulation, weights: Vec<f64>, goal: Goal) -> Self {
        Self {
            formulation,
            weights,
            sample_weights: None,
            eps: goal.kkt().unwrap_or(f64::INFINITY),
            gap: goal.gap(),
            solver: String::new(),
            rows: data.samples.len() as u64,
            features: data.samples.features() as u64,
            data_sha256: data_sha256(data),
            machines: Vec::new(),
        }
    }

    /// What was asked for.
    pub fn goal(&self) -> Goal {
        match self.gap {
            Some(gap) if self.eps == f64::INFINITY => Goal::Gap(gap),
            Some(gap) => Goal::Both { kkt: self.eps, gap },
            None => Goal::Kkt(self.eps),
        }
    }

    /// The machine with the greatest KKT violation, the first of equals; none where there are no
    /// machines.
    pub fn worst(&self) -> Option<&MachineRecord> {
        // The last of equal maxima would win otherwise.
        self.machines.iter().rev().max_by(|a, b| a.certificate.kkt.total_cmp(&b.certificate.kkt))
    }

    /// The least favourable status of all machines.
    pub fn status(&self) -> Status {
        self.machines.iter().fold(Status::Converged, |worst, machine| worst.worse(machine.status))
    }

    /// Solver iterations of all machines.
    pub fn iterations(&self) -> u64 {
        self.machines.iter().fold(0, |sum, machine| sum.saturating_add(machine.iterations))
    }
}

/// What identifies training data: the SHA-256 of its text, or, for data that never was text
/// (generated), of its numbers.
pub fn data_sha256(data: &Dataset) -> [u8; 32] {
    if data.sha256 == [0; 32] { numbers_sha256(data) } else { data.sha256 }
}

/// The SHA-256 of labels and non-zero values: that of data which changed after it was read.
pub fn numbers_sha256(data: &Dataset) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((data.samples.features() as u64).to_le_bytes());
    for (i, label) in data.labels.iter().enumerate().take(data.samples.len()) {
        hash.update(label.to_le_bytes());
        data.samples.row(i).for_each(|column, value| {
            hash.update((column as u64).to_le_bytes());
            hash.update(value.to_le_bytes());
        });
    }
    hash.finalize().into()
}
