//! Whether fitting again gives the fillings and the scaling that a model has.

use maxmargin_data::scale::ScaleMethod;
use maxmargin_data::{Dataset, Encoder, Preparing, Scaler};
use maxmargin_model::{Model, Parts};

/// For each part of a model's preparation, whether fitting to some rows gives the same. `None`
/// where the model has no such part, or one that is not fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refit {
    /// The words and fillings of columns.
    pub(crate) columns: Option<bool>,
    /// The scaling of features.
    pub(crate) scaler: Option<bool>,
}

impl Refit {
    /// Fits the preparation of `model` to `data`. Data that cannot be prepared gives another one.
    pub(crate) fn of(model: &Model, data: &Dataset) -> Self {
        let Parts { encoder, scaler, .. } = model.parts();
        let scale = scaler.as_ref().map(Scaler::method).filter(|method| *method != ScaleMethod::Centre);
        let how = Preparing { impute: encoder.as_ref().and_then(Encoder::impute), scale };
        let found = how.fit(data).unwrap_or_default();
        let columns = encoder.as_ref().map(|_| found.encoder == *encoder);
        // A given scaling follows from no data.
        let fitted = scaler.as_ref().filter(|scaler| scaler.method() != ScaleMethod::Given);
        let scaler = fitted.map(|scaler| {
            let found =
                if scaler.method() == ScaleMethod::Centre { found.centred(&data.samples).unwrap_or_default() } else { found };
            found.scaler.as_ref() == Some(scaler)
        });
        Self { columns, scaler }
    }
}
