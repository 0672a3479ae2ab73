//! The preparation of samples: how options ask for it, and data that are prepared once, for a look
//! at them and for the trainings after it.

use crate::run::error::CvError;
use crate::study::TrainOptions;
use maxmargin_core::{BiasTerm, Formulation, TargetKind};
use maxmargin_data::{Dataset, FeatureRanges, Preparation, Preparing, RunControl, Samples, inspect};
use maxmargin_kernel::{Diagnosis, Kernel, KernelGram, diagnose};
use std::borrow::Cow;
use std::sync::Arc;

/// Approximate number of samples of the kernel matrix of [`PreparedData::diagnose`].
const LOOKED_AT: usize = 2000;

/// Entries of that matrix that are inspected.
const PROBED: usize = 500;

/// The options of a preparation. Equal ones prepare the same rows in the same way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PreparationOptions {
    preparing: Preparing,
    /// Factors of the prepared features.
    factors: Option<Arc<[f64]>>,
    /// True if features that lie far from 0 are centred: a shift of all samples changes the bias of
    /// the machines and nothing else, because the kernel is linear and the coefficients of each
    /// machine have the sum 0.
    centres: bool,
}

/// Checks that there is a positive factor for each feature.
pub(crate) fn check_factors(factors: &[f64], features: usize) -> Result<(), CvError> {
    if factors.len() != features {
        return Err(CvError::Factors { found: factors.len(), features });
    }
    match factors.iter().position(|factor| !(factor.is_normal() && *factor > 0.0)) {
        Some(feature) => Err(CvError::Factor { feature, value: factors[feature] }),
        None => Ok(()),
    }
}

impl PreparationOptions {
    pub(crate) fn new(options: &TrainOptions, formulation: Formulation) -> Self {
        let TrainOptions { impute, scale, feature_weights: factors, kernel, .. } = options;
        let free = formulation.bias_term() == BiasTerm::Free && formulation.target_kind() != TargetKind::Nothing;
        Self {
            preparing: Preparing { impute: *impute, scale: *scale },
            factors: factors.clone(),
            centres: free && *kernel == Kernel::Linear && scale.is_none() && factors.is_none(),
        }
    }

    /// Fits a preparation to some rows.
    pub(crate) fn fit(&self, data: &Dataset, rows: impl Iterator<Item = usize> + Clone) -> Result<Preparation, CvError> {
        let found = self.preparing.fit_rows(data, rows)?;
        if self.centres {
            return Ok(found.centred(&data.samples)?);
        }
        let Some(factors) = &self.factors else { return Ok(found) };
        let features = found.encoder.as_ref().map_or(data.samples.features(), |encoder| encoder.columns().width());
        check_factors(factors, features)?;
        Ok(found.stretched(factors))
    }

    /// Prepares all samples by their own statistics.
    pub(crate) fn prepare(self, data: &Dataset) -> Result<PreparedData<'_>, CvError> {
        let preparation = self.fit(data, 0..data.samples.len())?;
        let samples = preparation.apply(&data.samples)?;
        Ok(PreparedData { data, options: self, preparation, samples })
    }
}

/// Samples of a data set, filled in and scaled by the statistics of all of them. Trainings on these
/// data with the same options use them as they are.
#[derive(Clone, Debug)]
pub struct PreparedData<'d> {
    data: &'d Dataset,
    options: PreparationOptions,
    pub(crate) preparation: Preparation,
    pub(crate) samples: Cow<'d, Samples>,
}

impl<'d> PreparedData<'d> {
    /// Returns the data as they were given.
    pub fn data(&self) -> &'d Dataset {
        self.data
    }

    /// Returns how the samples were prepared.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Returns the prepared samples.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Returns the ranges of the features, before features that lie far from 0 are centred.
    ///
    /// # Errors
    ///
    /// When the samples cannot be encoded.
    pub fn ranges(&self) -> Result<FeatureRanges, CvError> {
        if !self.options.centres || self.preparation.scaler.is_none() {
            return Ok(inspect(&self.samples));
        }
        let uncentred = Preparation { scaler: None, ..self.preparation.clone() };
        Ok(inspect(&*uncentred.apply(&self.data.samples)?))
    }

    /// Returns statistics of a part of the kernel matrix; `None` if the kernel refuses the samples.
    /// `seed` determines the entries.
    pub fn diagnose(&self, kernel: &Kernel, seed: u64) -> Option<Diagnosis> {
        let step = self.samples.len().div_ceil(LOOKED_AT).max(1);
        let some: Vec<usize> = (0..self.samples.len()).step_by(step).collect();
        let gram = KernelGram::new(&self.samples.select(&some), kernel.clone(), &RunControl::unlimited()).ok()?;
        Some(diagnose(&gram, PROBED, seed))
    }

    /// Returns true if these are the samples of `data`, prepared by these options.
    pub(crate) fn serves(&self, data: &Dataset, options: &PreparationOptions) -> bool {
        std::ptr::eq(self.data, data) && self.options == *options
    }
}

impl TrainOptions {
    /// Fills in and scales data as a training does.
    ///
    /// # Errors
    ///
    /// When the data cannot be prepared by these options.
    pub fn prepare<'d>(&self, data: &'d Dataset) -> Result<PreparedData<'d>, CvError> {
        PreparationOptions::new(self, self.resolved_formulation()).prepare(data)
    }
}
