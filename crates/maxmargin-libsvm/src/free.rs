//! Functions that free models and parameters.

use crate::c::{self, freed};
use std::ffi::c_int;
use std::ptr;

/// Frees the arrays of a model, and its support vectors if it owns them, and sets the pointers to
/// null.
///
/// # Safety
///
/// `model_ptr` is null or points to a model whose arrays came from this library, or from `malloc`
/// and are as long as `svm.h` says: one array of nodes behind the first support vector where
/// `free_sv` is not 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_free_model_content(model_ptr: *mut c::SvmModel) {
    // SAFETY: the caller's promise.
    let Some(model) = (unsafe { model_ptr.as_mut() }) else { return };
    // SAFETY: arrays are as long as `svm.h` says; each pointer is freed once and then null.
    unsafe {
        if model.free_sv != 0 && model.l > 0 && !model.SV.is_null() {
            freed(*model.SV);
        }
        c::slice(model.sv_coef.cast_const(), model.nr_class - 1).iter().for_each(|column| freed(*column));
        for array in [&mut model.rho, &mut model.probA, &mut model.probB, &mut model.prob_density_marks] {
            freed(*array);
            *array = ptr::null_mut();
        }
        for array in [&mut model.sv_indices, &mut model.label, &mut model.nSV] {
            freed::<c_int>(*array);
            *array = ptr::null_mut();
        }
        freed(model.SV);
        freed(model.sv_coef);
        (model.SV, model.sv_coef) = (ptr::null_mut(), ptr::null_mut());
    }
}

/// Frees a model and sets the pointer to null.
///
/// # Safety
///
/// `model_ptr_ptr` is null or points to a pointer that is null or a model from this library, or
/// from `malloc` with a content as in [`svm_free_model_content`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_free_and_destroy_model(model_ptr_ptr: *mut *mut c::SvmModel) {
    // SAFETY: the caller's promise.
    let Some(place) = (unsafe { model_ptr_ptr.as_mut() }) else { return };
    // SAFETY: likewise; the model is freed after its content and forgotten.
    unsafe {
        svm_free_model_content(*place);
        freed(*place);
    }
    *place = ptr::null_mut();
}

/// Frees the weights of parameters.
///
/// # Safety
///
/// `param` is null or points to parameters whose weights are null or came from `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_destroy_param(param: *mut c::Parameter) {
    // SAFETY: the caller's promise. LIBSVM does not set the pointers to null, and copies of them
    // may be elsewhere.
    unsafe {
        if let Some(param) = param.as_ref() {
            freed(param.weight_label);
            freed(param.weight);
        }
    }
}
