//! Preparation of samples before a kernel uses them: imputation of missing values in tables and
//! scaling of features, both fitted to training rows.

mod encoder;
mod impute;
pub mod ranges;
pub mod scale;

pub use encoder::Encoder;
pub use impute::Impute;

use crate::dataset::Dataset;
use crate::samples::Samples;
use scale::{ScaleError, ScaleMethod, Scaler};
use std::borrow::Cow;
use std::sync::Arc;

/// Options for the preparation of samples, which is then fitted to training rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preparing {
    /// The imputation method; without one, missing values are errors.
    pub impute: Option<Impute>,
    /// The scaling method. In a table only numbers are scaled: words and truth values remain 0 and
    /// 1.
    pub scale: Option<ScaleMethod>,
}

/// A preparation fitted to training rows, for any samples. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preparation {
    /// The encoder of the columns of a table.
    pub encoder: Option<Encoder>,
    /// The scaler, which is applied after the encoder.
    pub scaler: Option<Scaler>,
}

impl Preparing {
    /// Fits a preparation to all rows of `data`.
    ///
    /// # Errors
    ///
    /// The errors of [`Preparation::apply`] for these rows, and that of [`ScaleMethod::check`].
    pub fn fit(self, data: &Dataset) -> Result<Preparation, ScaleError> {
        self.fit_rows(data, 0..data.samples.len())
    }

    /// Fits a preparation to some rows of `data`, such as those of a training fold, so that the
    /// test fold has no influence.
    ///
    /// ```
    /// use maxmargin_data::RunControl;
    /// use maxmargin_data::prepare::{Impute, Preparing};
    /// use maxmargin_data::table::{self, TableOptions};
    ///
    /// let options = TableOptions { missing: true, ..TableOptions::default() };
    /// let text = b"size,y\n1,0\n3,1\n,0\n90,1\n";
    /// let data = table::read(text, &options, &RunControl::unlimited())?.data;
    /// let preparing = Preparing { impute: Some(Impute::Mean), scale: None };
    /// let training = preparing.fit_rows(&data, 0..3)?; // the last row is tested
    /// assert_eq!(training.apply(&data.samples)?.row(2).entries(), [(0, 2.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Preparation::apply`] for these rows.
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn fit_rows(self, data: &Dataset, rows: impl Iterator<Item = usize> + Clone) -> Result<Preparation, ScaleError> {
        self.scale.map_or(Ok(()), ScaleMethod::check)?;
        let encoder = data.columns.as_ref().map(|columns| Encoder::fit(data, Arc::clone(columns), rows.clone(), self.impute));
        let Some(method) = self.scale else { return Ok(Preparation { encoder, scaler: None }) };
        let scaler = match &encoder {
            None => Scaler::fit_rows(&data.samples, rows, method),
            Some(encoder) => {
                // Other rows may contain values that cannot be encoded.
                let own: Vec<usize> = rows.collect();
                let selected = data.samples.select(&own);
                let encoded = encoder.apply(&selected).map_err(|error| error.in_order(&own))?;
                Scaler::fit(&encoded, method).keeping(|j| !encoder.is_number(j))
            }
        };
        Ok(Preparation { encoder, scaler: Some(scaler) })
    }
}

impl Preparation {
    /// Prepares samples for a kernel.
    ///
    /// # Errors
    ///
    /// When a value is missing and there is no imputation, very sparse data would fill up, or a
    /// scaled value is not finite.
    pub fn apply<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ScaleError> {
        apply(self.encoder.as_ref(), self.scaler.as_ref(), samples)
    }

    /// Multiplies the prepared features by factors.
    ///
    /// # Panics
    ///
    /// When the number of factors differs from the number of prepared features.
    #[must_use]
    pub fn stretched(self, factors: &[f64]) -> Self {
        Self { scaler: Some(Scaler::stretched(self.scaler, factors)), ..self }
    }

    /// Centres prepared features that lie far from 0, if there is no scaling. `samples` is all
    /// data, before the preparation: linear problems with a free bias do not depend on the centre.
    ///
    /// # Errors
    ///
    /// As [`Preparation::apply`].
    pub fn centred(self, samples: &Samples) -> Result<Self, ScaleError> {
        if self.scaler.is_some() {
            return Ok(self);
        }
        let scaler = Scaler::centre(&*self.apply(samples)?);
        Ok(Self { scaler, ..self })
    }

    /// Returns whether both preparations change `samples` in the same way. Imputed values of
    /// columns without gaps are ignored.
    pub fn is_same_for(&self, other: &Self, samples: &Samples) -> bool {
        let same = match (&self.encoder, &other.encoder) {
            (Some(own), Some(other)) => own.is_same_for(other, samples),
            (own, other) => own.is_none() && other.is_none(),
        };
        same && self.scaler == other.scaler
    }
}

/// [`Preparation::apply`] for its separate parts.
///
/// # Errors
///
/// As [`Preparation::apply`].
pub fn apply<'s>(
    encoder: Option<&Encoder>,
    scaler: Option<&Scaler>,
    samples: &'s Samples,
) -> Result<Cow<'s, Samples>, ScaleError> {
    let encoded = encoder.map_or(Ok(Cow::Borrowed(samples)), |encoder| encoder.apply(samples))?;
    Ok(match scaler {
        Some(scaler) => Cow::Owned(scaler.apply(&encoded)?),
        None => encoded,
    })
}

#[cfg(test)]
mod tests;
