//! Rounds over the active variables, and repairs at a fixed bias.

pub(crate) mod active;
pub(crate) mod candidates;
pub(crate) mod relax;
pub(crate) mod round_layout;
pub(crate) mod sums;
