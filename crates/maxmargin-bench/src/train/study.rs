//! The product's study of the machines of a cell.

use crate::cell::job::Setting;
use maxmargin::core::{Formulation, Solve};
use maxmargin::cv::Study;
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

/// Returns the study of the machines of a cell, with its limits of time and memory.
pub(crate) fn study<'a>(setting: &Setting, posed: &Posed<'a>, par: Par) -> Study<'a> {
    let Posed { data, classes, weights, kernel, formulation, solver } = *posed;
    Study {
        data,
        classes,
        sample_weights: None,
        multiclass: maxmargin::model::Multiclass::OneVsOne,
        kernel,
        gamma: None,
        scale: None,
        impute: None,
        feature_weights: None,
        formulation,
        weights,
        class_weights: maxmargin::cv::ClassWeights::Given,
        solver,
        stop: setting.stop(),
        memory: setting.budget(),
        par,
    }
}
