//! Kernel values of rows in memory: in `f32`, or in codes of one byte.

use super::entries::Entries;
use crate::Gram;
use maxmargin_simd::pages::{Pages, Piece};
use maxmargin_simd::row::{CodeTable, RowSlice};
use std::ops::Range;
use std::sync::Arc;

/// The format in which a store holds values, and its source of memory.
#[derive(Clone, Debug)]
pub(crate) struct BlockFormat {
    pages: Pages,
    /// The values of codes; none where `f32` values are stored.
    table: Option<Arc<CodeTable>>,
    /// The constant subtracted from kernel values ([`Gram::base`]).
    base: f64,
}

impl BlockFormat {
    /// The format for rows of `gram`: codes where it has a table.
    pub(crate) fn new(pages: Pages, gram: &dyn Gram) -> Self {
        Self { pages, table: gram.table().map(Arc::new), base: gram.base() }
    }

    /// The source of memory.
    pub(crate) fn pages(&self) -> Pages {
        self.pages.clone()
    }

    /// Bytes of one value.
    pub(crate) fn width(&self) -> usize {
        if self.table.is_some() { 1 } else { 4 }
    }

    /// A block of `len` values with unspecified contents.
    pub(crate) fn block(&self, len: usize) -> Block {
        Block { piece: self.pages.take(len * self.width()), table: self.table.clone(), base: self.base }
    }
}

/// A buffer of kernel values.
#[derive(Debug)]
pub(crate) struct Block {
    piece: Piece,
    table: Option<Arc<CodeTable>>,
    base: f64,
}

/// The contents of a block, for writing.
pub(crate) enum BlockMut<'b> {
    Values(&'b mut [f32]),
    Codes(&'b mut [u8]),
}

impl Block {
    /// The values of a range.
    #[inline]
    pub(crate) fn row(&self, range: Range<usize>) -> Entries<'_> {
        let held = match &self.table {
            None => RowSlice::Values(bytemuck::cast_slice(&self.piece[4 * range.start..4 * range.end])),
            Some(table) => RowSlice::Codes(&self.piece[range], table),
        };
        Entries::new(held, self.base)
    }

    /// The contents, for writing.
    pub(crate) fn contents_mut(&mut self) -> BlockMut<'_> {
        match &self.table {
            None => BlockMut::Values(bytemuck::cast_slice_mut(&mut self.piece)),
            Some(_) => BlockMut::Codes(&mut self.piece),
        }
    }
}
