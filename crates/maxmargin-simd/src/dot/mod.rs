//! Dot products of a group of rows with a panel of samples: real numbers, bytes, bits.

pub mod bits;
pub mod bytes;
pub mod products;
