//! The running point on the simplex, its ball and its gap.

pub(crate) mod ball;
pub(crate) mod iterate;
pub(crate) mod tight;
