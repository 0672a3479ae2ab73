//! The user's terminal: failures and exit codes, notes and warnings, progress, Ctrl-C, and how
//! numbers and labels are written.

pub(crate) mod colour;
pub(crate) mod failure;
pub(crate) mod format;
pub(crate) mod interrupt;
pub(crate) mod label_names;
pub(crate) mod name_list;
pub(crate) mod notes;
pub(crate) mod progress;
pub(crate) mod stderr;
pub(crate) mod wrap;
