//! The finish: an active-set method that takes a point to an exact optimum.

mod descend;
pub(crate) mod exact;
mod polish;
