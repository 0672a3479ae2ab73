//! The training data that a model keeps in its file.

use crate::study::matching::positions;
use crate::update::{UpdateError, solutions};
use maxmargin_data::{Dataset, Encoder, Scaler, codec};
use maxmargin_model::{Model, Parts, Record, data_sha256, numbers_sha256};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whose section of a model file this is.
const TAG: [u8; 8] = *b"samples\0";

/// The training data of a model, as it came (before any scaling), with a number for every sample
/// that never changes: 1, 2, 3, … in the order in which samples came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingData {
    /// The samples that the model is trained on now.
    pub data: Dataset,
    /// The number of each, ascending.
    pub numbers: Vec<u64>,
    /// The number of the next sample to come.
    pub next: u64,
    /// How often the model has been updated since it was trained.
    pub updates: u64,
}

impl TrainingData {
    /// Numbers the rows of `data` from 1. The model's scaler, if there is one, must not have been
    /// applied to them.
    pub fn new(data: Dataset) -> Self {
        let rows = data.samples.len() as u64;
        Self { data, numbers: (1..=rows).collect(), next: rows + 1, updates: 0 }
    }

    /// What a model keeps; `None` when it keeps nothing.
    ///
    /// # Errors
    ///
    /// When the bytes are not what they should be.
    pub fn of(model: &Model) -> Result<Option<Self>, UpdateError> {
        let Some(bytes) = model.section(TAG) else { return Ok(None) };
        let mut kept: Self = codec::decode(bytes, bytes.len()).map_err(|e| UpdateError::Damaged(e.to_string()))?;
        kept.check_numbering()?;
        // The model has them besides.
        kept.data.columns = model.columns().cloned().map(Arc::new);
        Ok(Some(kept))
    }

    /// The model with this data in it.
    ///
    /// # Errors
    ///
    /// When this is not what the model was trained on: other data than its record tells of, or data
    /// without the scaling that its support vectors have (or with it, and they have it twice).
    pub fn put_into(&self, model: Model) -> Result<Model, UpdateError> {
        let record = model.record().ok_or(UpdateError::NoRecord)?;
        self.check(record)?;
        let of = self.classes(model.classes())?;
        solutions(&model, self, &*model.prepared(&self.data.samples)?, &of)?;
        self.stored(model)
    }

    /// As [`TrainingData::put_into`], for a model that was made of this data.
    pub(super) fn stored(&self, model: Model) -> Result<Model, UpdateError> {
        Ok(model.with_section(TAG, codec::encode(self)?))
    }

    /// The class of each row, by place in `known`.
    pub(super) fn classes(&self, known: &[f64]) -> Result<Vec<u32>, UpdateError> {
        positions(&self.data.labels, known).map_err(|row| UpdateError::Damaged(format!("the label of row {}", row + 1)))
    }

    /// Refuses numbers that are not one for each row.
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
        self.check_numbering()?;
        let (rows, features) = (self.data.samples.len() as u64, self.data.samples.features() as u64);
        if (rows, features) != (record.rows, record.features) {
            return Err(UpdateError::OtherData(format!(
                "it has {rows} rows and {features} features, the model's {} and {}",
                record.rows, record.features
            )));
        }
        // An updated model has the hash of numbers; its data may have been written to a text since.
        if ![data_sha256(&self.data), numbers_sha256(&self.data)].contains(&record.data_sha256) {
            return Err(UpdateError::OtherData("its hash differs".to_owned()));
        }
        Ok(())
    }

    /// Refuses numbers that no sample has, or that are named twice.
    pub(super) fn check_numbers(&self, numbers: &[u64]) -> Result<(), UpdateError> {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        if let Some(unknown) = sorted.iter().find(|number| self.numbers.binary_search(number).is_err()) {
            return Err(UpdateError::Number(*unknown));
        }
        sorted.windows(2).find(|pair| pair[0] == pair[1]).map_or(Ok(()), |pair| Err(UpdateError::Twice(pair[0])))
    }

    /// The rows `stay` and those of `added` below them; as many features as the scaler of the model
    /// knows, or its columns have.
    pub(super) fn changed(&self, stay: &[usize], added: Option<&Dataset>, model: &Model) -> Result<Self, UpdateError> {
        // No text has these rows: the hash is that of the numbers.
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
