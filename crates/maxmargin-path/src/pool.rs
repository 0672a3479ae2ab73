//! The rows of the members, and the check for cancellation during long work.

use maxmargin_data::RunControl;
use maxmargin_kernel::Gram;

/// The context of all work on a path.
#[derive(Clone, Copy)]
pub(crate) struct Pool<'p> {
    pub(crate) gram: &'p dyn Gram,
    pub(crate) control: &'p RunControl<'p>,
}
