//! The structures of `svm.h`, field by field, and memory of C's allocator.

#![allow(non_snake_case, reason = "names of svm.h")]

use std::ffi::{c_char, c_double, c_int, c_void};
use std::ptr;

/// One feature; a row of them ends with index −1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The number of the feature.
    pub index: c_int,
    /// The value of the feature.
    pub value: c_double,
}

/// Rows and their labels.
#[repr(C)]
#[derive(Debug)]
pub struct SvmProblem {
    /// The number of rows.
    pub l: c_int,
    /// The label of each row.
    pub y: *mut c_double,
    /// The rows.
    pub x: *mut *mut Node,
}

/// The parameters of a training.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The formulation: 0 C-SVC, 1 ν-SVC, 2 one class, 3 ε-SVR, 4 ν-SVR.
    pub svm_type: c_int,
    /// The kernel: 0 linear, 1 polynomial, 2 RBF, 3 sigmoid, 4 precomputed.
    pub kernel_type: c_int,
    /// The degree of the polynomial kernel.
    pub degree: c_int,
    /// The γ of the kernel.
    pub gamma: c_double,
    /// The constant of the polynomial and the sigmoid kernel.
    pub coef0: c_double,
    /// The size of the cache in megabytes.
    pub cache_size: c_double,
    /// The KKT tolerance.
    pub eps: c_double,
    /// The cost of errors.
    pub C: c_double,
    /// The number of class weights.
    pub nr_weight: c_int,
    /// The labels of the class weights.
    pub weight_label: *mut c_int,
    /// The class weights.
    pub weight: *mut c_double,
    /// The ν of ν-SVC, one class and ν-SVR.
    pub nu: c_double,
    /// The width ε of ε-SVR.
    pub p: c_double,
    /// 0 or 1.
    pub shrinking: c_int,
    /// 0 or 1.
    pub probability: c_int,
}

/// A model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SvmModel {
    /// The parameters of the training.
    pub param: Parameter,
    /// The number of classes; 2 for regression and one class.
    pub nr_class: c_int,
    /// The number of support vectors.
    pub l: c_int,
    /// The support vectors.
    pub SV: *mut *mut Node,
    /// `nr_class − 1` columns of `l` coefficients.
    pub sv_coef: *mut *mut c_double,
    /// The offset ρ of each pair of classes.
    pub rho: *mut c_double,
    /// One for each pair of classes, or none.
    pub probA: *mut c_double,
    /// One for each pair of classes, or none.
    pub probB: *mut c_double,
    /// The ten density marks of one class, or null.
    pub prob_density_marks: *mut c_double,
    /// The row of each support vector in the training data, from 1; null for models from files.
    pub sv_indices: *mut c_int,
    /// The labels of the classes; null for regression and one class.
    pub label: *mut c_int,
    /// The number of support vectors of each class.
    pub nSV: *mut c_int,
    /// 1 if the model owns the support vectors, 0 if the problem owns them.
    pub free_sv: c_int,
}

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
    fn rand() -> c_int;
    fn printf(format: *const c_char, ...) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
}

/// Returns a copy of `values` in memory of C's `malloc`; null if `values` is empty.
pub(crate) fn copied<T: Copy>(values: &[T]) -> *mut T {
    if values.is_empty() {
        return ptr::null_mut();
    }
    // SAFETY: `malloc` accepts any size, and its alignment is enough for any C type, as all `T`
    // here are.
    let place = unsafe { malloc(size_of_val(values)) }.cast::<T>();
    assert!(!place.is_null(), "no memory");
    // SAFETY: `place` has room for all values, and a new allocation overlaps nothing.
    unsafe { ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
    place
}

/// Returns an array of sigmoid parameters. A constant model has none; a pointer other than null
/// marks that it has probabilities.
pub(crate) fn sigmoids(values: &[f64], is_probability: bool) -> *mut f64 {
    if values.is_empty() && is_probability { copied(&[0.0]) } else { copied(values) }
}

/// Frees memory of [`copied`] or C's `malloc`; null is ignored.
///
/// # Safety
///
/// `pointer` is null, or came from `malloc` and was not freed.
pub(crate) unsafe fn freed<T>(pointer: *mut T) {
    // SAFETY: the caller's promise is that of `free`.
    unsafe { free(pointer.cast()) };
}

/// Returns the next number of the process's `rand()`. LIBSVM shuffles with it, so that `srand`
/// changes the folds.
pub(crate) fn random() -> usize {
    // SAFETY: `rand` has no arguments. Other threads can call it at the same time, as in LIBSVM;
    // glibc's has a lock.
    usize::try_from(unsafe { rand() }).unwrap_or(0)
}

/// Prints to C's standard output and flushes it, in order with the output of the program.
///
/// # Safety
///
/// `text` ends with a zero.
pub(crate) unsafe fn printed(text: *const c_char) {
    // SAFETY: the format is a C string for one string argument, which is `text`; a null stream
    // flushes all streams.
    unsafe {
        printf(c"%s".as_ptr(), text);
        fflush(ptr::null_mut());
    }
}

/// Returns the values at a pointer; empty if it is null or `count` is not positive.
///
/// # Safety
///
/// `pointer` is null or points to `count` values that do not change while the slice lives.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !pointer.is_null() => {
            // SAFETY: not null, and of this length by the caller's promise.
            unsafe { std::slice::from_raw_parts(pointer, count) }
        }
        _ => &[],
    }
}

/// Returns the nodes of a row before the last one, which has index −1; empty if the row is null.
///
/// # Safety
///
/// `row` is null or points to nodes that end with index −1 and do not change while the slice lives.
pub(crate) unsafe fn nodes<'a>(row: *const Node) -> &'a [Node] {
    if row.is_null() {
        return &[];
    }
    let mut count = 0;
    // SAFETY: the loop reads no node behind the one with index −1.
    while unsafe { (*row.add(count)).index } != -1 {
        count += 1;
    }
    // SAFETY: the loop read `count` nodes.
    unsafe { std::slice::from_raw_parts(row, count) }
}
