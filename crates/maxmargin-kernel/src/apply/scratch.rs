//! The memory of a thread for the kernel values of a tile.

use std::cell::Cell;

thread_local! {
    /// The values. They are taken while in use, so that a kernel of the caller's may compute
    /// products, too.
    static TILE: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// Calls `each` with so many values, of any contents. A thread keeps them: machines of some hundred
/// samples make thousands of tiles.
pub(super) fn with_tile<T>(len: usize, each: impl FnOnce(&mut [f64]) -> T) -> T {
    let mut values = TILE.take();
    if values.len() < len {
        values.resize(len, 0.0);
    }
    let result = each(&mut values[..len]);
    TILE.set(values);
    result
}
