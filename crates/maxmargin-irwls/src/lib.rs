//! Iterative re-weighted least squares for duals with one equality constraint, on a whole problem
//! and in chunks.
//!
#![doc = include_str!("../README.md")]
//!
//! The main types, in reading order:
//!
//! - [`solve()`] is the method of Pérez-Cruz, Alarcón-Diana, Navia-Vázquez and Artés-Rodríguez
//!   (Fast training of support vector classifiers, NIPS 2000). Weighted least squares, with weights
//!   from the errors, solves a working set while the rest is fixed. Then all errors are updated,
//!   and the next working set comes from the samples that violate the optimality conditions. Steps
//!   are damped, so that the dual objective falls in each.
//! - [`IrwlsConfig`] has the options, among them the [`SetSelection`] of working sets and their
//!   [`ChunkSolver`]; [`IrwlsOutcome`] is the result, [`IrwlsError`] a refusal.
//! - [`Chunk`] is a working set as a small dense problem, and [`LeastSquares`] its default solver.
//! - [`finish()`] takes a nearly converged solution of any solver to the precision of `f64`, with
//!   the options of [`FinishConfig`].
//! - [`Irwls`] is the solver behind the [`maxmargin_core::Solve`] trait.
//!
//! The maths is in `docs/math/irwls.md`.
//!
//! Types of `maxmargin-core` in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod config;
mod finish;
mod inner_solver;
mod solve;
mod solver;
mod state;
mod working_set;

pub use config::{FinishConfig, IrwlsConfig, IrwlsError, IrwlsOutcome};
pub use finish::finish;
pub use inner_solver::least_squares::LeastSquares;
pub use maxmargin_core::{
    BiasTerm, Certificate, Dual, DualError, EqualityConstraint, Formulation, Goal, Loss, Refine, Refused, Run, Solution, Solve,
    Solved, Start, StartError, Status, Stop, Work, certify,
};
pub use solve::solve;
pub use solver::Irwls;
pub use working_set::chunk::{Chunk, ChunkSolver};
pub use working_set::select::SetSelection;
