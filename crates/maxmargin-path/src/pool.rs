//! The rows that members come from, and who is asked during long work.

use maxmargin_data::Asking;
use maxmargin_kernel::Gram;

/// What every piece of work on a path is given.
#[derive(Clone, Copy)]
pub(crate) struct Pool<'p> {
    pub(crate) gram: &'p dyn Gram,
    pub(crate) asking: &'p Asking<'p>,
}

/// Whether to go on, asked from any thread.
pub(crate) type GoOn<'w> = &'w (dyn Fn() -> bool + Sync);
