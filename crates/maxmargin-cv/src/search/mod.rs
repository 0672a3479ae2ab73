//! Search of parameters: a grid of cells, a log of finished cells, and derivatives of a validation
//! loss.

pub(crate) mod gradient;
mod grid;
mod log;

pub use grid::{Cells, GridColumn, Shared, grid};
pub use log::{CellLog, ColumnState, Unlogged};
