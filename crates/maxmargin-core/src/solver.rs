//! The interface of solvers, and warm starts for them.

pub(crate) mod refusal;
pub(crate) mod solve;
pub mod warm;
