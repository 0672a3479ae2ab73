//! The passes of sequential minimal optimisation.

pub mod moves;
pub mod passes;
