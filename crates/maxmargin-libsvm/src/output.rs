//! The output of the library: progress to a function of the caller, errors to standard error.

use crate::c::printed;
use std::ffi::{CString, c_char};
use std::io::Write;
use std::sync::{PoisonError, RwLock};

/// A function that prints text.
pub(crate) type Print = unsafe extern "C" fn(*const c_char);

static PRINT: RwLock<Option<Print>> = RwLock::new(None);

/// Sets the function that receives progress, for all threads. A null pointer restores standard
/// output.
///
/// # Safety
///
/// `print` is null or a function that any training thread may call with a C string, which it must
/// not keep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_set_print_string_function(print: Option<Print>) {
    *PRINT.write().unwrap_or_else(PoisonError::into_inner) = print;
}

/// Prints progress of a training.
pub(crate) fn print_progress(text: &str) {
    if text.is_empty() {
        return;
    }
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let print = *PRINT.read().unwrap_or_else(PoisonError::into_inner);
    match print {
        // SAFETY: the contract of `svm_set_print_string_function` allows any C string.
        Some(print) => unsafe { print(text.as_ptr()) },
        // SAFETY: `text` is a C string.
        None => unsafe { printed(text.as_ptr()) },
    }
}

/// Prints one line on standard error.
pub(crate) fn print_error(line: &str) {
    // A failure of this output cannot be reported anywhere.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
