//! The solver by pairs of variables.

mod active;
mod behaviour;
mod conformance;
mod counts;
mod differential;
mod hard;
mod neighbours;
mod properties;
mod stages;
