//! The record of a training: the data for which certificates can be recomputed.

use super::class_weights::ClassWeights;
use maxmargin_core::{Certificate, Formulation, Goal, Status};
use maxmargin_data::{Dataset, Row};
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

impl MachineRecord {
    /// Returns true if the record shows `goal` ([`Goal::met_as_kept`]).
    pub fn meets(&self, goal: Goal) -> bool {
        goal.met_as_kept(self.status, &self.certificate)
    }

    /// Returns true if a machine of this formulation converged and is no better than the function
    /// 0. Before the end of a training, no point may be.
    pub fn lacks_margin(&self, formulation: Formulation) -> bool {
        self.status == Status::Converged && formulation.lacks_margin(self.certificate.primal)
    }
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

    /// Returns true if a machine that converged is no better than the function 0, so that its
    /// decision values mean nothing ([`Formulation::lacks_margin`]).
    pub fn lacks_margin(&self) -> bool {
        self.machines.iter().any(|machine| machine.lacks_margin(self.formulation))
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

/// Returns the SHA-256 of labels and values, for data that changed after it was read. It depends on
/// the numbers alone, and not on whether zeros are stored.
pub fn numbers_sha256(data: &Dataset) -> [u8; 32] {
    let features = data.samples.features();
    let mut hash = Sha256::new();
    hash.update((features as u64).to_le_bytes());
    let mut bytes = Vec::new();
    for (i, label) in data.labels.iter().enumerate().take(data.samples.len()) {
        let row = data.samples.row(i);
        let entries = non_zeros(row);
        bytes.clear();
        bytes.extend_from_slice(&label.to_le_bytes());
        bytes.extend_from_slice(&(entries as u64).to_le_bytes());
        if 2 * entries < features {
            put_entries(row, &mut bytes);
        } else {
            put_whole(row, features, &mut bytes);
        }
        hash.update(&bytes);
    }
    hash.finalize().into()
}

fn non_zeros(row: Row) -> usize {
    match row {
        Row::Dense32(values) => values.iter().filter(|v| **v != 0.0).count(),
        Row::Dense64(values) => values.iter().filter(|v| **v != 0.0).count(),
        Row::Sparse(_, values) => values.iter().filter(|v| **v != 0.0).count(),
    }
}

/// Appends column and value of each entry of a row that is not zero.
fn put_entries(row: Row, bytes: &mut Vec<u8>) {
    row.for_each(|column, value| {
        bytes.extend_from_slice(&(column as u64).to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    });
}

/// Appends all values of a row with their zeros: half of what columns and values would take.
fn put_whole(row: Row, features: usize, bytes: &mut Vec<u8>) {
    let begin = bytes.len();
    bytes.resize(begin + 8 * features, 0);
    let (places, _) = bytes[begin..].as_chunks_mut::<8>();
    // A sum with 0 has no negative zero.
    match row {
        Row::Dense32(values) => places.iter_mut().zip(values).for_each(|(p, v)| *p = (f64::from(*v) + 0.0).to_le_bytes()),
        Row::Dense64(values) => places.iter_mut().zip(values).for_each(|(p, v)| *p = (v + 0.0).to_le_bytes()),
        Row::Sparse(columns, values) => {
            columns.iter().zip(values).for_each(|(&j, v)| places[j as usize] = (v + 0.0).to_le_bytes());
        }
    }
}

/// Returns whether `hash` is that of this data: of its text, or of its numbers. A model that was
/// updated has the latter, and its data may have been written to a text file since.
pub fn is_hash_of(hash: &[u8; 32], data: &Dataset) -> bool {
    let of_text = data.sha256 != [0; 32] && *hash == data.sha256;
    of_text || *hash == numbers_sha256(data) || *hash == entries_sha256(data)
}

/// The hash of numbers in models of programs before this one: of labels, and of columns and values
/// that are not zero.
fn entries_sha256(data: &Dataset) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((data.samples.features() as u64).to_le_bytes());
    let mut bytes = Vec::new();
    for (i, label) in data.labels.iter().enumerate().take(data.samples.len()) {
        bytes.clear();
        bytes.extend_from_slice(&label.to_le_bytes());
        put_entries(data.samples.row(i), &mut bytes);
        hash.update(&bytes);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    //! Hashes of training data.

    use super::*;
    use maxmargin_data::Samples;

    fn data(samples: Samples) -> Dataset {
        let labels = vec![1.0; samples.len()];
        Dataset::from_samples(samples, &labels).expect("a data set")
    }

    /// Two rows of four values with one entry and three.
    const VALUES: [f64; 8] = [0.0, 0.5, 0.0, 0.0, -2.0, -0.0, 1.0, 3.0];

    /// The values times a factor, dense and sparse, with a stored zero.
    fn forms(factor: f64) -> [Dataset; 2] {
        let values = VALUES.map(|v| v * factor);
        let stored = [1, 4, 5, 6, 7].map(|at: usize| values[at]);
        let sparse = Samples::from_sparse(4, vec![0, 1, 5], vec![1, 0, 1, 2, 3], stored.to_vec());
        [Samples::from_dense(2, 4, values.to_vec()), sparse].map(|samples| data(samples.expect("samples")))
    }

    #[test]
    fn a_hash_is_of_the_numbers_in_any_form() {
        // The dense values of the second are no single-precision numbers.
        let hashes = [1.0, 0.1].map(|factor| {
            let [dense, sparse] = forms(factor);
            let hash = numbers_sha256(&dense);
            assert_eq!(hash, numbers_sha256(&sparse), "{factor}");
            for data in [dense, sparse] {
                assert!(is_hash_of(&hash, &data) && is_hash_of(&entries_sha256(&data), &data), "{factor}");
            }
            hash
        });
        assert_ne!(hashes[0], hashes[1]);
    }

    #[test]
    fn another_number_has_another_hash() {
        let [first, _] = forms(1.0);
        let hash = numbers_sha256(&first);
        for (place, value) in [(1, 0.25), (2, 0.5), (7, 0.0), (5, 1e-300)] {
            let mut values = VALUES.to_vec();
            values[place] = value;
            let other = data(Samples::from_dense(2, 4, values).expect("samples"));
            assert!(numbers_sha256(&other) != hash && !is_hash_of(&hash, &other), "{place}");
        }
        let other = Dataset { labels: vec![1.0, -1.0], ..first };
        assert!(!is_hash_of(&hash, &other));
    }

    #[test]
    fn text_and_numbers_are_both_the_data() {
        let [first, _] = forms(1.0);
        let text = Dataset { sha256: [7; 32], ..first };
        assert!(is_hash_of(&[7; 32], &text) && is_hash_of(&numbers_sha256(&text), &text) && !is_hash_of(&[8; 32], &text));
        assert_eq!(data_sha256(&text), [7; 32]);
    }
}
