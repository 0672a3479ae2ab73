//! The guard of every entry point against panics, which must not unwind into C.

use crate::output::print_error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the result of `work`, or `otherwise` if it panics. The panic prints its message on
/// standard error.
pub(crate) fn catch_panic<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // Unwind safety holds: after a panic, unfinished values are dropped or leaked and never
    // returned.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        print_error("ERROR: internal error of maxmargin; nothing was returned");
        otherwise
    })
}
