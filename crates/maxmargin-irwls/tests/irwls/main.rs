//! Weighted least squares on working sets.

mod behaviour;
mod conformance;
mod finish;
mod near;
