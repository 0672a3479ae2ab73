//! The methods: single steps, core sets and pairwise steps, with the search for the furthest point.

pub(crate) mod candidates;
pub(crate) mod core_set;
pub(crate) mod cvm;
pub(crate) mod pairwise;
pub(crate) mod steps;
