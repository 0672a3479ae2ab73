//! The log of finished cells of a search. With it an interrupted search continues, and several
//! processes share one search.

use crate::report::finished::Finished;
use std::ops::ControlFlow;

/// The state of a column in the log.
#[derive(Debug)]
pub enum ColumnState {
    /// The finished cells, from the first value of C on. The caller runs the others, and no other
    /// process does meanwhile.
    Mine(Vec<Finished>),
    /// The finished cells. The caller must not run the others.
    Theirs(Vec<Finished>),
    /// Another process works on the column: try again later.
    Busy,
}

/// Keeps the cells of a search.
pub trait CellLog: Sync {
    /// Opens the column with this index.
    fn open(&self, column: usize) -> ColumnState;

    /// Keeps a finished cell, given its column and the index of its value of C. `Break` ends the
    /// search, since the cell cannot be kept.
    fn keep(&self, column: usize, row: usize, cell: &Finished) -> ControlFlow<()>;

    /// Closes a column that was the caller's.
    fn close(&self, column: usize);
}

/// A log that keeps nothing. Every column is the caller's, from its first cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlogged;

impl CellLog for Unlogged {
    fn open(&self, _: usize) -> ColumnState {
        ColumnState::Mine(Vec::new())
    }

    fn keep(&self, _: usize, _: usize, _: &Finished) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}
