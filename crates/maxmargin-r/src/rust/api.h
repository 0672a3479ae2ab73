SEXP savvy_native_fallbacks__ffi(void);
SEXP savvy_native_grid__ffi(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__folds, SEXP c_arg__costs, SEXP c_arg__gammas);
SEXP savvy_native_set_threads__ffi(SEXP c_arg__count);
SEXP savvy_native_threads__ffi(void);
SEXP savvy_native_train__ffi(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__keep);
SEXP savvy_native_validate__ffi(SEXP c_arg__options, SEXP c_arg__data, SEXP c_arg__folds);

// methods and associated functions for Data
SEXP savvy_Data_dense__ffi(SEXP c_arg__x, SEXP c_arg__rows, SEXP c_arg__y);
SEXP savvy_Data_sparse__ffi(SEXP c_arg__values, SEXP c_arg__columns, SEXP c_arg__offsets, SEXP c_arg__features, SEXP c_arg__y);

// methods and associated functions for Job
SEXP savvy_Job_cancel__ffi(SEXP self__);
SEXP savvy_Job_take__ffi(SEXP self__);
SEXP savvy_Job_wait__ffi(SEXP self__, SEXP c_arg__milliseconds);

// methods and associated functions for Model
SEXP savvy_Model_bytes__ffi(SEXP self__);
SEXP savvy_Model_explain__ffi(SEXP self__, SEXP c_arg__data, SEXP c_arg__interactions, SEXP c_arg__background);
SEXP savvy_Model_from_bytes__ffi(SEXP c_arg__bytes);
SEXP savvy_Model_kept__ffi(SEXP self__);
SEXP savvy_Model_parts__ffi(SEXP self__);
SEXP savvy_Model_predict__ffi(SEXP self__, SEXP c_arg__data, SEXP c_arg__decisions, SEXP c_arg__probabilities);
SEXP savvy_Model_update__ffi(SEXP self__, SEXP c_arg__remove, SEXP c_arg__add);
SEXP savvy_Model_verify__ffi(SEXP self__, SEXP c_arg__data);
