//! Rows on request: one row, some rows in blocks, or all missing rows.

use super::block::Block;
use super::row::RowRef;
use super::{Cache, Rows, lock};
use maxmargin_data::{Cancelled, RunControl};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Rows that [`Rows::complete`] computes in one block.
const BLOCK_ROWS: usize = 512;

impl Rows<'_> {
    /// Returns row `i` from memory, or computes it.
    ///
    /// # Panics
    ///
    /// When `i` is not a row.
    pub fn row(&self, i: usize) -> RowRef {
        let n = self.gram().len();
        match &self.cache {
            Cache::All { rows, claimed } => {
                if let Some(row) = rows[i].get() {
                    self.hits.fetch_add(1, Relaxed);
                    return row.clone();
                }
                claimed[i].store(true, Relaxed);
                let mut block = self.format.block(n);
                self.fill(i, &mut block);
                let row = RowRef { block: Arc::new(block), start: 0, len: n };
                self.count_computed(1);
                if rows[i].set(row.clone()).is_ok() {
                    self.count_bytes(self.row_bytes());
                }
                rows[i].get().cloned().unwrap_or(row)
            }
            Cache::Recent(lru) => {
                let mut list = lock(lru);
                if let Some(block) = list.touch(i) {
                    self.hits.fetch_add(1, Relaxed);
                    return RowRef { block, start: 0, len: n };
                }
                let spare = list.buffer();
                drop(list);
                let mut block = spare.unwrap_or_else(|| self.format.block(n));
                self.fill(i, &mut block);
                self.count_computed(1);
                let mut list = lock(lru);
                let block = list.insert(i, block);
                self.set_bytes(self.row_bytes() * list.count() as u64);
                RowRef { block, start: 0, len: n }
            }
        }
    }

    /// Computes the missing rows of `wanted` in one block, as many as the budget can hold. Rows
    /// that another thread is computing in a block are left to that thread.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation. Rows that are not finished remain missing.
    pub fn fetch(&self, wanted: &[usize], control: &RunControl) -> Result<(), Cancelled> {
        let n = self.gram().len();
        match &self.cache {
            Cache::All { rows, claimed } => {
                let claim = |&&i: &&usize| rows[i].get().is_none() && !claimed[i].swap(true, Relaxed);
                let ids: Vec<usize> = wanted.iter().filter(claim).copied().collect();
                self.fetch_claimed(&ids, false, control)
            }
            Cache::Recent(lru) => {
                let mut list = lock(lru);
                let mut seen = HashSet::new();
                let mut ids: Vec<usize> = wanted.iter().copied().filter(|&i| seen.insert(i)).take(list.capacity()).collect();
                ids.retain(|&i| list.touch(i).is_none());
                // Blocks that are being filled are not in the list: leave most of it to other
                // threads.
                let most = (list.capacity() / 4).clamp(1, BLOCK_ROWS);
                drop(list);
                for ids in ids.chunks(most) {
                    let mut blocks: Vec<Block> = ids
                        .iter()
                        .map(|_| {
                            let spare = lock(lru).buffer();
                            spare.unwrap_or_else(|| self.format.block(n))
                        })
                        .collect();
                    let done = self.compute(ids, blocks.iter_mut().map(Block::contents_mut), false, control);
                    let mut list = lock(lru);
                    if let Err(halted) = done {
                        blocks.into_iter().for_each(|block| list.give_back(block));
                        return Err(halted);
                    }
                    self.count_computed(ids.len());
                    for (&i, block) in ids.iter().zip(blocks) {
                        list.insert(i, block);
                    }
                    self.set_bytes(self.row_bytes() * list.count() as u64);
                }
                Ok(())
            }
        }
    }

    /// Computes rows that this thread has claimed, in blocks. After a cancellation it releases the
    /// claims of the remaining rows.
    fn fetch_claimed(&self, ids: &[usize], mirror: bool, control: &RunControl) -> Result<(), Cancelled> {
        let Cache::All { claimed, .. } = &self.cache else { return Ok(()) };
        for (b, block) in ids.chunks(BLOCK_ROWS).enumerate() {
            if let Err(halted) = self.fetch_block(block, mirror, control) {
                ids[b * BLOCK_ROWS..].iter().for_each(|&i| claimed[i].store(false, Relaxed));
                return Err(halted);
            }
        }
        Ok(())
    }

    /// Computes all missing rows, if the budget holds the whole matrix. Symmetric halves are
    /// computed once.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation. Rows that are not finished remain missing.
    pub fn complete(&self, control: &RunControl) -> Result<(), Cancelled> {
        let Cache::All { rows, claimed } = &self.cache else { return Ok(()) };
        let missing = |&i: &usize| rows[i].get().is_none() && !claimed[i].swap(true, Relaxed);
        let ids: Vec<usize> = (0..rows.len()).filter(missing).collect();
        self.fetch_claimed(&ids, true, control)
    }

    /// Computes claimed rows into one block and stores them.
    fn fetch_block(&self, ids: &[usize], mirror: bool, control: &RunControl) -> Result<(), Cancelled> {
        let Cache::All { rows, .. } = &self.cache else { return Ok(()) };
        let n = self.gram().len();
        if ids.is_empty() {
            return Ok(());
        }
        let mut block = self.format.block(ids.len() * n);
        self.compute(ids, std::iter::once(block.contents_mut()), mirror, control)?;
        self.count_computed(ids.len());
        self.count_bytes(self.row_bytes() * ids.len() as u64);
        let block = Arc::new(block);
        for (r, &i) in ids.iter().enumerate() {
            // A row that `row` has stored meanwhile keeps that copy: both have the same bits.
            let _ = rows[i].set(RowRef { block: Arc::clone(&block), start: r * n, len: n });
        }
        Ok(())
    }
}
