//! Kernel rows: their form in memory, sums over them, transposed copies.

pub mod row;
pub mod row_sums;
pub mod sums;
pub mod transpose;
