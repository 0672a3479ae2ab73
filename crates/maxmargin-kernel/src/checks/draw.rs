//! Deterministic random draws for checks of matrix entries.

/// Draws `count` pairs of different samples among `n ≥ 2`, from `seed`.
pub(crate) fn some_pairs(n: usize, count: usize, seed: u64) -> impl Iterator<Item = (usize, usize)> {
    let (n, mut state) = (n as u64, seed);
    (0..count).map(move |_| {
        let i = next(&mut state) % n;
        let j = (i + 1 + next(&mut state) % (n - 1)) % n;
        (i as usize, j as usize)
    })
}

/// The next number of the `SplitMix64` generator (Steele, Lea, Flood 2014).
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
