//! Exact Shapley values of support vector machines.
//!
#![doc = include_str!("../README.md")]
//!
//! In reading order:
//! - [`Explain`] holds the options, and [`Explain::rows`] explains rows of samples.
//! - [`ExplainModel`] is the same as a method of a model.
//! - [`Players`] groups features: a player is a feature, or all features of one column of a table.
//! - [`Explanation`] holds values, base values, decision values and interactions, and the error of
//!   their sum.
//! - `product`, `polynomial` and `linear` compute the games of a kernel; `quadrature` has the
//!   Gauss–Legendre rules that make their integrals exact.
//!
//! The mathematics is in `docs/math/explain.md`. Layer 4 of maxmargin.

mod block;
mod error;
mod explain;
mod explanation;
mod linear;
mod model;
mod players;
mod polynomial;
mod product;
mod quadrature;

pub use error::ExplainError;
pub use explain::Explain;
pub use explanation::Explanation;
pub use model::ExplainModel;
pub use players::Players;
