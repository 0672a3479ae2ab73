//! The trait of measured solvers, and a training that one has finished.

use crate::cell::job::Train;
use crate::failure::Failure;
use crate::measured::Measured;
use maxmargin::core::{Formulation, Solve};
use maxmargin::cv::Fitted;
use maxmargin::data::{ClassLabels, Dataset, Par};
use maxmargin::kernel::Kernel;

/// A solver, and what is measured of it alone.
pub(crate) trait MeasuredSolver: Solve {
    /// The problem that the cell's C means.
    fn formulation(&self, c: f64) -> Formulation {
        Formulation::c_svc(c)
    }

    /// Adds what it knows of a training to what is measured of all.
    fn add_figures(&self, training: &Training, measured: &mut Measured) -> Result<(), Failure>;
}

/// A training that is over.
pub(crate) struct Training<'a> {
    pub(crate) cell: &'a Train,
    pub(crate) data: &'a Dataset,
    /// None where there are no classes.
    pub(crate) classes: Option<&'a ClassLabels>,
    pub(crate) kernel: &'a Kernel,
    pub(crate) fitted: &'a Fitted,
    /// Reading included.
    pub(crate) process_seconds: f64,
    pub(crate) par: Par,
}
