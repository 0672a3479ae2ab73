//! Many cells of a grid: those of one kernel side by side, a log of the finished ones, and
//! derivatives of a validation loss.

pub(crate) mod gradient;
mod grid;
mod log;

pub use grid::{Cells, Column, Shared, grid};
pub use log::{CellLog, Opened, Unlogged};
