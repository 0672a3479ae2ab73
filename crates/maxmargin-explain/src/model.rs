//! Explanations as a method of models.

use crate::error::ExplainError;
use crate::explain::Explain;
use crate::explanation::Explanation;
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_model::Model;

/// Adds explanations to models.
pub trait ExplainModel {
    /// The Shapley values of the decision values of `rows`, on all processors. [`Explain::rows`]
    /// has more options.
    ///
    /// # Errors
    ///
    /// As [`Explain::rows`].
    fn explain(&self, rows: &Samples, background: Option<&Samples>) -> Result<Explanation, ExplainError>;
}

impl ExplainModel for Model {
    fn explain(&self, rows: &Samples, background: Option<&Samples>) -> Result<Explanation, ExplainError> {
        Explain::default().rows(self, rows, background, Par::Pool, &RunControl::unlimited())
    }
}
