
// clang-format sorts includes unless SortIncludes: Never. However, the ordering
// does matter here. So, we need to disable clang-format for safety.

// clang-format off
#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Parse.h>
// clang-format on

#include "rust/api.h"

static uintptr_t TAGGED_POINTER_MASK = (uintptr_t)1;

SEXP handle_result(SEXP res_) {
    uintptr_t res = (uintptr_t)res_;

    // An error is indicated by tag.
    if ((res & TAGGED_POINTER_MASK) == 1) {
        // Remove tag
        SEXP res_aligned = (SEXP)(res & ~TAGGED_POINTER_MASK);

        // Currently, there are two types of error cases:
        //
        //   1. Error from Rust code
        //   2. Error from R's C API, which is caught by R_UnwindProtect()
        //
        if (TYPEOF(res_aligned) == CHARSXP) {
            // In case 1, the result is an error message that can be passed to
            // Rf_errorcall() directly.
            Rf_errorcall(R_NilValue, "%s", CHAR(res_aligned));
        } else {
            // In case 2, the result is the token to restart the
            // cleanup process on R's side.
            R_ContinueUnwind(res_aligned);
        }
    }

    return (SEXP)res;
}

SEXP savvy_native_fallbacks__impl(void) {
    SEXP res = savvy_native_fallbacks__ffi();
    return handle_result(res);
}

SEXP savvy_native_grid__impl(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__folds, SEXP c_arg__costs, SEXP c_arg__gammas) {
    SEXP res = savvy_native_grid__ffi(c_arg__options, c_arg__data, c_arg__folds, c_arg__costs, c_arg__gammas);
    return handle_result(res);
}

SEXP savvy_native_set_threads__impl(SEXP c_arg__count) {
    SEXP res = savvy_native_set_threads__ffi(c_arg__count);
    return handle_result(res);
}

SEXP savvy_native_threads__impl(void) {
    SEXP res = savvy_native_threads__ffi();
    return handle_result(res);
}

SEXP savvy_native_train__impl(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__keep) {
    SEXP res = savvy_native_train__ffi(c_arg__options, c_arg__data, c_arg__keep);
    return handle_result(res);
}

SEXP savvy_native_validate__impl(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__folds) {
    SEXP res = savvy_native_validate__ffi(c_arg__options, c_arg__data, c_arg__folds);
    return handle_result(res);
}

SEXP savvy_Data_dense__impl(SEXP c_arg__x, SEXP c_arg__rows, SEXP c_arg__y) {
    SEXP res = savvy_Data_dense__ffi(c_arg__x, c_arg__rows, c_arg__y);
    return handle_result(res);
}

SEXP savvy_Data_sparse__impl(SEXP c_arg__values, SEXP c_arg__columns, SEXP c_arg__offsets, SEXP c_arg__features, SEXP c_arg__y) {
    SEXP res = savvy_Data_sparse__ffi(c_arg__values, c_arg__columns, c_arg__offsets, c_arg__features, c_arg__y);
    return handle_result(res);
}

SEXP savvy_Job_cancel__impl(SEXP self__) {
    SEXP res = savvy_Job_cancel__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Job_take__impl(SEXP self__) {
    SEXP res = savvy_Job_take__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Job_wait__impl(SEXP self__, SEXP c_arg__milliseconds) {
    SEXP res = savvy_Job_wait__ffi(self__, c_arg__milliseconds);
    return handle_result(res);
}

SEXP savvy_Model_bytes__impl(SEXP self__) {
    SEXP res = savvy_Model_bytes__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Model_explain__impl(SEXP self__, SEXP c_arg__data, SEXP c_arg__interactions, SEXP c_arg__background) {
    SEXP res = savvy_Model_explain__ffi(self__, c_arg__data, c_arg__interactions, c_arg__background);
    return handle_result(res);
}

SEXP savvy_Model_from_bytes__impl(SEXP c_arg__bytes) {
    SEXP res = savvy_Model_from_bytes__ffi(c_arg__bytes);
    return handle_result(res);
}

SEXP savvy_Model_kept__impl(SEXP self__) {
    SEXP res = savvy_Model_kept__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Model_parts__impl(SEXP self__) {
    SEXP res = savvy_Model_parts__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Model_predict__impl(SEXP self__, SEXP c_arg__data, SEXP c_arg__decisions, SEXP c_arg__probabilities) {
    SEXP res = savvy_Model_predict__ffi(self__, c_arg__data, c_arg__decisions, c_arg__probabilities);
    return handle_result(res);
}

SEXP savvy_Model_update__impl(SEXP self__, SEXP c_arg__remove, SEXP c_arg__add) {
    SEXP res = savvy_Model_update__ffi(self__, c_arg__remove, c_arg__add);
    return handle_result(res);
}

SEXP savvy_Model_verify__impl(SEXP self__, SEXP c_arg__data) {
    SEXP res = savvy_Model_verify__ffi(self__, c_arg__data);
    return handle_result(res);
}


static const R_CallMethodDef CallEntries[] = {
    {"savvy_native_fallbacks__impl", (DL_FUNC) &savvy_native_fallbacks__impl, 0},
    {"savvy_native_grid__impl", (DL_FUNC) &savvy_native_grid__impl, 5},
    {"savvy_native_set_threads__impl", (DL_FUNC) &savvy_native_set_threads__impl, 1},
    {"savvy_native_threads__impl", (DL_FUNC) &savvy_native_threads__impl, 0},
    {"savvy_native_train__impl", (DL_FUNC) &savvy_native_train__impl, 3},
    {"savvy_native_validate__impl", (DL_FUNC) &savvy_native_validate__impl, 3},
    {"savvy_Data_dense__impl", (DL_FUNC) &savvy_Data_dense__impl, 3},
    {"savvy_Data_sparse__impl", (DL_FUNC) &savvy_Data_sparse__impl, 5},
    {"savvy_Job_cancel__impl", (DL_FUNC) &savvy_Job_cancel__impl, 1},
    {"savvy_Job_take__impl", (DL_FUNC) &savvy_Job_take__impl, 1},
    {"savvy_Job_wait__impl", (DL_FUNC) &savvy_Job_wait__impl, 2},
    {"savvy_Model_bytes__impl", (DL_FUNC) &savvy_Model_bytes__impl, 1},
    {"savvy_Model_explain__impl", (DL_FUNC) &savvy_Model_explain__impl, 4},
    {"savvy_Model_from_bytes__impl", (DL_FUNC) &savvy_Model_from_bytes__impl, 1},
    {"savvy_Model_kept__impl", (DL_FUNC) &savvy_Model_kept__impl, 1},
    {"savvy_Model_parts__impl", (DL_FUNC) &savvy_Model_parts__impl, 1},
    {"savvy_Model_predict__impl", (DL_FUNC) &savvy_Model_predict__impl, 4},
    {"savvy_Model_update__impl", (DL_FUNC) &savvy_Model_update__impl, 3},
    {"savvy_Model_verify__impl", (DL_FUNC) &savvy_Model_verify__impl, 2},
    {NULL, NULL, 0}
};

void R_init_maxmargin(DllInfo *dll) {
    R_registerRoutines(dll, NULL, CallEntries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);

    // Functions for initialization, if any.

}
