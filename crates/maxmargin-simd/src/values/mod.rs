//! Kernel values from slices of dot products or distances: Gaussians, powers, codes, tables.

pub mod codes;
pub mod distances;
pub mod exp;
pub mod power;
