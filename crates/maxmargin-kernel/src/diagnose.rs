//! Cheap signs that a kernel does not fit the data, from a sample of its entries.

use crate::Gram;

/// What a sample of off-diagonal entries looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagnosis {
    /// Pairs looked at.
    pub pairs: usize,
    /// Mean of `|K_ij| / √(K_ii K_jj)`, 0 to 1 for a positive semidefinite kernel.
    pub mean_similarity: f64,
    /// Share of the pairs with similarity below 2⁻²⁴: the matrix is the identity for all that
    /// single precision can tell.
    pub share_unrelated: f64,
    /// Share of the pairs with similarity above 1 − 2⁻²⁰: samples that the kernel cannot tell
    /// apart.
    pub share_identical: f64,
}

impl Diagnosis {
    /// The kernel matrix is numerically diagonal: every sample becomes a support vector and nothing
    /// generalises. gamma is far too large, or the features are not scaled.
    pub fn is_identity(&self) -> bool {
        self.pairs > 0 && self.share_unrelated >= 0.99
    }

    /// The kernel matrix is numerically constant: gamma is far too small.
    pub fn is_constant(&self) -> bool {
        self.pairs > 0 && self.share_identical >= 0.99
    }
}

/// Looks at `pairs` random off-diagonal entries (some hundreds suffice), chosen by `seed`.
pub fn diagnose(gram: &dyn Gram, pairs: usize, seed: u64) -> Diagnosis {
    let n = gram.len();
    let mut found = Diagnosis { pairs: 0, mean_similarity: 0.0, share_unrelated: 0.0, share_identical: 0.0 };
    if n < 2 {
        return found;
    }
    let (mut sum, mut unrelated, mut identical) = (0.0, 0usize, 0usize);
    for (i, j) in some_pairs(n, pairs, seed) {
        let mut value = [0.0];
        gram.fill_exact(&[i], j..j + 1, &mut value);
        let scale = (gram.diagonal()[i] * gram.diagonal()[j]).abs().sqrt();
        let similarity = if scale > 0.0 { value[0].abs() / scale } else { 0.0 };
        sum += similarity;
        unrelated += usize::from(similarity < 1.0 / 16_777_216.0);
        identical += usize::from(similarity > 1.0 - 1.0 / 1_048_576.0);
    }
    found.pairs = pairs;
    let count = pairs.max(1) as f64;
    found.mean_similarity = sum / count;
    found.share_unrelated = unrelated as f64 / count;
    found.share_identical = identical as f64 / count;
    found
}

/// `count` pairs of different samples of `n`, at least two, drawn by `seed`.
pub(crate) fn some_pairs(n: usize, count: usize, seed: u64) -> impl Iterator<Item = (usize, usize)> {
    let (n, mut state) = (n as u64, seed);
    (0..count).map(move |_| {
        let i = next(&mut state) % n;
        let j = (i + 1 + next(&mut state) % (n - 1)) % n;
        (i as usize, j as usize)
    })
}

/// The `SplitMix64` generator (Steele, Lea, Flood 2014).
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
