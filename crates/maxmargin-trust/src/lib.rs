//! Guarantees of all readers, checked on generated input, and trainings compared with LIBSVM's and
//! LIBLINEAR's.
//!
//! Readers:
//!
//! - [`targets`]: one function for each reader, which panics if a guarantee is broken
//! - [`make`], [`mutate`]: almost valid input, and changes of it
//! - [`fuzz`]: runs of a target over inputs that a seed determines, and those kept in `corpus`
//! - [`memory`]: the memory that a reader allocates
//!
//! Trainings:
//!
//! - [`differential`]: pinned trainings and the requirements on them
//! - [`table`]: every formulation on real sets, compared with their programs
//! - [`ill_conditioned`]: trainings that make solvers run without end
//! - [`claims`]: the claims of certificates, recomputed in twice the precision

#![allow(clippy::format_push_string, clippy::format_collect, reason = "small texts that are made once, in the plainest words")]

pub mod claims;
mod comparisons;
pub mod draws;
mod readers;

pub use comparisons::{differential, ill_conditioned, table};
pub use readers::{fuzz, make, memory, mutate, targets};
