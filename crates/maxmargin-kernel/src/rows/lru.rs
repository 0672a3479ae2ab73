//! The least-recently-used list of rows within a budget.

use super::block::Block;
use std::sync::Arc;

/// The link that refers to no row.
const NONE: u32 = u32::MAX;

/// At most `capacity` of `n` rows, in a list from the most to the least recently used.
#[derive(Debug)]
pub(crate) struct Lru {
    rows: Vec<Option<Arc<Block>>>,
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    count: usize,
    capacity: usize,
    /// Number of existing blocks, including those between [`Lru::buffer`] and [`Lru::insert`].
    /// Memory is allocated once and then reused for other rows.
    made: usize,
    /// Blocks without a row.
    spare: Vec<Block>,
}

impl Lru {
    /// An empty list.
    pub(crate) fn new(n: usize, capacity: usize) -> Self {
        Self {
            rows: vec![None; n],
            newer: vec![NONE; n],
            older: vec![NONE; n],
            newest: NONE,
            oldest: NONE,
            count: 0,
            capacity,
            made: 0,
            spare: Vec::new(),
        }
    }

    /// The number of rows held.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The most rows that may be held.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sets the capacity and drops the least recently used rows beyond it.
    pub(crate) fn resize(&mut self, capacity: usize) {
        self.capacity = capacity;
        while self.made > self.capacity && self.spare.pop().is_some() {
            self.made -= 1;
        }
        while self.made > self.capacity && self.evict().is_some() {
            self.made -= 1;
        }
    }

    /// Returns whether row `i` is held.
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.rows[i].is_some()
    }

    /// Returns row `i`, if it is held, and makes it the most recently used.
    pub(crate) fn touch(&mut self, i: usize) -> Option<Arc<Block>> {
        let row = self.rows[i].clone()?;
        if self.newest != i as u32 {
            self.unlink(i);
            self.push(i);
        }
        Some(row)
    }

    /// Memory for a row, from a spare block or an evicted row. None if the caller must allocate a
    /// new block.
    pub(crate) fn buffer(&mut self) -> Option<Block> {
        if let Some(block) = self.spare.pop() {
            return Some(block);
        }
        while self.made >= self.capacity {
            let Some(row) = self.evict() else { break };
            match Arc::try_unwrap(row) {
                Ok(block) => return Some(block),
                // A reader still has the row and frees it later.
                Err(_) => self.made -= 1,
            }
        }
        self.made += 1;
        None
    }

    /// Takes back an unused block that [`Lru::buffer`] returned or allowed.
    pub(crate) fn give_back(&mut self, block: Block) {
        self.spare.push(block);
    }

    /// Stores a row in a block that [`Lru::buffer`] returned or allowed, and returns the stored
    /// row. If another thread has stored the row already, that copy stays.
    pub(crate) fn insert(&mut self, i: usize, row: Block) -> Arc<Block> {
        if let Some(held) = self.touch(i) {
            self.spare.push(row);
            return held;
        }
        let row = Arc::new(row);
        self.rows[i] = Some(Arc::clone(&row));
        self.count += 1;
        self.push(i);
        // More blocks were being filled at once than the capacity allows.
        while self.made > self.capacity && self.evict().is_some() {
            self.made -= 1;
        }
        row
    }

    /// Removes the least recently used row.
    fn evict(&mut self) -> Option<Arc<Block>> {
        let i = self.oldest;
        if i == NONE {
            return None;
        }
        self.unlink(i as usize);
        self.count -= 1;
        self.rows[i as usize].take()
    }

    fn unlink(&mut self, i: usize) {
        let (newer, older) = (self.newer[i], self.older[i]);
        match newer {
            NONE => self.newest = older,
            j => self.older[j as usize] = older,
        }
        match older {
            NONE => self.oldest = newer,
            j => self.newer[j as usize] = newer,
        }
    }

    fn push(&mut self, i: usize) {
        self.newer[i] = NONE;
        self.older[i] = self.newest;
        match self.newest {
            NONE => self.oldest = i as u32,
            j => self.newer[j as usize] = i as u32,
        }
        self.newest = i as u32;
    }
}
