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
//!
//! Types of other crates in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod merged_rows;
mod smo_chunks;
mod smo_finish;
mod solver;
mod two_sums;
mod working_sets;

pub use maxmargin_core::{
    BiasTerm, Certificate, Dual, DualError, EqualityConstraint, Formulation, Goal, Loss, Refine, Refused, Run, Solution, Solve,
    Solved, Start, StartError, Status, Stop, Work, certify,
};
pub use maxmargin_irwls::{Chunk, ChunkSolver};
pub use maxmargin_smo::{PairBudget, Shrinking, Smo, VariableCounts};
pub use merged_rows::MergedRows;
pub use smo_chunks::SmoChunks;
pub use smo_finish::SmoFinish;
pub use solver::{Solver, UnknownSolver};
