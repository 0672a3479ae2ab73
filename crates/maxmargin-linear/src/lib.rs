//! Linear SVMs on their dual: coordinate descent, adaptive variable selection frequencies, and a
//! second-order finish.
//!
#![doc = include_str!("../README.md")]
//!
//! Layer 3 of maxmargin. The main types, in reading order:
//!
//! - [`solve()`] takes the [`maxmargin_core::Dual`] that all solvers take, and the rows of a
//!   [`Matrix`] instead of a kernel. It keeps `w = Σ s_k α_k x_k` and reads no kernel value.
//!   [`LinearSolution`] is its result, [`LinearError`] a refusal.
//! - [`Config`] has the options, among them the [`Method`]; [`LinearWork`] counts the cost.
//! - [`Linear`] is the solver behind the [`maxmargin_core::Solve`] trait.
//! - [`MarginSolver`] takes a [`maxmargin_core::MarginProblem`]: logistic regression, and the L1
//!   norm. [`MarginSolution`] is its result. [`solve_crammer_singer`] makes the machine of all
//!   classes at once.
//! - [`adapt()`] measures the cost of adaptive selection frequencies alone.
//!
//! `coordinate` has the coordinate descents, `second_order` the Newton steps, `front` and `finish`
//! the default method that combines them. The mathematics is in `docs/math/linear.md`.
//!
//! Types of `maxmargin-core` in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod compressed;
mod config;
mod coordinate;
mod crammer_singer;
mod finish;
mod front;
mod margin;
mod point;
mod run;
mod second_order;
mod sliced;
mod solve;
mod solver;

pub use config::{Config, LinearWork, Method};
pub use coordinate::avsf::adapt;
pub use crammer_singer::{ClassesSolution, solve_crammer_singer};
pub use margin::{MarginSolution, MarginSolver};
pub use maxmargin_core::{
    BiasTerm, Certificate, CertifiedClasses, CrammerSinger, CrammerSingerError, Dual, DualError, EqualityConstraint, Formulation,
    Goal, Loss, MarginLoss, MarginProblem, MarginProblemError, Penalty, Refine, Refused, Run, Solution, Solve, Solved, Start,
    StartError, Status, Stop, Work, certify,
};
pub use maxmargin_kernel::Matrix;
pub use solve::{LinearError, LinearSolution, solve};
pub use solver::Linear;
