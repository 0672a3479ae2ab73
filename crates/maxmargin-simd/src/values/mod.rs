//! Kernel values from slices of dot products or distances: Gaussians, codes, tables.

pub mod codes;
pub mod distances;
pub mod exp;
