//! Rows within a budget: the least recently used row makes room.

use crate::block::Block;
use std::sync::Arc;

/// No row.
const NONE: u32 = u32::MAX;

/// At most `capacity` rows of `n`, in a list from the most to the least recently used.
#[derive(Debug)]
pub(crate) struct Lru {
    rows: Vec<Option<Arc<Block>>>,
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
    count: usize,
    capacity: usize,
    /// Evicted rows that nobody reads any more.
    spare: Vec<Arc<Block>>,
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

    /// Whether row `i` is held.
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.rows[i].is_some()
    }

    /// Row `i`, now the most recently used.
    pub(crate) fn touch(&mut self, i: usize) -> Option<Arc<Block>> {
        let row = self.rows[i].clone()?;
        if self.newest != i as u32 {
            self.unlink(i);
            self.push(i);
        }
        Some(row)
    }

    /// A buffer for a row: evicts if the list is full, and reuses the evicted memory unless somebody still reads it.
    pub(crate) fn buffer(&mut self) -> Option<Block> {
        if self.count >= self.capacity {
            self.evict();
        }
        self.spare.pop().and_then(|row| Arc::try_unwrap(row).ok())
    }

    /// Keeps a row; when another thread was faster its row stays. Returns the row that is held.
    pub(crate) fn insert(&mut self, i: usize, row: Block) -> Arc<Block> {
        if let Some(held) = self.touch(i) {
            self.spare.push(Arc::new(row));
            self.spare.truncate(4);
            return held;
        }
        while self.count >= self.capacity {
            self.evict();
        }
        let row = Arc::new(row);
        self.rows[i] = Some(Arc::clone(&row));
        self.count += 1;
        self.push(i);
        row
    }

    fn evict(&mut self) {
        let i = self.oldest;
        if i == NONE {
            return;
        }
        self.unlink(i as usize);
        self.count -= 1;
        if let Some(row) = self.rows[i as usize].take()
            && Arc::strong_count(&row) == 1
            && self.spare.len() < 4
        {
            self.spare.push(row);
        }
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
