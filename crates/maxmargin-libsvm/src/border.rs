//! Where calls come in: a panic goes no further.

use crate::say::complain;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` returns, or `otherwise` where it panicked, which is then said on standard error by
/// the panic itself.
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // Nothing of ours is seen after a panic: what was being made is dropped or leaked, never handed
    // out.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        complain("ERROR: this is a fault of maxmargin; nothing was returned");
        otherwise
    })
}
