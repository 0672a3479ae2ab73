//! Solvers of linear machines on features.

mod conformance;
mod crammer_singer;
mod differential;
mod margin;
mod problems;
mod text;
