//! Solvers of the dual problem by name.
//!
#![doc = include_str!("../README.md")]
//!
//! [`Solver`] names every family and builds it. [`SmoFinish`] is the solver of most trainings: it
//! runs SMO over merged rows ([`MergedRows`]), finishes on the free samples, and hands slow runs
//! over to working sets; problems with a sum for each sign become problems with one sum
//! (`two_sums`). [`SmoChunks`] lets SMO solve the working sets of weighted least squares.
//!
//! Layer 4 of maxmargin. It knows no folds and no classes.

mod merged_rows;
mod smo_chunks;
mod smo_finish;
mod solver;
mod two_sums;

pub use merged_rows::MergedRows;
pub use smo_chunks::SmoChunks;
pub use smo_finish::SmoFinish;
pub use solver::{Solver, UnknownSolver};
