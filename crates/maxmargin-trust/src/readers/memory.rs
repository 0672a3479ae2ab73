//! The memory of a reader: a counting allocator, and the bound that readers keep.
#![allow(unsafe_code, reason = "a global allocator; it hands every call on to the system's and counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The bytes that a reader may hold for each byte of its input: the bound that
/// `maxmargin_data::codec` documents. Text needs less: a row `1\n` of two bytes becomes a label, an
/// offset and the end of a row, in vectors of at most twice their length.
pub const PER_BYTE: usize = 64;

/// The bytes that a reader may hold for any input.
pub const BASE: usize = 1 << 20;

/// The same for a reader of cells: reports contain folds, those machines, and those names; a
/// mebibyte for each level.
pub const CELL_BASE: usize = 4 * BASE;

/// The same for a reader of models. It creates the weights of a linear model up to so many numbers
/// (`FEW` in `maxmargin_model::weights`), even if a file names few of them.
pub const MODEL_BASE: usize = BASE + (8 << 22);

/// The same for a prediction of two rows: dense rows and vectors of up to 2²² columns
/// (`MANY_COLUMNS` in `maxmargin_data::samples`), a few copies of each.
pub const PREDICTION_BASE: usize = BASE + 8 * (8 << 22);

thread_local! {
    /// Below 0 if the thread freed memory that another allocated.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of the current thread's memory.
#[derive(Debug)]
pub struct Counting;

fn took(bytes: usize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes as i64));
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn gave(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub(bytes as i64)));
}

// SAFETY: every call goes to the system's allocator with the caller's own arguments; counting
// allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        gave(layout.size());
        took(size);
        // SAFETY: the caller's promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        gave(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Returns the result of `read`, and the most bytes that it held at a time in addition to those
/// before (0 if [`Counting`] is not the allocator).
pub fn measured<T>(read: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = read();
    (result, (PEAK.get() - before) as usize)
}

/// Runs `read`, whose memory must be in proportion to `input`.
///
/// # Panics
///
/// When it held more than [`PER_BYTE`] bytes for each byte of the input, and `base`.
pub fn in_proportion<T>(input: &[u8], base: usize, read: impl FnOnce() -> T) -> T {
    let (result, peak) = measured(read);
    let most = PER_BYTE * input.len() + base;
    assert!(peak <= most, "{} bytes of input took {peak} bytes of memory, above {most}", input.len());
    result
}
