//! The record of a training of a linear classifier, which its model keeps.

use super::engine::ColumnFit;
use super::{LinearClassifier, LinearMachineReport, LinearObjective, TrainingSet};
use maxmargin_core::{BiasTerm, Goal};
use maxmargin_cv::CvError;
use maxmargin_data::codec;
use maxmargin_model::{Model, ModelError};
use serde::{Deserialize, Serialize};

/// The name of the section in a model file.
const TAG: [u8; 8] = *b"linear\0\0";

/// The problem that a linear classifier solved, and how far it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearRecord {
    /// The objective.
    pub objective: LinearObjective,
    /// The cost before weights.
    pub c: f64,
    /// The bias.
    pub bias_term: BiasTerm,
    /// The factor of C for each class of the model.
    pub weights: Vec<f64>,
    /// The factor of C for each sample.
    pub sample_weights: Option<Vec<f64>>,
    /// The goal of the training.
    pub goal: Goal,
    /// The number of training samples.
    pub rows: u64,
    /// The number of their features, scaled and encoded as the model does it.
    pub features: u64,
    /// The hash of the training data ([`data_sha256`](maxmargin_model::data_sha256)).
    pub data_sha256: [u8; 32],
    /// The machines; one for Crammer and Singer.
    pub machines: Vec<LinearMachineReport>,
    /// The dual variables other than 0 of each class, by row (Crammer and Singer).
    alpha: Vec<Vec<(u32, f64)>>,
}

/// The record of a linear model is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of the linear training is damaged: {0}")]
pub struct LinearRecordError(String);

impl LinearRecord {
    /// Returns the record of a training on data with this hash.
    pub(super) fn new(classifier: &LinearClassifier, set: &TrainingSet, hash: [u8; 32], fits: &[ColumnFit]) -> Self {
        let all_classes = classifier.objective == LinearObjective::CrammerSinger;
        let count = if all_classes { 1 } else { fits.len() };
        let nonzeros = |fit: &ColumnFit| (0..).zip(fit.alpha.iter().copied()).filter(|of| of.1 != 0.0).collect();
        Self {
            objective: classifier.objective,
            c: classifier.c,
            bias_term: classifier.bias_term,
            weights: set.weights.to_vec(),
            sample_weights: classifier.sample_weights.clone(),
            goal: classifier.stop.goal,
            rows: set.samples.len() as u64,
            features: set.samples.features() as u64,
            data_sha256: hash,
            machines: fits.iter().take(count).map(|fit| fit.report.clone()).collect(),
            alpha: if all_classes { fits.iter().map(nonzeros).collect() } else { Vec::new() },
        }
    }

    /// The record in a model; `None` if it has none.
    ///
    /// # Errors
    ///
    /// When the bytes are damaged, or do not belong to the model.
    pub fn of(model: &Model) -> Result<Option<Self>, LinearRecordError> {
        let Some(bytes) = model.section(TAG) else { return Ok(None) };
        let record: Self = codec::decode(bytes, bytes.len()).map_err(|error| LinearRecordError(error.to_string()))?;
        record.check(model)?;
        Ok(Some(record))
    }

    /// Refuses a record that does not fit the model.
    fn check(&self, model: &Model) -> Result<(), LinearRecordError> {
        let classes = model.classes().len();
        let all_classes = self.objective == LinearObjective::CrammerSinger;
        let machines = if all_classes { 1 } else { model.machines().len() };
        let fits = self.weights.len() == classes
            && self.machines.len() == machines
            && self.alpha.len() == if all_classes { classes } else { 0 }
            && self.alpha.iter().flatten().all(|&(row, _)| u64::from(row) < self.rows)
            && self.sample_weights.as_ref().is_none_or(|weights| weights.len() as u64 == self.rows);
        if fits { Ok(()) } else { Err(LinearRecordError("it does not fit the model".to_owned())) }
    }

    /// Stores the record in the model.
    pub(super) fn put_into(&self, model: Model) -> Result<Model, CvError> {
        let bytes =
            codec::encode(self).map_err(|error| ModelError::Invalid { what: "linear record", reason: error.to_string() })?;
        Ok(model.with_section(TAG, bytes))
    }

    /// Returns the dual variables of all rows, `alpha[i · classes + m]` for row `i` and class `m`.
    pub(super) fn all_alpha(&self, rows: usize) -> Vec<f64> {
        let classes = self.alpha.len();
        let mut all = vec![0.0; rows * classes];
        for (class, of) in self.alpha.iter().enumerate() {
            of.iter().for_each(|&(row, alpha)| all[row as usize * classes + class] = alpha);
        }
        all
    }

    /// Returns the classifier of the training.
    pub(super) fn classifier(&self) -> LinearClassifier {
        LinearClassifier {
            bias_term: self.bias_term,
            sample_weights: self.sample_weights.clone(),
            ..LinearClassifier::of(self.objective, self.c)
        }
    }
}
