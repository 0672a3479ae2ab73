//! Whether slices are long enough, without a sum or product that wraps.

/// Whether `len` elements hold `count` rows of `width` that begin `stride` apart.
#[inline]
pub(crate) fn room(len: usize, count: usize, stride: usize, width: usize) -> bool {
    let last = (count - 1).checked_mul(stride).and_then(|start| start.checked_add(width));
    last.is_some_and(|end| end <= len)
}

/// Whether `len` elements hold the `count` from `from` on.
#[inline]
pub(crate) fn holds(len: usize, from: usize, count: usize) -> bool {
    from.checked_add(count).is_some_and(|end| end <= len)
}

/// Whether `len` bytes hold one bit for each of `n` elements.
#[inline]
pub(crate) fn bits(len: usize, n: usize) -> bool {
    len >= n.div_ceil(8)
}
