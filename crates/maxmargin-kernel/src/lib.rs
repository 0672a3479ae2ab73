//! Kernel functions, Gram matrices computed in blocks, and the row store that solvers share.
//!
//! Layer 1 of maxmargin. Nobody else evaluates a kernel. Solvers meet a kernel at row granularity: [`Rows`] hands out rows of
//! `K` in `f32`, [`Gram::fill_exact`] recomputes entries in `f64` for certificates and refinement.

pub mod gram;
pub mod kernel;
pub mod rows;

pub use gram::Gram;
pub use kernel::{Kernel, KernelError};
pub use rows::{RowRef, RowWork, Rows};
