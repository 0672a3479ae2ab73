//! The walk along a path: the state, its sets and the steps between breakpoints.

mod begin;
mod columns;
mod empty;
pub(crate) mod follow;
mod margin;
pub(crate) mod state;
