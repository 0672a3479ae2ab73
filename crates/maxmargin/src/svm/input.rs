//! The data of a training, prepared or not.

use super::Svm;
use maxmargin_cv::{CvError, PreparedData};
use maxmargin_data::Dataset;

/// The data of a training: a data set, or one that [`Svm::prepare`] prepared.
#[derive(Clone, Copy, Debug)]
pub struct TrainingInput<'d> {
    pub(crate) data: &'d Dataset,
    pub(crate) prepared: Option<&'d PreparedData<'d>>,
}

impl<'d> From<&'d Dataset> for TrainingInput<'d> {
    fn from(data: &'d Dataset) -> Self {
        Self { data, prepared: None }
    }
}

impl<'d> From<&'d PreparedData<'d>> for TrainingInput<'d> {
    fn from(prepared: &'d PreparedData<'d>) -> Self {
        Self { data: prepared.data(), prepared: Some(prepared) }
    }
}

impl Svm {
    /// Fills in and scales data as a training does, for a look at them before it. Trainings,
    /// cross-validations and searches take the result in place of the data; with other options for
    /// the preparation they prepare the data again.
    ///
    /// # Errors
    ///
    /// When the data cannot be prepared by these options.
    pub fn prepare<'d>(&self, data: &'d Dataset) -> Result<PreparedData<'d>, CvError> {
        self.options.prepare(data)
    }
}
