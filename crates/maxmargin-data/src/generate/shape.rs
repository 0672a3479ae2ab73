//! Synthetic data in the shape of two well-known data sets: documents like rcv1, forest cells like
//! covtype.
//!
//! Both have a planted separator. A row is drawn again until it lies on the required side of the
//! noisy separator, so that rows alternate between the classes as in all generators.

use super::draw::{Draw, on_grid};
use super::text::{any_rank, multiplier};
use crate::samples::{Samples, SamplesError};

/// Compressed rows, built one at a time.
struct Rows {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn with_capacity(rows: usize, row_values: usize) -> Self {
        let values = rows.saturating_mul(row_values);
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { offsets, indices: Vec::with_capacity(values), values: Vec::with_capacity(values) }
    }

    /// Finishes the current row, without entries that rounding to the grid made 0.
    fn end(&mut self, row: impl Iterator<Item = (u32, f64)>) {
        for (column, value) in row.map(|(column, value)| (column, on_grid(value))).filter(|(_, value)| *value != 0.0) {
            self.indices.push(column);
            self.values.push(value);
        }
        self.offsets.push(self.indices.len());
    }

    fn samples(self, features: usize) -> Result<Samples, SamplesError> {
        Samples::from_sparse(features, self.offsets, self.indices, self.values)
    }
}

/// Smallest and largest number of word draws per document.
const DRAWS: (u64, u64) = (24, 178);

/// Largest number of words of a document.
pub(super) const MOST_WORDS: usize = DRAWS.1 as usize;

/// Number of topics. The words of a topic are those whose rank has its remainder modulo this
/// number, so that every topic has frequent and rare words.
const TOPICS: u64 = 64;

/// One in this many words of a document is of any topic, the others are of its own topic.
const OFF_TOPIC: u64 = 3;

/// One in this many documents repeats an earlier one, except for one in this many of its words:
/// news are repeated, and a copy on the other side of the separator makes a large C hard.
const COPIES: u64 = 4;
const CHANGED: u64 = 12;

/// Weights of the separator: of a topic, and of a word in addition.
const LEANS: (f64, f64) = (1.0, 0.5);

/// Deviation of the noise, compared with scores of about 6 for the words of one topic. With it a
/// third of 20,242 rows are support vectors at C = 1, as for rcv1.
const TEXT_NOISE: f64 = 1.5;

/// Documents of about 74 words, rows of length 1.
pub(super) fn documents(
    signs: impl ExactSizeIterator<Item = f64>,
    features: usize,
    draw: &mut Draw,
) -> Result<Samples, SamplesError> {
    let vocabulary = features as u64;
    let leans: Vec<f64> = (0..TOPICS).map(|_| LEANS.0 * draw.normal()).collect();
    let separator: Vec<f64> = (0..features).map(|rank| leans[rank % leans.len()] + LEANS.1 * draw.normal()).collect();
    let scatter = multiplier(vocabulary);
    let mut rows = Rows::with_capacity(signs.len(), 80);
    let mut ranks: Vec<u64> = Vec::new();
    let mut earlier: Vec<Vec<u64>> = Vec::with_capacity(signs.len());
    let mut row: Vec<(u32, f64)> = Vec::new();
    for sign in signs {
        loop {
            ranks.clear();
            row.clear();
            if !earlier.is_empty() && draw.below(COPIES) == 0 {
                ranks.extend(&earlier[draw.below(earlier.len() as u64) as usize]);
                for rank in &mut ranks {
                    if draw.below(CHANGED) == 0 {
                        *rank = any_rank(vocabulary, draw);
                    }
                }
            }
            let topic = draw.below(TOPICS);
            // A copy starts with the words of the original.
            let words = if ranks.is_empty() { DRAWS.0 + draw.below(DRAWS.1 - DRAWS.0) } else { 0 };
            for _ in 0..words {
                let any = draw.below(OFF_TOPIC) == 0;
                ranks.push(if any { any_rank(vocabulary, draw) } else { any_rank(vocabulary / TOPICS, draw) * TOPICS + topic });
            }
            ranks.sort_unstable();
            let mut score = 0.0;
            for same in ranks.chunk_by(|a, b| a == b) {
                let rank = same[0];
                // A word of rank r occurs in about 1/r of the documents, so its rarity is log₂ of
                // the octave above r.
                let weight = (same.len() as f64).sqrt() * f64::from(u64::BITS - rank.leading_zeros());
                // Frequent words are scattered over the columns, not only at the beginning.
                row.push(((u128::from(rank) * u128::from(scatter) % u128::from(vocabulary)) as u32, weight));
                score += weight * separator[rank as usize];
            }
            let length = row.iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            row.iter_mut().for_each(|(_, w)| *w /= length);
            if (score / length + TEXT_NOISE * draw.normal() >= 0.0) == (sign > 0.0) {
                break;
            }
        }
        row.sort_unstable_by_key(|(column, _)| *column);
        earlier.push(ranks.clone());
        rows.end(row.iter().copied());
    }
    rows.samples(features)
}

/// Numbers of features of a forest cell: quantities, areas, soils.
pub(super) const CELL: usize = QUANTITIES.len() + AREAS.len() + SOILS;

/// Centre and deviation of each quantity before clamping to [0, 1], and the size of its weight in
/// the separator.
const QUANTITIES: [(f64, f64, f64); 10] = [
    (0.50, 0.20, 4.0),
    (0.45, 0.28, 1.0),
    (0.22, 0.12, 1.0),
    (0.20, 0.15, 2.0),
    (0.30, 0.10, 2.0),
    (0.33, 0.20, 3.0),
    (0.80, 0.12, 1.5),
    (0.85, 0.10, 1.0),
    (0.55, 0.15, 1.5),
    (0.28, 0.18, 3.0),
];

/// The frequency of each area.
const AREAS: [f64; 4] = [0.45, 0.05, 0.44, 0.06];

const SOILS: usize = 40;

/// Sizes of the weights of an area and of a soil.
const AREA_WEIGHT: f64 = 0.3;
const SOIL_WEIGHT: f64 = 0.6;

/// Share of the first quantity (elevation) that depends on the soil.
const SOIL_SHARE: f64 = 0.7;

/// Deviation of the noise: about as large as that of the separator's values. A fifth of the rows is
/// then on the wrong side, for any number of rows.
const FOREST_NOISE: f64 = 1.2;

/// Forest cells: ten quantities in [0, 1], one of 4 areas and one of 40 soils, each as a feature of
/// value 1.
pub(super) fn cells(signs: impl ExactSizeIterator<Item = f64>, draw: &mut Draw) -> Result<Samples, SamplesError> {
    let quantities = QUANTITIES.map(|(.., size)| side(draw) * size);
    let areas = AREAS.map(|_| side(draw) * AREA_WEIGHT);
    let soils = [0.0; SOILS].map(|_| side(draw) * SOIL_WEIGHT);
    let mut rows = Rows::with_capacity(signs.len(), QUANTITIES.len() + 2);
    for sign in signs {
        loop {
            let area = one_of(&AREAS, draw);
            // Each area has different frequent soils.
            let soil = ((any_rank(SOILS as u64 + 1, draw) as usize - 1) + 11 * area) % SOILS;
            let height = (soil as f64 - 19.5) / 11.5;
            let mut score = areas[area] + soils[soil];
            let mut values = [0.0; QUANTITIES.len()];
            for (q, (centre, spread, _)) in QUANTITIES.into_iter().enumerate() {
                let mut normal = draw.normal();
                if q == 0 {
                    normal = SOIL_SHARE * height + (1.0 - SOIL_SHARE * SOIL_SHARE).sqrt() * normal;
                }
                values[q] = (centre + spread * normal).clamp(0.0, 1.0);
                score += quantities[q] * (values[q] - centre);
            }
            if (score + FOREST_NOISE * draw.normal() >= 0.0) == (sign > 0.0) {
                let ones = [QUANTITIES.len() + area, QUANTITIES.len() + AREAS.len() + soil].map(|column| (column as u32, 1.0));
                rows.end((0..).zip(values).chain(ones));
                break;
            }
        }
    }
    rows.samples(CELL)
}

/// ±1 with equal probability.
fn side(draw: &mut Draw) -> f64 {
    if draw.below(2) == 0 { 1.0 } else { -1.0 }
}

/// An index with these probabilities.
fn one_of(chances: &[f64], draw: &mut Draw) -> usize {
    let mut left = draw.uniform();
    for (at, chance) in chances.iter().enumerate() {
        left -= chance;
        if left < 0.0 {
            return at;
        }
    }
    0
}
