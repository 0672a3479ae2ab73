//! Memory for kernel values: pieces of large mappings.
//!
//! The first touch of a page is the main cost of memory: a matrix of some gigabytes takes as long
//! to touch as to compute. So pieces are adjacent, and a mapping without remaining pieces is filled
//! again before a new one is created.
//!
//! Huge pages are not requested. Those that the machine has at hand are touched in a third of the
//! time of small pages, 0.3 s a gigabyte less. A virtual machine that returns free memory to its
//! host takes huge pages from what it has returned: 1 to 2.5 s a gigabyte more
//! (docs/performance.md).

use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The alignment of pieces: whole cache lines, sufficient for every vector.
const ALIGN: usize = 64;

/// Size of the first mapping, and of the largest one for small pieces.
const SMALLEST: usize = 1 << 18;
const LARGEST: usize = 1 << 26;

/// A mapping, which lives as long as its pieces.
#[derive(Debug)]
struct Slab {
    /// The address of the whole mapping; its pieces do not overlap.
    first: NonNull<u8>,
    len: usize,
    /// The mapping, which is unmapped with the last piece.
    _map: MmapMut,
}

// SAFETY: a slab is an address and a length; bytes behind it are read and written through pieces
// alone, of which no two overlap.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

/// A piece of a mapping, with exclusive access.
#[derive(Debug)]
pub struct Piece {
    slab: Arc<Slab>,
    start: usize,
    len: usize,
}

impl Deref for Piece {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `take` cut `start + len ≤ slab.len` for this piece alone, the mapping lives as
        // long as its slab, and its bytes were zero or written by the owner of an earlier piece.
        unsafe { std::slice::from_raw_parts(self.slab.first.as_ptr().add(self.start), self.len) }
    }
}

impl DerefMut for Piece {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; no other piece has these bytes, and this borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.slab.first.as_ptr().add(self.start), self.len) }
    }
}

/// The source of pieces. Clones share the mappings.
#[derive(Clone, Debug, Default)]
pub struct Pages(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    slabs: Vec<Arc<Slab>>,
    /// The current slab, and the number of its used bytes.
    open: usize,
    used: usize,
}

impl Pages {
    /// A source without mappings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of mapped bytes.
    pub fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).slabs.iter().map(|slab| slab.len as u64).sum()
    }

    /// A piece of `len` bytes, which are zero or contents of an earlier piece.
    ///
    /// If there is no memory the process aborts, like for every allocation.
    pub fn take(&self, len: usize) -> Piece {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |slab: &Slab, used: usize| slab.len.checked_sub(used).is_some_and(|left| left >= len);
        let Inner { slabs, open, used } = &mut *inner;
        // A slab without remaining pieces is filled again from its start, the first such slab
        // first: pages that were touched before cost nothing.
        if slabs.get_mut(*open).is_some_and(|slab| Arc::get_mut(slab).is_some()) {
            *open = slabs.iter_mut().position(|slab| Arc::get_mut(slab).is_some_and(|slab| fits(slab, 0))).unwrap_or(*open);
            *used = 0;
        }
        let open = (*open, *used);
        if !inner.slabs.get(open.0).is_some_and(|slab| fits(slab, open.1)) {
            // Takes a slab without remaining pieces, or else a new one, twice as large as the last.
            let free = inner.slabs.iter_mut().position(|slab| Arc::get_mut(slab).is_some_and(|slab| fits(slab, 0)));
            if free.is_none() {
                let size = inner.slabs.last().map_or(SMALLEST, |slab| (2 * slab.len).min(LARGEST)).max(len);
                inner.make_room(size);
                inner.slabs.push(Arc::new(Slab::map(size)));
            }
            inner.open = free.unwrap_or(inner.slabs.len() - 1);
            inner.used = 0;
        }
        let (slab, start) = (Arc::clone(&inner.slabs[inner.open]), inner.used);
        // The offset must not exceed the end: an empty piece may be anywhere.
        inner.used = (start + len).next_multiple_of(ALIGN).min(slab.len);
        Piece { slab, start, len }
    }
}

impl Inner {
    /// Called before `more` bytes are mapped. Unused slabs are all too small then, and at most as
    /// many of their bytes are kept.
    fn make_room(&mut self, more: usize) {
        let mut kept = 0;
        self.slabs.retain_mut(|slab| {
            let free = if Arc::get_mut(slab).is_some() { slab.len } else { 0 };
            kept += free;
            kept <= more || free == 0
        });
    }
}

impl Slab {
    fn map(len: usize) -> Self {
        let len = len.max(1);
        let Ok(mut map) = MmapMut::map_anon(len) else {
            handle_alloc_error(Layout::array::<u8>(len).unwrap_or(Layout::new::<u8>()))
        };
        let first = NonNull::from(&mut map[..]).cast();
        Self { first, len: map.len(), _map: map }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_keep_their_bytes() {
        let pages = Pages::new();
        let mut pieces: Vec<Piece> = (0..200).map(|k| pages.take(k * 97)).collect();
        for (k, piece) in pieces.iter_mut().enumerate() {
            assert_eq!((piece.len(), piece.as_ptr() as usize % ALIGN), (k * 97, 0));
            piece.fill(k as u8);
        }
        drop(pages);
        assert!(pieces.iter().enumerate().all(|(k, piece)| piece.iter().all(|byte| *byte == k as u8)));
    }

    #[test]
    fn what_all_have_left_is_filled_again() {
        let pages = Pages::new();
        let first: Vec<Piece> = (0..8).map(|_| pages.take(SMALLEST / 8)).collect();
        assert_eq!(pages.bytes(), SMALLEST as u64);
        let address = first[0].as_ptr();
        let kept = first.into_iter().next_back();
        let second = pages.take(2 * SMALLEST);
        assert_eq!(pages.bytes(), 3 * SMALLEST as u64);
        drop((kept, second));
        let again = pages.take(100);
        assert_eq!((again.as_ptr(), pages.bytes()), (address, 3 * SMALLEST as u64));
    }

    /// Successive matrices of the same size reuse the memory of the first, at any position of its
    /// mappings.
    #[test]
    fn what_was_touched_is_used_before_what_was_not() {
        let pages = Pages::new();
        let matrix = || -> Vec<Piece> { (0..9).map(|_| pages.take(SMALLEST / 4)).collect() };
        let (first, mapped) = (matrix().iter().map(|piece| piece.as_ptr()).collect::<Vec<_>>(), pages.bytes());
        for _ in 0..20 {
            assert_eq!(matrix().iter().map(|piece| piece.as_ptr()).collect::<Vec<_>>(), first);
        }
        assert_eq!(pages.bytes(), mapped);
    }

    #[test]
    fn what_is_too_small_for_ever_larger_pieces_is_given_back() {
        let pages = Pages::new();
        for k in 1..=40 {
            let large = pages.take(k * SMALLEST);
            let small: Vec<Piece> = (0..5).map(|_| pages.take(1000)).collect();
            assert!(pages.bytes() <= 4 * (k * SMALLEST + 5000) as u64, "{k}: {}", pages.bytes());
            drop((large, small));
        }
    }

    #[test]
    fn threads_have_pieces_of_their_own() {
        let pages = Pages::new();
        std::thread::scope(|scope| {
            for t in 0..4_u8 {
                let pages = pages.clone();
                scope.spawn(move || {
                    for round in 0..200 {
                        let mut piece = pages.take(1000 + round);
                        piece.fill(t);
                        assert!(piece.iter().all(|byte| *byte == t));
                    }
                });
            }
        });
    }
}
