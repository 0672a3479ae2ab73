//! The training data that a model keeps in its file.

use crate::study::matching::positions;
use crate::update::{Change, UpdateError, solutions};
use maxmargin_data::{Dataset, Encoder, Scaler, codec};
use maxmargin_model::{Model, Parts, Record, is_hash_of};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The name of the section in a model file.
const TAG: [u8; 8] = *b"samples\0";

/// The training data of a model before scaling. Every sample has a number that never changes: 1, 2,
/// 3, … in the order in which samples were added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingData {
    /// The present training samples.
    pub data: Dataset,
    /// The number of each sample, ascending.
    pub numbers: Vec<u64>,
    /// The number of the next added sample.
    pub next: u64,
    /// The number of updates since the model was trained.
    pub updates: u64,
}

impl TrainingData {
    /// Numbers the rows of `data` from 1. They must be unscaled, even if the model has a scaler.
    pub fn new(data: Dataset) -> Self {
        let rows = data.samples.len() as u64;
        Self { data, numbers: (1..=rows).collect(), next: rows + 1, updates: 0 }
    }

    /// The training data in a model; `None` if the model keeps none.
    ///
    /// # Errors
    ///
    /// When the bytes are damaged.
    pub fn of(model: &Model) -> Result<Option<Self>, UpdateError> {
        let Some(bytes) = model.section(TAG) else { return Ok(None) };
        let mut kept: Self = codec::decode(bytes, bytes.len()).map_err(|e| UpdateError::Damaged(e.to_string()))?;
        kept.check_numbering()?;
        // The model stores the columns itself.
        kept.data.columns = model.columns().cloned().map(Arc::new);
        Ok(Some(kept))
    }

    /// Stores this data in the model.
    ///
    /// # Errors
    ///
    /// When the model was not trained on this data: its record describes other data, or its support
    /// vectors are not rows of this data scaled once by its scaler.
    pub fn put_into(&self, model: Model) -> Result<Model, UpdateError> {
        let record = model.record().ok_or(UpdateError::NoRecord)?;
        self.check(record)?;
        // Paths, which need the rows of support vectors, are for classes.
        if !model.classes().is_empty() {
            let of = self.classes(model.classes())?;
            solutions(&model, self, &*model.prepared(&self.data.samples)?, &of)?;
        }
        self.stored(model)
    }

    /// As [`TrainingData::put_into`], for a model that was made from this data.
    pub(super) fn stored(&self, model: Model) -> Result<Model, UpdateError> {
        Ok(model.with_section(TAG, codec::encode(self)?))
    }

    /// The class of each row, as an index into `known`.
    pub(super) fn classes(&self, known: &[f64]) -> Result<Vec<u32>, UpdateError> {
        positions(&self.data.labels, known).map_err(|row| UpdateError::Damaged(format!("the label of row {}", row + 1)))
    }

    /// Refuses a list that has not one number for each row.
    fn check_numbering(&self) -> Result<(), UpdateError> {
        let Self { data, numbers, next, .. } = self;
        let rows = data.samples.len();
        let ascending = numbers.is_sorted_by(|a, b| a < b) && numbers.last().is_none_or(|last| last < next);
        if data.labels.len() != rows || numbers.len() != rows || !ascending || numbers.first() == Some(&0) {
            return Err(UpdateError::Damaged("labels or numbers do not fit the rows".to_owned()));
        }
        Ok(())
    }

    /// Refuses data that the model's record does not describe.
    pub(crate) fn check(&self, record: &Record) -> Result<(), UpdateError> {
        self.data.check()?;
        self.check_numbering()?;
        let (rows, features) = (self.data.samples.len() as u64, self.data.samples.features() as u64);
        if (rows, features) != (record.rows, record.features) {
            return Err(UpdateError::OtherData(format!(
                "it has {rows} rows and {features} features, the model's {} and {}",
                record.rows, record.features
            )));
        }
        if !is_hash_of(&record.data_sha256, &self.data) {
            return Err(UpdateError::OtherData("its hash differs".to_owned()));
        }
        Ok(())
    }

    /// Refuses invalid added data, numbers without a sample, and numbers that are given twice.
    pub(super) fn check_change(&self, change: &Change) -> Result<(), UpdateError> {
        change.add.map_or(Ok(()), Dataset::check)?;
        let mut sorted = change.remove.to_vec();
        sorted.sort_unstable();
        if let Some(unknown) = sorted.iter().find(|number| self.numbers.binary_search(number).is_err()) {
            return Err(UpdateError::Number(*unknown));
        }
        sorted.windows(2).find(|pair| pair[0] == pair[1]).map_or(Ok(()), |pair| Err(UpdateError::Twice(pair[0])))
    }

    /// The rows `stay`, then those of `added`, with as many features as the model's scaler or
    /// columns have.
    pub(super) fn changed(&self, stay: &[usize], added: Option<&Dataset>, model: &Model) -> Result<Self, UpdateError> {
        // No text file has exactly these rows, so the hash is that of the values.
        let mut kept = Self {
            data: Dataset { groups: None, ..self.data.select(stay) },
            numbers: stay.iter().map(|&row| self.numbers[row]).collect(),
            next: self.next,
            updates: self.updates.saturating_add(1),
        };
        if let Some(added) = added {
            kept.data.samples = kept.data.samples.stacked(&added.samples)?;
            let Parts { encoder, scaler, .. } = model.parts();
            let known = encoder.as_ref().map(Encoder::inputs).filter(|inputs| kept.data.samples.features() > *inputs);
            let scaled = scaler.as_ref().filter(|_| encoder.is_none()).map(Scaler::features);
            if let Some(features) = known.or(scaled) {
                kept.data.samples = kept.data.samples.with_features(features);
            }
            kept.data.labels.extend_from_slice(&added.labels);
            kept.next = self.next.checked_add(added.labels.len() as u64).ok_or(UpdateError::Exhausted(self.next))?;
            kept.numbers.extend(self.next..kept.next);
        }
        Ok(kept)
    }
}
