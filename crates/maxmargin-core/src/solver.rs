//! The interface of solvers, and warm starts for them.

pub(crate) mod solve;
pub mod warm;
