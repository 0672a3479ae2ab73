//! The trait of measured solvers, and a training that one has finished.

use crate::cell::job::Train;
use crate::failure::Failure;
use crate::measured::Measured;
use maxmargin::core::{Formulation, Solve};
use maxmargin::cv::Fitted;
use maxmargin::data::{ClassLabels, Dataset, Par};
use maxmargin::kernel::Kernel;

/// A solver with figures of its own.
pub(crate) trait MeasuredSolver: Solve {
    /// Returns the formulation for the cell's C.
    fn formulation(&self, c: f64) -> Formulation {
        Formulation::c_svc(c)
    }

    /// Adds its own figures of a training to those of all solvers.
    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure>;
}

/// A training that has ended.
pub(crate) struct Training<'a> {
    pub(crate) cell: &'a Train,
    pub(crate) data: &'a Dataset,
    /// None where there are no classes.
    pub(crate) classes: Option<&'a ClassLabels>,
    pub(crate) kernel: &'a Kernel,
    pub(crate) fitted: &'a Fitted,
    /// Seconds of reading and training.
    pub(crate) process_seconds: f64,
    pub(crate) par: Par,
}
