//! Execution of long work: threads and cancellation.

mod control;
pub mod par;

pub use control::{Cancelled, RunControl};
