//! A run of a study: its progress, its deadline and its errors.

pub(crate) mod deadline;
pub(crate) mod error;
pub(crate) mod watch;
