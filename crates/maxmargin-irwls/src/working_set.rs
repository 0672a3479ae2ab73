//! Working sets: their selection, their kernel values and the small dense problem.

pub(crate) mod chunk;
pub(crate) mod exact;
pub(crate) mod project;
pub(crate) mod select;
