//! Execution of long work: threads, limits, cancellation and progress.

mod control;
pub mod par;
mod progress;

pub use control::{Cancelled, EndReason, RunControl};
pub use progress::{Progress, Stage};
