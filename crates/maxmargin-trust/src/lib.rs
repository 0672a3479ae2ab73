//! What every reader promises, tried on made-up input, and trainings beside LIBSVM's and
//! LIBLINEAR's.
//!
//! - [`targets`]: one function for each reader, which panics where a promise is broken
//! - [`make`], [`mutate`]: almost valid input, and changes of it
//! - [`fuzz`]: runs of a target over inputs that a seed determines, beside those kept in `corpus`
//! - [`memory`]: what a reader allocates
//! - [`differential`]: pinned trainings and what must hold of them
//! - [`table`]: every formulation on real sets beside their programs
//! - [`claims`]: what certificates say, computed again in twice the precision
//! - [`nasty`]: trainings that make solvers run without end

#![allow(clippy::format_push_string, clippy::format_collect, reason = "small texts that are made once, in the plainest words")]

pub mod claims;
pub mod differential;
pub mod draws;
pub mod fuzz;
pub mod make;
pub mod memory;
pub mod mutate;
pub mod nasty;
pub mod table;
pub mod targets;
