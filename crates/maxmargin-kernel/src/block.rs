//! Kernel values of some rows in memory: in `f32`, or in codes of one byte.

use crate::Gram;
use crate::entries::Entries;
use maxmargin_simd::pages::{Pages, Piece};
use maxmargin_simd::row::{Row, Table};
use std::ops::Range;
use std::sync::Arc;

/// How a store holds values, and where.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pages: Pages,
    /// What codes stand for; none where values are held as they are.
    table: Option<Arc<Table>>,
    /// What values are less than kernel values.
    base: f64,
}

impl Form {
    /// How rows of `gram` are held.
    pub(crate) fn new(pages: Pages, gram: &dyn Gram) -> Self {
        Self { pages, table: gram.table().map(Arc::new), base: gram.base() }
    }

    /// The same without codes: four times the bytes, and passes over rows that caches hold are
    /// quicker.
    pub(crate) fn of_values(pages: Pages, gram: &dyn Gram) -> Self {
        Self { pages, table: None, base: gram.base() }
    }

    /// Where memory comes from.
    pub(crate) fn pages(&self) -> Pages {
        self.pages.clone()
    }

    /// Bytes of one value.
    pub(crate) fn width(&self) -> usize {
        if self.table.is_some() { 1 } else { 4 }
    }

    /// Room for `len` values, whatever they are now.
    pub(crate) fn block(&self, len: usize) -> Block {
        Block { piece: self.pages.take(len * self.width()), table: self.table.clone(), base: self.base }
    }
}

/// A buffer of kernel values.
#[derive(Debug)]
pub(crate) struct Block {
    piece: Piece,
    table: Option<Arc<Table>>,
    base: f64,
}

/// What is written into a block.
pub(crate) enum Filled<'b> {
    Values(&'b mut [f32]),
    Codes(&'b mut [u8]),
}

impl Block {
    /// The values of a range.
    #[inline]
    pub(crate) fn row(&self, range: Range<usize>) -> Entries<'_> {
        let held = match &self.table {
            None => Row::Values(bytemuck::cast_slice(&self.piece[4 * range.start..4 * range.end])),
            Some(table) => Row::Codes(&self.piece[range], table),
        };
        Entries::new(held, self.base)
    }

    /// What is to be filled.
    pub(crate) fn fill(&mut self) -> Filled<'_> {
        match &self.table {
            None => Filled::Values(bytemuck::cast_slice_mut(&mut self.piece)),
            Some(_) => Filled::Codes(&mut self.piece),
        }
    }
}
