//! Search of parameters: a grid of cells, a log of finished cells, and derivatives of a validation
//! loss.

pub(crate) mod gradient;
mod grid;
mod log;

pub use grid::{Cells, Column, Shared, grid};
pub use log::{CellLog, Opened, Unlogged};
