//! Checks of computed kernel values: spot checks against plain arithmetic with fallbacks to slower
//! backends, and statistics that show an unsuitable kernel.

mod diagnose;
mod draw;
mod fallback;
mod spot_checks;

pub use diagnose::{Diagnosis, diagnose};
pub use fallback::{Backend, Fallback, fallbacks};

pub(crate) use draw::{next, some_pairs};
pub(crate) use fallback::first_right;
pub(crate) use spot_checks::{SpotChecks, value_fault};
