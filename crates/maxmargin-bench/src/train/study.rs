//! The product's study of the machines of a cell.

use crate::cell::job::Setting;
use maxmargin::core::{Formulation, Solve};
use maxmargin::cv::{Study, TrainOptions};
use maxmargin::data::{ClassLabels, Dataset, Par};
use maxmargin::kernel::Kernel;

/// The problem of a cell and the solver of its machines.
pub(crate) struct Posed<'a> {
    pub(crate) data: &'a Dataset,
    /// None where there are no classes.
    pub(crate) classes: Option<&'a ClassLabels>,
    /// A factor of C for each class.
    pub(crate) weights: &'a [f64],
    pub(crate) kernel: &'a Kernel,
    pub(crate) formulation: Formulation,
    pub(crate) solver: &'a dyn Solve,
}

/// Returns the options of the machines of a cell.
pub(crate) fn options(posed: &Posed, par: Par) -> TrainOptions {
    TrainOptions { kernel: posed.kernel.clone(), par, ..TrainOptions::default() }
}

/// Returns the study of the machines of a cell, with its limits of time and memory.
pub(crate) fn study<'a>(setting: &Setting, posed: &Posed<'a>, options: &'a TrainOptions) -> Study<'a> {
    let Posed { data, classes, weights, formulation, solver, .. } = *posed;
    let (stop, memory) = (setting.stop(), setting.budget());
    Study { formulation, stop, memory, ..Study::new(data, classes, options, weights, solver) }
}
