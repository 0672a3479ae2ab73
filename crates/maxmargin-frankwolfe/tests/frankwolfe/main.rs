//! Frank-Wolfe steps and core vector machines.

mod behaviour;
mod conformance;
mod counts;
mod exports;
