//! A run of a study: the controls of its parts, and its errors.

pub(crate) mod control;
pub(crate) mod error;
pub(crate) mod refusal;
