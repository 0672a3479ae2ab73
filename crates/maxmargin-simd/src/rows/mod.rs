//! Kernel rows: their form in memory, sums over them, transposed copies.

pub mod row;
pub mod sums;
pub mod transpose;
