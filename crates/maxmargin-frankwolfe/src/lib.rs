//! Frank-Wolfe methods for the L2-SVM, whose dual is a quadratic form on the unit simplex.
//!
#![doc = include_str!("../README.md")]
//!
//! The main types, in reading order:
//!
//! - [`l2_svm()`] makes the dual on the simplex, `min ½ αᵀQα, Σ α = 1, α ≥ 0`. [`ordinary()`]
//!   scales a solution to margins of 1 ([`L2Svm`]), and [`decision()`] returns its
//!   [`L2SvmDecision`] function.
//! - [`solve()`] is the solver. [`FrankWolfeConfig`] has its options: the [`StepMethod`] (core
//!   vector machines of Tsang, Kwok and Cheung 2005; Frank-Wolfe and modified Frank-Wolfe of Frandi
//!   et al. 2013, algorithms 1 to 3; SWAP of Ñanculef et al. 2014; pairwise steps with second-order
//!   selection), the stopping [`StopRule`], and [`Sampling`] with its [`Finish`].
//! - [`FrankWolfeOutcome`] is the result, with the [`Steps`] made and the [`Evidence`] for
//!   convergence.
//! - [`Simplex`] is the solver behind the [`maxmargin_core::Solve`] trait, in the ordinary scaling.
//! - [`random_start()`] is the start of the papers' measurements, [`two_point_start()`] their
//!   simpler one, and [`Ball`] the enclosing ball of their notation.
//!
//! All methods work over the rows of one store and stop by the duality gap. The maths is in
//! `docs/math/frank-wolfe.md`.
//!
//! Types of `maxmargin-core` in public signatures are exported here: the crate needs no other than
//! `maxmargin-data` and `maxmargin-kernel` beside it.

mod config;
mod l2_svm;
mod methods;
mod point;
mod random_start;
mod solve;
mod solver;
mod two_point_start;

pub use config::{Evidence, Finish, FrankWolfeConfig, FrankWolfeError, FrankWolfeOutcome, Sampling, StepMethod, Steps, StopRule};
pub use l2_svm::{L2Svm, L2SvmDecision, decision, l2_svm, ordinary};
pub use maxmargin_core::{
    Certificate, Dual, DualError, EqualityConstraint, Formulation, Goal, Refine, Refused, Run, Solution, Solve, Solved, Start,
    StartError, Status, Stop, Work, certify,
};
pub use point::ball::Ball;
pub use random_start::{POINTS, random_start};
pub use solve::solve;
pub use solver::Simplex;
pub use two_point_start::two_point_start;
