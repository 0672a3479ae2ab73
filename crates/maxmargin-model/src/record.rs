//! How a model was trained: what a certificate can be checked against.

use maxmargin_core::{Certificate, Status};
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
}

/// What identifies training data: the SHA-256 of its text, or, for data that never was text (generated), of its numbers.
pub fn data_sha256(data: &Dataset) -> [u8; 32] {
    if data.sha256 != [0; 32] {
        return data.sha256;
    }
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
