//! Iterative re-weighted least squares for duals with one equality constraint, on a whole problem
//! and in chunks.
//!
#![doc = include_str!("../README.md")]
//!
//! The method of Pérez-Cruz, Alarcón-Diana, Navia-Vázquez and Artés-Rodríguez (Fast training of
//! support vector classifiers, NIPS 2000): a working set is solved by weighted least squares whose
//! weights follow from the errors, with the rest fixed; then all errors are updated and the next
//! working set is drawn from the samples that violate the optimality conditions. Steps here are
//! damped so that the dual objective falls in every one, working sets are solved by whatever
//! [`ChunkSolver`] the caller brings, and [`finish`] takes a nearly converged solution of any
//! solver to the precision of `f64`. The maths is in `docs/math/irwls.md`.

mod chunk;
mod config;
mod exact;
mod finish;
mod least_squares;
mod pairs;
mod project;
mod select;
mod solve;
mod solver;
mod state;
mod system;
mod weighted;

pub use chunk::{Chunk, ChunkSolver};
pub use config::{IrwlsConfig, IrwlsError, Outcome, Selection};
pub use finish::{Finish, finish};
pub use least_squares::LeastSquares;
pub use maxmargin_core::Refine;
pub use solve::solve;
pub use solver::Irwls;
