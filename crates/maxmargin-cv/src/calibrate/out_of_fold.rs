//! The cross-validation behind a calibration.

use crate::plan::FoldPlan;
use crate::report::{CertificateReport, CvReport, MissingClass};
use crate::run::error::CvError;
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

impl OutOfFold {
    /// Adds a second cross-validation by the same folds.
    pub(crate) fn add(&mut self, other: &Self) {
        self.status = self.status.worse(other.status);
        self.iterations += other.iterations;
        self.rows_computed += other.rows_computed;
        self.certificate = [self.certificate, other.certificate].into_iter().flatten().reduce(CertificateReport::worse);
    }

    /// Describes a cross-validation, and returns its report if it was not ended before it had one.
    ///
    /// # Errors
    ///
    /// All errors but that end.
    pub(crate) fn of(plan: &FoldPlan, found: Result<CvReport, CvError>) -> Result<(Self, Option<CvReport>), CvError> {
        let found = match found {
            Err(CvError::Ended(status)) => Err(status),
            other => Ok(other?),
        };
        let run = Self {
            folds: plan.folds(),
            status: found.as_ref().map_or_else(|status| *status, CvReport::status),
            iterations: found.as_ref().map_or(0, |found| found.total_iterations),
            rows_computed: found.as_ref().map_or(0, |found| found.rows_computed),
            certificate: found.as_ref().ok().and_then(CvReport::certificate),
            missing_classes: found.as_ref().map_or_else(|_| Vec::new(), CvReport::missing_classes),
            seconds: 0.0,
        };
        Ok((run, found.ok()))
    }
}
