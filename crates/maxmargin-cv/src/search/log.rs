//! Where finished cells of a search are kept, so that a search that was ended goes on and several
//! programs share one.

use crate::report::finished::Finished;
use std::ops::ControlFlow;

/// What a log says of a column before it is begun.
#[derive(Debug)]
pub enum Opened {
    /// The cells that are done, from the first value of C on; the caller does the others, and
    /// nobody else does meanwhile.
    Mine(Vec<Finished>),
    /// The cells that are done, and the others are not wanted of the caller.
    Theirs(Vec<Finished>),
    /// Somebody else is at it: ask again.
    Busy,
}

/// Keeps the cells of a search.
pub trait CellLog: Sync {
    /// What is there of the column at this place, and who does the rest.
    fn open(&self, column: usize) -> Opened;

    /// Takes a cell as it is done: its column and the place of its value of C. `Break` ends the
    /// search: it cannot be kept.
    fn keep(&self, column: usize, row: usize, cell: &Finished) -> ControlFlow<()>;

    /// The caller does no more of a column that was its own.
    fn close(&self, column: usize);
}

/// Keeps nothing: every column is the caller's, from its first cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlogged;

impl CellLog for Unlogged {
    fn open(&self, _: usize) -> Opened {
        Opened::Mine(Vec::new())
    }

    fn keep(&self, _: usize, _: usize, _: &Finished) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}
