//! The solver by pairs of variables.

mod active;
mod behaviour;
mod conformance;
mod counts;
mod differential;
mod hard;
mod properties;
mod neighbours;
