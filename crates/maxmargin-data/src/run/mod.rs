//! Execution of long work: threads and cancellation.

mod asking;
pub mod par;

pub use asking::{Asking, Halted};
