//! The structures of `svm.h`, field by field, and memory as C has it.

#![allow(non_snake_case, reason = "names of svm.h")]

use std::ffi::{c_char, c_double, c_int, c_void};
use std::ptr;

/// One feature; a row of them ends with index −1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its number.
    pub index: c_int,
    /// Its value.
    pub value: c_double,
}

/// Rows and their labels.
#[repr(C)]
#[derive(Debug)]
pub struct Problem {
    /// Number of rows.
    pub l: c_int,
    /// One label for each.
    pub y: *mut c_double,
    /// The rows.
    pub x: *mut *mut Node,
}

/// What a training is told.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// 0 C-SVC, 1 ν-SVC, 2 one class, 3 ε-SVR, 4 ν-SVR.
    pub svm_type: c_int,
    /// 0 linear, 1 polynomial, 2 RBF, 3 sigmoid, 4 precomputed.
    pub kernel_type: c_int,
    /// Of the polynomial.
    pub degree: c_int,
    /// Width of the kernel.
    pub gamma: c_double,
    /// Constant of polynomial and sigmoid.
    pub coef0: c_double,
    /// Megabytes of kernel values.
    pub cache_size: c_double,
    /// Tolerance.
    pub eps: c_double,
    /// Price of errors.
    pub C: c_double,
    /// Number of class weights.
    pub nr_weight: c_int,
    /// Their labels.
    pub weight_label: *mut c_int,
    /// The weights.
    pub weight: *mut c_double,
    /// Of ν-SVC, one class and ν-SVR.
    pub nu: c_double,
    /// Width of ε-SVR.
    pub p: c_double,
    /// 0 or 1.
    pub shrinking: c_int,
    /// 0 or 1.
    pub probability: c_int,
}

/// A model.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// As it was trained.
    pub param: Parameter,
    /// Number of classes; 2 for values and one class.
    pub nr_class: c_int,
    /// Number of support vectors.
    pub l: c_int,
    /// The support vectors.
    pub SV: *mut *mut Node,
    /// `nr_class − 1` columns of `l` coefficients.
    pub sv_coef: *mut *mut c_double,
    /// One for each pair of classes.
    pub rho: *mut c_double,
    /// One for each pair of classes, or none.
    pub probA: *mut c_double,
    /// One for each pair of classes, or none.
    pub probB: *mut c_double,
    /// Ten, or none.
    pub prob_density_marks: *mut c_double,
    /// Row of the training data of each support vector, from 1; none where a file was read.
    pub sv_indices: *mut c_int,
    /// Labels of the classes; none for values and one class.
    pub label: *mut c_int,
    /// Support vectors of each class.
    pub nSV: *mut c_int,
    /// 1 where the support vectors belong to the model, 0 where they belong to the problem.
    pub free_sv: c_int,
}

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
    fn rand() -> c_int;
    fn printf(format: *const c_char, ...) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
}

/// A copy of `values` that C's `free` frees; no array where there are none.
pub(crate) fn copied<T: Copy>(values: &[T]) -> *mut T {
    if values.is_empty() {
        return ptr::null_mut();
    }
    // SAFETY: `malloc` takes any size; alignment is that of any C type, which all `T` here are.
    let place = unsafe { malloc(size_of_val(values)) }.cast::<T>();
    assert!(!place.is_null(), "no memory");
    // SAFETY: `place` has room for as many values, was just made, and so overlaps nothing.
    unsafe { ptr::copy_nonoverlapping(values.as_ptr(), place, values.len()) };
    place
}

/// The sigmoids of a model: of one class there are none, and an array of no numbers that is not
/// null says that the model has probabilities all the same.
pub(crate) fn sigmoids(values: &[f64], is_probability: bool) -> *mut f64 {
    if values.is_empty() && is_probability { copied(&[0.0]) } else { copied(values) }
}

/// Frees what [`copied`] or C's `malloc` made; a null pointer is nothing.
///
/// # Safety
///
/// `pointer` is null, or came from `malloc` and was not freed.
pub(crate) unsafe fn freed<T>(pointer: *mut T) {
    // SAFETY: the caller's promise is that of `free`.
    unsafe { free(pointer.cast()) };
}

/// The next number of the process's own generator, which LIBSVM shuffles by: who called `srand` has
/// shuffled folds.
pub(crate) fn random() -> usize {
    // SAFETY: `rand` takes nothing; it may race with other threads that call it, as in LIBSVM, and glibc's has a lock.
    usize::try_from(unsafe { rand() }).unwrap_or(0)
}

/// Prints to C's standard output, in order with what the program prints there, and flushes it.
///
/// # Safety
///
/// `text` ends with a zero.
pub(crate) unsafe fn printed(text: *const c_char) {
    // SAFETY: the format is a string of C that takes one string, which `text` is; a null stream is all of them.
    unsafe {
        printf(c"%s".as_ptr(), text);
        fflush(ptr::null_mut());
    }
}

/// The values behind a pointer, none where it is null or there are none.
///
/// # Safety
///
/// `pointer` is null or points to `count` values that nobody changes while the slice lives.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !pointer.is_null() => {
            // SAFETY: not null, and of this length by the caller's promise.
            unsafe { std::slice::from_raw_parts(pointer, count) }
        }
        _ => &[],
    }
}

/// The nodes of a row, without the last, which has index −1; none where it is null.
///
/// # Safety
///
/// `row` is null or points to nodes of which one has index −1, which nobody changes while the slice
/// lives.
pub(crate) unsafe fn nodes<'a>(row: *const Node) -> &'a [Node] {
    if row.is_null() {
        return &[];
    }
    let mut count = 0;
    // SAFETY: no node behind the one with index −1 is looked at, and up to it there are nodes.
    while unsafe { (*row.add(count)).index } != -1 {
        count += 1;
    }
    // SAFETY: `count` nodes were just seen.
    unsafe { std::slice::from_raw_parts(row, count) }
}
