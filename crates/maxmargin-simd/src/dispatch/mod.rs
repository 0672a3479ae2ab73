//! Run-time dispatch: the vector instructions of the machine, and length checks before unsafe code.

pub(crate) mod each;
pub(crate) mod lengths;
pub mod level;
