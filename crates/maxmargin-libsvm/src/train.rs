//! Training and cross-validation.

use crate::c;
use crate::fill::filled;
use crate::output::{print_error, print_progress};
use crate::panic_guard::catch_panic;
use crate::problem::{data, labels, parameters};
use maxmargin::data::{MOST_THREADS, Par};
use maxmargin::libsvm::{Folds, LibsvmProblem, LibsvmRun, Parameters, cross_validate, train};
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_double, c_int};
use std::ptr;
use std::sync::{Mutex, Once, PoisonError};

static POOL: Once = Once::new();

/// Returns the settings of a call. Threads are those of rayon's global pool: the number of
/// processors or `RAYON_NUM_THREADS`, at most [`MOST_THREADS`]. The memory limit is `cache_size` if
/// that is more than the default.
fn run(parameters: &Parameters) -> LibsvmRun {
    let usual = LibsvmRun::default();
    POOL.call_once(|| {
        let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|threads| threads.trim().parse::<usize>().ok());
        if asked.is_some_and(|threads| threads > MOST_THREADS) {
            // An existing pool does not change.
            let _ = ThreadPoolBuilder::new().num_threads(MOST_THREADS).build_global();
        }
    });
    let par = if rayon::current_num_threads() > 1 { Par::Pool } else { Par::Seq };
    LibsvmRun { par, memory: usual.memory.max((parameters.cache_size * 1_048_576.0) as u64), ..usual }
}

/// Trains a model, which `svm_free_and_destroy_model` frees. Its support vectors are rows of the
/// problem. On an error, returns null and prints a line on standard error.
///
/// # Safety
///
/// `prob` and `param` are as in `svm.h`: `l` labels, `l` rows that end with index −1, `nr_weight`
/// weights. The rows outlive the model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_train(prob: *const c::SvmProblem, param: *const c::Parameter) -> *mut c::SvmModel {
    catch_panic(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (Some(prob), Some(param)) = (unsafe { prob.as_ref() }, unsafe { param.as_ref() }) else { return ptr::null_mut() };
        // SAFETY: likewise.
        let (asked, given) = unsafe { (parameters(param), data(prob)) };
        let found = given.and_then(|given| {
            let problem = LibsvmProblem::new(given, &asked).map_err(|error| error.to_string())?;
            let trained = train(&problem, &asked, &run(&asked)).map_err(|error| error.to_string())?;
            Ok((problem, trained))
        });
        match found {
            Ok((problem, trained)) => {
                for label in problem.unknown_weights(&asked) {
                    print_error(&format!("WARNING: class label {label} specified in weight is not found"));
                }
                if trained.missing.is_some() && asked.svm_type == 2 {
                    print_error(
                        "WARNING: number of positive or negative decision values <5; too few to do a probability estimation.",
                    );
                }
                trained.margin_warning().iter().for_each(|warning| print_error(warning));
                print_progress(&trained.console_text());
                filled(prob, param, &problem, &trained)
            }
            Err(what) => {
                print_error(&format!("ERROR: {what}"));
                ptr::null_mut()
            }
        }
    })
}

/// Cross-validates with `nr_fold` folds and writes the prediction of every row to `target`. On an
/// error, writes nothing and prints a line on standard error.
///
/// # Safety
///
/// As [`svm_train`]; `target` has room for `l` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_cross_validation(
    prob: *const c::SvmProblem,
    param: *const c::Parameter,
    nr_fold: c_int,
    target: *mut c_double,
) {
    catch_panic((), || {
        // SAFETY: the caller's promise.
        let (Some(prob), Some(param)) = (unsafe { prob.as_ref() }, unsafe { param.as_ref() }) else { return };
        // SAFETY: likewise.
        let (asked, given) = unsafe { (parameters(param), data(prob)) };
        let found = given.and_then(|given| {
            let (rows, count) = (given.labels.len(), usize::try_from(nr_fold).unwrap_or(1).max(1));
            if count > rows {
                print_error(
                    "WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)",
                );
            }
            let problem = LibsvmProblem::new(given, &asked).map_err(|error| error.to_string())?;
            let folds = Folds::new(rows, count, problem.classes(), &mut c::random);
            let judged = cross_validate(&problem, &asked, &folds, &run(&asked)).map_err(|error| error.to_string())?;
            print_progress(&judged.console_text(problem.classes().is_some()));
            Ok(judged.predicted)
        });
        match found {
            // SAFETY: `target` has room for `l` values, one for each row, and does not overlap
            // Rust's memory.
            Ok(predicted) => unsafe { ptr::copy_nonoverlapping(predicted.as_ptr(), target, predicted.len()) },
            Err(what) => print_error(&format!("ERROR: {what}")),
        }
    });
}

/// The error messages of parameters, which live as long as the process.
static SAID: Mutex<BTreeMap<String, CString>> = Mutex::new(BTreeMap::new());

/// Returns the error message of invalid parameters, or null. The caller must not free the text.
///
/// # Safety
///
/// As [`svm_train`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_check_parameter(prob: *const c::SvmProblem, param: *const c::Parameter) -> *const c_char {
    catch_panic(ptr::null(), || {
        // SAFETY: the caller's promise.
        let (Some(prob), Some(param)) = (unsafe { prob.as_ref() }, unsafe { param.as_ref() }) else { return ptr::null() };
        // SAFETY: likewise.
        let (asked, labels) = unsafe { (parameters(param), labels(prob)) };
        let Err(what) = asked.check(&labels).map_err(|fault| fault.0) else { return ptr::null() };
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        // There are few texts, and none is removed. A string keeps its address on the heap when the
        // map moves it.
        said.entry(what.to_owned()).or_insert_with(|| CString::new(what).unwrap_or_default()).as_ptr()
    })
}
