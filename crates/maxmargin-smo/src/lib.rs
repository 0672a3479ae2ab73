//! Sequential minimal optimisation for duals with one equality constraint.
//!
#![doc = include_str!("../README.md")]
//!
//! - [`Smo`] is the solver behind the [`maxmargin_core::Solve`] trait that all solvers share.
//! - [`solve()`] is the same solver as a function, with its options in [`SmoConfig`] and its
//!   refusals in [`SmoError`]. It selects working sets by second-order information (Fan, Chen and
//!   Lin 2005), keeps the gradient in `f64` over kernel rows in `f32`, and refines in exact kernel
//!   values until the certificate meets the tolerance.
//! - [`Shrinking`] tells from which problem size it works on active variables only.
//! - [`PairBudget`] ends a run when another solver costs less than going on, by [`VariableCounts`].
//! - [`relax()`] repairs a point at a fixed bias, with [`Relaxation`] as its parameters and
//!   [`Relaxed`] as its result.
//!
//! An iteration makes two vectorised passes over the variables, which threads can share. The maths
//! is in `docs/math/smo.md`.
//!
//! Types of `maxmargin-core` in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod config;
mod neighbours;
mod pair_budget;
mod pairs;
mod passes;
mod prefetch;
mod rounds;
mod solve;
mod solver;
mod stages;
mod strategy;

pub use config::{Shrinking, SmoConfig, SmoError};
pub use maxmargin_core::{
    BiasTerm, Certificate, Dual, DualError, EqualityConstraint, Formulation, Goal, Loss, Refine, Refused, Run, Solution, Solve,
    Solved, Start, StartError, Status, Stop, Work, certify,
};
pub use pair_budget::{PairBudget, VariableCounts};
pub use rounds::relax::{Relaxation, Relaxed, relax};
pub use solve::solve;
pub use solver::Smo;
