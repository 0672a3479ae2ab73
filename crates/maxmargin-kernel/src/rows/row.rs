//! One row of a row store.

use super::block::Block;
use super::entries::Entries;
use std::sync::Arc;

/// A row of `K` with all `n` columns. The row stays in memory as long as this value exists.
#[derive(Clone, Debug)]
pub struct RowRef {
    pub(super) block: Arc<Block>,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl RowRef {
    /// The kernel values.
    #[inline]
    pub fn entries(&self) -> Entries<'_> {
        self.block.row(self.start..self.start + self.len)
    }

    /// The kernel value `K_ij` of this row and column `j`.
    ///
    /// # Panics
    ///
    /// When there is no such column.
    #[inline]
    pub fn at(&self, j: usize) -> f64 {
        self.entries().at(j)
    }
}
