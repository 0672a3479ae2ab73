//! Coordinate descent: sweeps with shrinking, and adaptive selection frequencies.

pub(crate) mod avsf;
pub(crate) mod descent;
pub(crate) mod order;
