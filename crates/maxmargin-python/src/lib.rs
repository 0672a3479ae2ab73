//! The native half of the Python package `maxmargin`.
//!
//! Estimators, their checks and their messages are Python code in `python/maxmargin`. This crate
//! copies arrays, trains without the interpreter lock, handles interrupts and stores models.
//!
//! - `Data`: samples and targets, copied from arrays.
//! - `Svm`: the parameters of trainings; it trains, cross-validates and searches.
//! - `LinearClassifier`: the parameters of linear machines beyond its duals.
//! - `Model`: a trained model.
//! - `LibsvmModel`: a model with LIBSVM's labels and signs, for `svmutil`.

// pyo3 passes arguments from Python by value.
#![allow(clippy::needless_pass_by_value)]

mod blocks;
mod cells;
mod change;
mod data;
mod export;
mod group_parts;
mod libsvm;
mod linear;
mod message;
mod model;
mod report;
mod rows;
mod run;
mod suspects;
mod svm;
mod weights;

use pyo3::prelude::*;

/// The module `maxmargin._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::cells::cell;
    #[pymodule_export]
    use super::data::{Data, penguins, read_libsvm};
    #[pymodule_export]
    use super::export::{export_bound, export_c, export_json, export_onnx};
    #[pymodule_export]
    use super::libsvm::{LibsvmModel, libsvm_cross_validate, libsvm_train};
    #[pymodule_export]
    use super::linear::{LinearClassifier, first_at_zero};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::report::spread;
    #[pymodule_export]
    use super::run::{set_threads, threads};
    #[pymodule_export]
    use super::suspects::suspects;
    #[pymodule_export]
    use super::svm::Svm;

    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
