//! What is done to samples before a kernel sees them: gaps of tables filled, features scaled, both
//! as training rows show it.

mod encoder;
mod impute;
pub mod ranges;
pub mod scale;

pub use encoder::{Encoder, EncoderBefore9};
pub use impute::Impute;

use crate::dataset::Dataset;
use crate::samples::Samples;
use scale::{Method, ScaleError, Scaler};
use std::borrow::Cow;
use std::sync::Arc;

/// How samples are prepared; what with, the rows of a training say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preparing {
    /// How gaps are filled; without it they are errors.
    pub impute: Option<Impute>,
    /// How features are scaled. Of a table only its numbers are: words and truths stay 0 and 1.
    pub scale: Option<Method>,
}

/// What training rows showed, and what is done to any samples by it. The default does nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preparation {
    /// Of the columns of a table.
    pub encoder: Option<Encoder>,
    /// Behind the encoder.
    pub scaler: Option<Scaler>,
}

impl Preparing {
    /// What all rows of `data` show.
    ///
    /// # Errors
    ///
    /// As [`Preparation::apply`] to them.
    pub fn fit(self, data: &Dataset) -> Result<Preparation, ScaleError> {
        self.fit_rows(data, 0..data.samples.len())
    }

    /// What some rows of `data` show: those of a training fold, so that the test fold stays unseen.
    ///
    /// ```
    /// use maxmargin_data::prepare::{Impute, Preparing};
    /// use maxmargin_data::table::{self, TableOptions};
    ///
    /// let options = TableOptions { missing: true, ..TableOptions::default() };
    /// let data = table::read(b"size,y\n1,0\n3,1\n,0\n90,1\n", &options)?.data;
    /// let preparing = Preparing { impute: Some(Impute::Mean), scale: None };
    /// let training = preparing.fit_rows(&data, 0..3)?; // the last row is tested
    /// assert_eq!(training.apply(&data.samples)?.row(2).entries(), [(0, 2.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Preparation::apply`] to them.
    ///
    /// # Panics
    ///
    /// When a row is out of range.
    pub fn fit_rows(self, data: &Dataset, rows: impl Iterator<Item = usize> + Clone) -> Result<Preparation, ScaleError> {
        let encoder = data.columns.as_ref().map(|columns| Encoder::fit(data, Arc::clone(columns), rows.clone(), self.impute));
        let Some(method) = self.scale else { return Ok(Preparation { encoder, scaler: None }) };
        let scaler = match &encoder {
            None => Scaler::fit_rows(&data.samples, rows, method),
            Some(encoder) => {
                // Rows that are not asked for may have what cannot be encoded.
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
    /// The samples as a kernel sees them.
    ///
    /// # Errors
    ///
    /// When a value is missing that nobody fills in, very sparse data would fill up, or a scaled
    /// value is not finite.
    pub fn apply<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ScaleError> {
        apply(self.encoder.as_ref(), self.scaler.as_ref(), samples)
    }

    /// Features as a kernel sees them times these factors.
    ///
    /// # Panics
    ///
    /// When there are not as many factors as such features.
    #[must_use]
    pub fn stretched(self, factors: &[f64]) -> Self {
        Self { scaler: Some(Scaler::stretched(self.scaler, factors)), ..self }
    }

    /// Whether this does to `samples` what `other` does: fillings of columns without gaps count for
    /// nothing.
    pub fn is_same_for(&self, other: &Self, samples: &Samples) -> bool {
        let same = match (&self.encoder, &other.encoder) {
            (Some(own), Some(other)) => own.is_same_for(other, samples),
            (own, other) => own.is_none() && other.is_none(),
        };
        same && self.scaler == other.scaler
    }
}

/// [`Preparation::apply`] for who has its parts.
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
