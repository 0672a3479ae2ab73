//! Cheap indications that a kernel does not suit the data, from a sample of its entries.

use super::draw::some_pairs;
use crate::Gram;

/// Statistics of a sample of off-diagonal entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagnosis {
    /// Number of entries in the sample.
    pub pairs: usize,
    /// Mean similarity `|K_ij| / √(K_ii K_jj)`: 0 to 1 for a positive semidefinite kernel.
    pub mean_similarity: f64,
    /// Share of pairs with a similarity below 2⁻²⁴: in single precision these entries are 0.
    pub share_unrelated: f64,
    /// Share of pairs with a similarity within 2⁻²⁰ of 1: the kernel does not distinguish them.
    pub share_identical: f64,
}

impl Diagnosis {
    /// Returns whether the kernel matrix is numerically diagonal: every sample becomes a support
    /// vector and the model does not generalise. gamma is far too large, or the features are not
    /// scaled.
    pub fn is_identity(&self) -> bool {
        self.pairs > 0 && self.share_unrelated >= 0.99
    }

    /// Returns whether the kernel matrix is numerically constant: gamma is far too small.
    pub fn is_constant(&self) -> bool {
        self.pairs > 0 && self.share_identical >= 0.99
    }
}

/// Computes the statistics of `pairs` random off-diagonal entries (some hundreds suffice), drawn
/// from `seed`.
pub fn diagnose(gram: &dyn Gram, pairs: usize, seed: u64) -> Diagnosis {
    let n = gram.len();
    let mut diagnosis = Diagnosis { pairs: 0, mean_similarity: 0.0, share_unrelated: 0.0, share_identical: 0.0 };
    if n < 2 {
        return diagnosis;
    }
    let (mut sum, mut unrelated, mut identical) = (0.0, 0usize, 0usize);
    for (i, j) in some_pairs(n, pairs, seed) {
        let mut value = [0.0];
        gram.fill_exact(&[i], j..j + 1, &mut value);
        let scale = (gram.diagonal()[i] * gram.diagonal()[j]).abs().sqrt();
        let similarity = if scale > 0.0 { value[0].abs() / scale } else { 0.0 };
        sum += similarity;
        unrelated += usize::from(similarity < 1.0 / 16_777_216.0);
        // Similarities of an indefinite kernel may be far above 1.
        identical += usize::from((similarity - 1.0).abs() < 1.0 / 1_048_576.0);
    }
    diagnosis.pairs = pairs;
    let count = pairs.max(1) as f64;
    diagnosis.mean_similarity = sum / count;
    diagnosis.share_unrelated = unrelated as f64 / count;
    diagnosis.share_identical = identical as f64 / count;
    diagnosis
}
