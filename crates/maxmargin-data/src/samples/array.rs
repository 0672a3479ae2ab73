//! Samples from a borrowed array, in the smallest form without a copy in between.

use super::compact::{compressed, is_single, prefers_dense};
use super::{Samples, SamplesError, Storage};
use crate::run::RunControl;

/// Values between two checks for cancellation.
const CHUNK: usize = 1 << 16;

/// The storage of the samples of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayForm {
    /// Dense rows, for samples that are read once.
    Dense,
    /// The form of [`Samples::compact`].
    Smallest,
}

/// The properties of an array that decide how it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contents {
    /// Number of values that are not 0.
    entries: usize,
    /// All values are exact in `f32`.
    pub(super) single: bool,
}

impl Samples {
    /// Copies row-major `values` of either width. The array is read twice and its samples are
    /// written once: memory that is touched for the first time costs more than both.
    ///
    /// ```
    /// use maxmargin_data::samples::ArrayForm;
    /// use maxmargin_data::{RunControl, Samples};
    ///
    /// let array = [1.0_f32, 2.0, 0.5, 0.0];
    /// let samples = Samples::from_array(&array, 2, 2, ArrayForm::Dense, &RunControl::unlimited())?;
    /// assert_eq!(samples.row(1).entries(), [(0, 0.5)]);
    /// # Ok::<(), maxmargin_data::SamplesError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the shape does not match, a value is not finite, or `control` cancels the copy.
    pub fn from_array<T: Copy + Into<f64>>(
        values: &[T],
        rows: usize,
        features: usize,
        form: ArrayForm,
        control: &RunControl,
    ) -> Result<Self, SamplesError> {
        if rows.checked_mul(features) != Some(values.len()) {
            return Err(SamplesError::Shape { values: values.len(), rows, features });
        }
        let Contents { entries, single } = contents(values, features, control)?;
        // Column numbers must fit in u32; a wider matrix stays dense.
        let dense =
            form == ArrayForm::Dense || prefers_dense(rows, features, entries, single) || u32::try_from(features).is_err();
        let storage = match (dense, single) {
            (true, true) => Storage::Dense32(copied(values, |value| value as f32, control)?),
            (true, false) => Storage::Dense64(copied(values, |value| value, control)?),
            (false, _) => Storage::Sparse(compressed(values, rows, features, entries, control)?),
        };
        Ok(Self::from_parts(rows, features, storage))
    }
}

/// Reads an array once; an error names its first value that is not finite.
pub(super) fn contents<T: Copy + Into<f64>>(
    values: &[T],
    features: usize,
    control: &RunControl,
) -> Result<Contents, SamplesError> {
    let mut contents = Contents { entries: 0, single: true };
    for (chunk, values) in values.chunks(CHUNK).enumerate() {
        control.check(CHUNK as u64)?;
        // No branch depends on a value, so that the loop is one of vectors.
        let (mut entries, mut finite, mut single) = (0_u64, true, true);
        for value in values.iter().map(|&value| value.into()) {
            entries += u64::from(value != 0.0);
            finite &= value.is_finite();
            single &= is_single(value);
        }
        if !finite {
            let found = values.iter().map(|&value| value.into()).enumerate().find(|(_, value)| !value.is_finite());
            let (at, value) = found.map_or((0, f64::NAN), |(at, value)| (chunk * CHUNK + at, value));
            return Err(SamplesError::NotFinite { row: at / features, feature: at % features, value });
        }
        contents.entries += entries as usize;
        contents.single &= single;
    }
    Ok(contents)
}

fn copied<T: Copy + Into<f64>, S>(values: &[T], store: impl Fn(f64) -> S, control: &RunControl) -> Result<Vec<S>, SamplesError> {
    let mut copy = Vec::with_capacity(values.len());
    for values in values.chunks(CHUNK) {
        control.check(CHUNK as u64)?;
        copy.extend(values.iter().map(|&value| store(value.into())));
    }
    Ok(copy)
}
