//! The native half of the Python package `maxmargin`: arrays in, trained models and certificates
//! out.
//!
//! Estimators, their checks and their words are Python, in `python/maxmargin`; here is what that
//! cannot do: pack arrays, train without holding the interpreter, be interrupted, keep models.

// Arguments from Python come by value.
#![allow(clippy::needless_pass_by_value)]

mod cells;
mod data;
mod libsvm;
mod message;
mod model;
mod report;
mod run;
mod svm;

use pyo3::prelude::*;

/// What stands behind `maxmargin._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::cells::cell;
    #[pymodule_export]
    use super::data::{Data, read_libsvm};
    #[pymodule_export]
    use super::libsvm::{LibsvmModel, libsvm_cross_validate, libsvm_train};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::report::spread;
    #[pymodule_export]
    use super::run::{set_threads, threads};
    #[pymodule_export]
    use super::svm::Svm;

    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
