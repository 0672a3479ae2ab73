//! Checks of slice lengths that cannot overflow.

/// Returns whether `count` rows of `width` elements at distances of `stride` fit in `len` elements.
#[inline]
pub(crate) fn room(len: usize, count: usize, stride: usize, width: usize) -> bool {
    let last = (count - 1).checked_mul(stride).and_then(|start| start.checked_add(width));
    last.is_some_and(|end| end <= len)
}

/// Returns whether `count` elements from `from` on fit in `len` elements.
#[inline]
pub(crate) fn holds(len: usize, from: usize, count: usize) -> bool {
    from.checked_add(count).is_some_and(|end| end <= len)
}

/// Returns whether `n` bits fit in `len` bytes.
#[inline]
pub(crate) fn bits(len: usize, n: usize) -> bool {
    len >= n.div_ceil(8)
}
