//! Frank-Wolfe methods for the L2-SVM, whose dual is a quadratic form on the unit simplex.
//!
#![doc = include_str!("../README.md")]
//!
//! Core vector machines (Tsang, Kwok and Cheung 2005), Frank-Wolfe and modified Frank-Wolfe (Frandi
//! et al. 2013, algorithms 1 to 3), SWAP (Ñanculef et al. 2014), and pairwise steps with
//! second-order selection in fully corrective phases over blocks of vertices. All of them solve
//! `min ½ αᵀQα, Σ α = 1, α ≥ 0` over the rows of one store, stop by the duality gap that they all
//! know, and say what that was established from. The maths is in `docs/math/frank-wolfe.md`.

mod ball;
mod candidates;
mod config;
mod core_set;
mod cvm;
mod iterate;
mod l2_svm;
mod pairwise;
mod random_start;
mod solve;
mod solver;
mod steps;
mod tight;

pub use ball::Ball;
pub use config::{Evidence, Finish, FrankWolfeConfig, FrankWolfeError, Method, Outcome, Rule, Sampling, Steps};
pub use l2_svm::{Decision, L2Svm, decision, l2_svm, ordinary};
pub use maxmargin_core::Refine;
pub use random_start::{POINTS, random_start};
pub use solve::solve;
pub use solver::Simplex;
