//! How a model was trained: what a certificate can be checked against.

use crate::model::Model;
use maxmargin_core::{Certificate, Dual, Loss, Offset, Solution, Status};
use maxmargin_data::Dataset;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The training that made a model. Claims, not proofs: `verify` recomputes all of them from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// C before class weights.
    pub c: f64,
    /// Factors of C for the negative and the positive class.
    pub weights: [f64; 2],
    /// Tolerance of the KKT violation that was asked for.
    pub eps: f64,
    /// Rows of the training data.
    pub rows: u64,
    /// Columns of the training data.
    pub features: u64,
    /// [`data_sha256`] of the training data.
    pub data_sha256: [u8; 32],
    /// Row (from 0) of each support vector in the training data, ascending.
    pub support_rows: Vec<u64>,
    /// Support vectors at their bound `C`.
    pub bounded: u64,
    /// How the solver stopped.
    pub status: Status,
    /// Solver iterations.
    pub iterations: u64,
    /// What the certificate said.
    pub certificate: Certificate,
    /// The loss that was minimised.
    pub loss: Loss,
    /// What the bias is.
    pub offset: Offset,
    /// For a linear model that keeps its weights instead of its support vectors: the dual solution behind them, `s α` of each row of
    /// [`Record::support_rows`]; `w` is the sum of these rows with these coefficients.
    pub folded: Option<Vec<f64>>,
}

/// What was asked of a training: `C`, class weights, tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// C before class weights.
    pub c: f64,
    /// Factors of C for the negative and the positive class.
    pub weights: [f64; 2],
    /// Tolerance of the KKT violation.
    pub eps: f64,
}

impl Record {
    /// The record of a solution over all rows of `data`: Gram index `i` of `dual` is row `i`.
    ///
    /// # Panics
    ///
    /// When the solution is of another problem.
    pub fn of(data: &Dataset, asked: Asked, dual: &Dual, solution: &Solution, certificate: Certificate) -> Self {
        let support = Model::support_of(dual, solution);
        Self {
            c: asked.c,
            weights: asked.weights,
            eps: asked.eps,
            rows: data.samples.len() as u64,
            features: data.samples.features() as u64,
            data_sha256: data_sha256(data),
            support_rows: support.iter().map(|s| s.row as u64).collect(),
            bounded: support.iter().filter(|s| s.bounded).count() as u64,
            status: solution.status,
            iterations: solution.work.iterations,
            certificate,
            loss: Loss::Hinge,
            offset: Offset::Free,
            folded: None,
        }
    }

    /// The same record for another loss and bias than those of the C-SVC.
    #[must_use]
    pub fn of_problem(self, loss: Loss, offset: Offset) -> Self {
        Self { loss, offset, ..self }
    }

    /// The record of a solution whose model keeps its weights alone ([`Model::from_weights`]).
    ///
    /// # Panics
    ///
    /// As [`Record::of`].
    pub fn of_weights(
        data: &Dataset,
        asked: Asked,
        (loss, offset): (Loss, Offset),
        dual: &Dual,
        solution: &Solution,
        certificate: Certificate,
    ) -> Self {
        let coef = Model::support_of(dual, solution).iter().map(|s| s.coef).collect();
        Self { folded: Some(coef), ..Self::of(data, asked, dual, solution, certificate).of_problem(loss, offset) }
    }

    /// What was asked of the training.
    pub fn asked(&self) -> Asked {
        Asked { c: self.c, weights: self.weights, eps: self.eps }
    }
}

/// What identifies training data: the SHA-256 of its text, or, for data that never was text (generated), of its numbers.
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
