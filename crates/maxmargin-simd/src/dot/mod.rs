//! Dot products of a group of rows with a panel of samples: real numbers, bytes, bits, categories.

pub mod bits;
pub mod bytes;
pub mod categories;
pub mod products;
