//! Documents as sparse rows.

use super::draw::{Draw, on_grid};
use crate::samples::{Samples, SamplesError};

/// Smallest size of a vocabulary.
pub(super) const FEWEST_WORDS: usize = 1024;

/// Largest number of words of a document.
pub(super) const MOST_WORDS: usize = 160;

/// Smallest number of word draws per document.
const FEWEST_DRAWS: u64 = 80;

/// One in this many labels is flipped.
const NOISE: u64 = 50;

/// Rows and labels of documents about two topics, one for each of `signs`.
pub(super) fn documents(
    signs: impl ExactSizeIterator<Item = f64>,
    features: usize,
    draw: &mut Draw,
) -> (Result<Samples, SamplesError>, Vec<f64>) {
    let rows = signs.len();
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    let (mut indices, mut values) = (Vec::with_capacity(rows * 100), Vec::with_capacity(rows * 100));
    let mut labels = Vec::with_capacity(rows);
    let scatter = multiplier(features as u64);
    let mut words: Vec<(u32, f64)> = Vec::new();
    for sign in signs {
        words.clear();
        let draws = FEWEST_DRAWS + draw.below(MOST_WORDS as u64 - FEWEST_DRAWS);
        for _ in 0..draws {
            let rank = topical_rank(sign, features as u64, draw);
            // Frequent words are scattered over the columns, not only at the beginning.
            let column = (u128::from(rank) * u128::from(scatter) % features as u128) as u32;
            // A word of rank r occurs in about 1/r of the documents, so its rarity is log₂ of the
            // octave above r.
            words.push((column, f64::from(u64::BITS - rank.leading_zeros())));
        }
        words.sort_unstable_by_key(|(column, _)| *column);
        let first = indices.len();
        for same in words.chunk_by(|a, b| a.0 == b.0) {
            indices.push(same[0].0);
            values.push(same.len() as f64 * same[0].1);
        }
        let row = &mut values[first..];
        let length = row.iter().map(|w| w * w).sum::<f64>().sqrt();
        for weight in row {
            *weight = on_grid(*weight / length);
        }
        offsets.push(indices.len());
        labels.push(if draw.below(NOISE) == 0 { -sign } else { sign });
    }
    (Samples::from_sparse(features, offsets, indices, values), labels)
}

/// The rank of a word, from 1, with equally likely octaves. Every eighth word belongs to a class: a
/// draw of the other class's word is repeated once.
fn topical_rank(sign: f64, features: u64, draw: &mut Draw) -> u64 {
    let rank = any_rank(features, draw);
    // Ranks 5, 21, 37, … belong to +1, ranks 13, 29, … to −1.
    let against = match rank % 16 {
        5 => sign < 0.0,
        13 => sign > 0.0,
        _ => false,
    };
    if against { any_rank(features, draw) } else { rank }
}

/// A rank in 1 … features − 1: an octave [2ᵏ, 2ᵏ⁺¹) with equal probability, then a rank of the
/// octave.
pub(super) fn any_rank(features: u64, draw: &mut Draw) -> u64 {
    let octaves = u64::from(features.ilog2());
    let begin = 1 << draw.below(octaves);
    // Ranks after the last whole octave are added to it.
    let end = if 2 * begin == 1 << octaves { features } else { 2 * begin };
    begin + draw.below(end - begin)
}

/// A number coprime to `features`, close to its golden ratio. Multiplication by it scatters the
/// ranks without collisions.
pub(super) fn multiplier(features: u64) -> u64 {
    let start = (features as f64 * 0.618_033_988_749_895) as u64;
    (start..=u64::MAX).find(|m| gcd(*m, features) == 1).unwrap_or(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
