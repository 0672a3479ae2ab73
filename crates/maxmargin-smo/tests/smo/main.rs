//! The solver by pairs of variables.

mod active;
mod behaviour;
mod conformance;
mod counts;
mod differential;
mod exports;
mod hard;
mod neighbours;
mod properties;
mod stages;
