//! Weighted least squares on working sets.

mod behaviour;
mod conformance;
mod exports;
mod finish;
mod near;
