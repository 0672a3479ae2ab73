//! Random orders, the same on every machine.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Returns a number below `n`, by multiplication: the bias of 2⁻³² n does not matter for an order.
#[inline]
fn below(n: usize, random: &mut ChaCha8Rng) -> usize {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as usize
}

/// Puts `items` into random order.
pub(crate) fn shuffle(items: &mut [u32], random: &mut ChaCha8Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(i + 1, random));
    }
}
