//! Linear SVMs on their dual: coordinate descent, adaptive variable selection frequencies, and a
//! second-order finish.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 3 of maxmargin. One function, [`solve`], takes the [`maxmargin_core::Dual`] that all
//! solvers take, and rows instead of a kernel: it keeps `w = Σ s_k α_k x_k` and never looks at a
//! kernel value.

mod avsf;
mod config;
mod descent;
mod finish;
mod front;
mod newton;
mod order;
mod point;
mod run;
mod search;
mod solve;
mod solver;
mod system;

pub use avsf::adapt;
pub use config::{Config, LinearWork, Method};
pub use maxmargin_kernel::Matrix;
pub use solve::{LinearError, LinearSolution, solve};
pub use solver::Linear;
