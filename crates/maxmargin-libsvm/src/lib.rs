//! LIBSVM's C interface (`svm.h`, version 337) on maxmargin's solvers: a program linked against
//! `libsvm.so.4` trains, validates and predicts with them.
//!
//! All pointers have LIBSVM's contracts, which the documentation of each function states. Every
//! function reads its input once and copies it into Rust values. Prediction is the exception: it
//! reads the model in place, as LIBSVM does, because programs make and change models by hand.
//! Memory that LIBSVM's functions free comes from C's `malloc`. Panics do not leave the library.
//!
//! - [`SvmProblem`], [`Parameter`], [`Node`] and [`SvmModel`] are the structures of `svm.h`.
//! - [`svm_train`] and [`svm_cross_validation`] train; [`svm_predict`] and its variants predict.
//! - [`svm_save_model`] and [`svm_load_model`] write and read LIBSVM's text.
#![allow(unsafe_code, reason = "a C interface: it reads what pointers of callers point to")]

mod c;
mod fill;
mod output;
mod panic_guard;
mod predict;
mod problem;
mod store;
mod train;

pub use c::{Node, Parameter, SvmModel, SvmProblem};
pub use output::svm_set_print_string_function;
pub use predict::{svm_predict, svm_predict_probability, svm_predict_values};
pub use store::{svm_load_model, svm_save_model};
pub use train::{svm_check_parameter, svm_cross_validation, svm_train};

mod accessors;
mod free;

pub use accessors::{
    svm_check_probability_model, svm_get_labels, svm_get_nr_class, svm_get_nr_sv, svm_get_sv_indices, svm_get_svm_type,
    svm_get_svr_probability,
};
pub use free::{svm_destroy_param, svm_free_and_destroy_model, svm_free_model_content};

/// The version of LIBSVM whose interface this is.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "its name in svm.h")]
pub static libsvm_version: std::ffi::c_int = 337;
