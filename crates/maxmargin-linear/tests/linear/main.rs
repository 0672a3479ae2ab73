//! Solvers of linear machines on features.

mod conformance;
mod differential;
mod problems;
mod text;
