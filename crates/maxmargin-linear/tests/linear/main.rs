//! Solvers of linear machines on features.

mod conformance;
mod crammer_singer;
mod differential;
mod exports;
mod large_features;
mod margin;
mod problems;
mod text;
