//! A run of a study: the controls of its parts, its errors, and labels in their messages.

pub(crate) mod control;
pub(crate) mod error;
pub(crate) mod label_text;
pub(crate) mod refusal;
