//! Memory for kernel values: blocks of rows on huge pages where the system has them.

use memmap2::MmapMut;

/// Blocks from this size on are mapped: a touch of a huge page costs a seventh of the touches of its small pages.
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
