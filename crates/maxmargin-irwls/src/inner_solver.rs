//! The solver of working sets: weighted least squares, with pair steps as its fallback.

pub(crate) mod elimination;
pub(crate) mod least_squares;
pub(crate) mod pairs;
pub(crate) mod system;
pub(crate) mod weighted;
