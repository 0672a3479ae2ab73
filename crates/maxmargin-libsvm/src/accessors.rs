//! Functions that return properties of a model.

use crate::c::{self, slice};
use crate::output::print_error;
use std::ffi::{c_double, c_int};

/// Returns the type of a model; −1 for a null pointer.
///
/// # Safety
///
/// `model` is null or points to a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_svm_type(model: *const c::SvmModel) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { model.as_ref() }.map_or(-1, |model| model.param.svm_type)
}

/// Returns the number of classes of a model; 2 for regression and one class.
///
/// # Safety
///
/// `model` is null or points to a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_nr_class(model: *const c::SvmModel) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { model.as_ref() }.map_or(0, |model| model.nr_class)
}

/// Returns the number of support vectors of a model.
///
/// # Safety
///
/// `model` is null or points to a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_nr_sv(model: *const c::SvmModel) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { model.as_ref() }.map_or(0, |model| model.l)
}

/// Writes the labels of a model's classes to `label`, if it has any.
///
/// # Safety
///
/// `model` is null or points to a model, and `label` has room for as many labels as it has classes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_labels(model: *const c::SvmModel, label: *mut c_int) {
    // SAFETY: the caller's promise; the model's labels are as many as its classes.
    unsafe {
        if let Some(model) = model.as_ref() {
            let own = slice(model.label, model.nr_class);
            std::ptr::copy(own.as_ptr(), label, own.len());
        }
    }
}

/// Writes the rows of a model's support vectors, from 1, to `sv_indices`, if it has them.
///
/// # Safety
///
/// `model` is null or points to a model, and `sv_indices` has room for as many numbers as it has
/// support vectors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_sv_indices(model: *const c::SvmModel, sv_indices: *mut c_int) {
    // SAFETY: the caller's promise; the model's indices are as many as its support vectors.
    unsafe {
        if let Some(model) = model.as_ref() {
            let own = slice(model.sv_indices, model.l);
            std::ptr::copy(own.as_ptr(), sv_indices, own.len());
        }
    }
}

/// Returns the scale of the errors of a regression. If the model has none, returns 0 and prints a
/// line on standard error.
///
/// # Safety
///
/// `model` is null or points to a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_get_svr_probability(model: *const c::SvmModel) -> c_double {
    // SAFETY: the caller's promise; a regression has one value there, if any.
    let scale = unsafe { model.as_ref() }
        .filter(|model| matches!(model.param.svm_type, 3 | 4))
        .and_then(|model| unsafe { model.probA.as_ref() }.copied());
    scale.unwrap_or_else(|| {
        print_error("Model doesn't contain information for SVR probability inference");
        0.0
    })
}

/// Returns 1 if the model has the parameters of probabilities, else 0.
///
/// # Safety
///
/// `model` is null or points to a model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_check_probability_model(model: *const c::SvmModel) -> c_int {
    // SAFETY: the caller's promise.
    let known = unsafe { model.as_ref() }.is_some_and(|model| match model.param.svm_type {
        0 | 1 => !model.probA.is_null() && !model.probB.is_null(),
        2 => !model.prob_density_marks.is_null(),
        _ => !model.probA.is_null(),
    });
    c_int::from(known)
}
