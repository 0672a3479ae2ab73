//! What the library says: its progress to a function of the caller, what is wrong on standard
//! error.

use crate::c::printed;
use std::ffi::{CString, c_char};
use std::io::Write;
use std::sync::{PoisonError, RwLock};

/// A function that takes text.
pub(crate) type Print = unsafe extern "C" fn(*const c_char);

static PRINT: RwLock<Option<Print>> = RwLock::new(None);

/// Gives progress to `print` from now on, in all threads; a null pointer brings standard output
/// back.
///
/// # Safety
///
/// `print` is null or a function that may be called from any thread that trains, with a string of C
/// that it does not keep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn svm_set_print_string_function(print: Option<Print>) {
    *PRINT.write().unwrap_or_else(PoisonError::into_inner) = print;
}

/// Says what belongs to the progress of a training.
pub(crate) fn say(text: &str) {
    if text.is_empty() {
        return;
    }
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let print = *PRINT.read().unwrap_or_else(PoisonError::into_inner);
    match print {
        // SAFETY: whoever set the function promised that it takes any string of C.
        Some(print) => unsafe { print(text.as_ptr()) },
        // SAFETY: a string of C.
        None => unsafe { printed(text.as_ptr()) },
    }
}

/// Says what is wrong, one line on standard error.
pub(crate) fn complain(line: &str) {
    // Where that cannot be written there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
