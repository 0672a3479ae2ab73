//! Memory for kernel values: blocks of rows on huge pages where the system has them.

use memmap2::MmapMut;
use std::sync::{Mutex, PoisonError};

/// Blocks from this size on are mapped, on huge pages if the system has them: fewer faults at the first touch.
const MAPPED_BYTES: usize = 1 << 21;

/// A buffer of `f32`, zero at first.
#[derive(Debug)]
pub(crate) enum Block {
    /// Pages of its own.
    Mapped(MmapMut),
    /// From the allocator.
    Heap(Vec<f32>),
}

impl Block {
    /// A block of `len` zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let bytes = len * 4;
        if bytes >= MAPPED_BYTES
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // Refusal only means small pages.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Block::Mapped(map);
        }
        Block::Heap(vec![0.0; len])
    }

    /// The values.
    #[inline]
    pub(crate) fn values(&self) -> &[f32] {
        match self {
            Block::Mapped(map) => bytemuck::cast_slice(map),
            Block::Heap(values) => values,
        }
    }

    /// The values, to be filled.
    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        match self {
            Block::Mapped(map) => bytemuck::cast_slice_mut(map),
            Block::Heap(values) => values,
        }
    }
}

/// Memory of row stores that are gone, for row stores to come: a sweep over kernel widths touches its pages once.
///
/// Only blocks of the size that is asked for are reused; [`Arena::clear`] and dropping the arena give the memory back.
#[derive(Debug, Default)]
pub struct Arena {
    spare: Mutex<Vec<Block>>,
}

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes held for reuse.
    pub fn bytes(&self) -> u64 {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|b| 4 * b.values().len() as u64).sum()
    }

    /// Gives all memory back.
    pub fn clear(&self) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A block of `len` values (stale ones), or none of that size.
    pub(crate) fn take(&self, len: usize) -> Option<Block> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let at = spare.iter().position(|b| b.values().len() == len)?;
        Some(spare.swap_remove(at))
    }

    /// Keeps a mapped block; small ones are not worth it.
    pub(crate) fn give(&self, block: Block) {
        if matches!(block, Block::Mapped(_)) {
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        }
    }
}
