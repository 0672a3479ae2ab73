//! The cross-validation behind a calibration.

use crate::report::{CertificateReport, MissingClass};
use maxmargin_core::Status;
use serde::Serialize;

/// The cross-validation whose decision values a calibration is fitted to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutOfFold {
    /// Number of folds.
    pub folds: usize,
    /// The worst status of the folds.
    pub status: Status,
    /// Solver iterations of all folds.
    pub iterations: u64,
    /// Kernel rows computed for the folds.
    pub rows_computed: u64,
    /// The worst certificate of the folds.
    pub certificate: Option<CertificateReport>,
    /// Classes without a sample in the training set of some fold.
    pub missing_classes: Vec<MissingClass>,
    /// Seconds of the folds and of the fit.
    pub seconds: f64,
}
