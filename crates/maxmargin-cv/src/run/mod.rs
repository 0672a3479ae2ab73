//! A run of a study: its progress, its limits, and why it may fail.

pub(crate) mod deadline;
pub(crate) mod error;
pub(crate) mod watch;
