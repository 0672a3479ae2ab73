//! LIBSVM's C interface (`svm.h`, version 337) on maxmargin's solvers: a program linked against
//! `libsvm.so.4` trains, validates and predicts with them.
//!
//! The contracts of all pointers are those of LIBSVM, and are written beside each function. What a
//! caller hands over is read once at the border and copied into values of ours, but for prediction,
//! which reads the model where it is, as LIBSVM does: programs make and change models by hand.
//! Whatever is freed by LIBSVM's functions is from C's `malloc`. A panic ends at the border.
#![allow(unsafe_code, reason = "a C interface: it reads what pointers of callers point to")]

mod border;
mod c;
mod fill;
mod predict;
mod problem;
mod say;
mod store;
mod train;

pub use c::{Model, Node, Parameter, Problem};
pub use predict::{svm_predict, svm_predict_probability, svm_predict_values};
pub use say::svm_set_print_string_function;
pub use store::{svm_load_model, svm_save_model};
pub use train::{svm_check_parameter, svm_cross_validation, svm_train};

mod free;
mod look;

pub use free::{svm_destroy_param, svm_free_and_destroy_model, svm_free_model_content};
pub use look::{
    svm_check_probability_model, svm_get_labels, svm_get_nr_class, svm_get_nr_sv, svm_get_sv_indices, svm_get_svm_type,
    svm_get_svr_probability,
};

/// The version of LIBSVM whose interface this is.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "its name in svm.h")]
pub static libsvm_version: std::ffi::c_int = 337;
