//! Sequential minimal optimisation for duals with one equality constraint.
//!
#![doc = include_str!("../README.md")]
//!
//! Second-order working set selection (Fan, Chen and Lin 2005), the gradient kept in `f64` over
//! kernel rows in `f32`, gradient update and selection fused into two vectorised passes an
//! iteration that threads can share, conjugate steps, warm starts, and a refinement in exact `f64`
//! kernel values after which the certificate meets the tolerance. The maths is in
//! `docs/math/smo.md`.

mod active;
mod arranged;
mod direction;
mod layout;
mod pairs;
mod patience;
mod prefetch;
mod relax;
mod shard;
mod solve;
mod solver;
mod state;
mod sums;
mod team;

pub use active::Shrinking;
pub use maxmargin_core::Refine;
pub use patience::PairBudget;
pub use relax::{Relaxation, Relaxed, relax};
pub use solve::{SmoConfig, SmoError, solve};
pub use solver::Smo;
