//! Synthetic data of the shape of two well-known sets: documents as rcv1 has them, cells of a
//! forest as covtype has them.
//!
//! Both have a planted separator: a row is drawn until the noisy side of it on which the row falls
//! is the wanted class, so that rows alternate between the classes as in all generators.

use super::draw::{Draw, on_grid};
use super::text::{any_rank, multiplier};
use crate::samples::{Samples, SamplesError};

/// Rows in compressed form, as they come.
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

    /// Ends the present row, without entries that the grid made 0.
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

/// Fewest draws of words that a document takes, and most.
const DRAWS: (u64, u64) = (24, 178);

/// Most words of a document.
pub(super) const MOST_WORDS: usize = DRAWS.1 as usize;

/// Topics of documents: the words of a topic are those whose rank leaves its remainder, so that
/// every topic has frequent and rare ones.
const TOPICS: u64 = 64;

/// Of so many words of a document one is of any topic, the others are of its own.
const OFF_TOPIC: u64 = 3;

/// One document in so many repeats an earlier one, but for one word in so many: news are told
/// again, and a copy on the other side of the separator makes a large C hard.
const COPIES: u64 = 4;
const CHANGED: u64 = 12;

/// Weights of the separator: of a topic, and of a word beside that.
const LEANS: (f64, f64) = (1.0, 0.5);

/// Deviation of the noise beside scores of about 6, which words of one topic add up to: with it a
/// third of 20,242 rows are support vectors at C = 1, as with rcv1.
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
            // A copy has its words already.
            let words = if ranks.is_empty() { DRAWS.0 + draw.below(DRAWS.1 - DRAWS.0) } else { 0 };
            for _ in 0..words {
                let any = draw.below(OFF_TOPIC) == 0;
                ranks.push(if any { any_rank(vocabulary, draw) } else { any_rank(vocabulary / TOPICS, draw) * TOPICS + topic });
            }
            ranks.sort_unstable();
            let mut score = 0.0;
            for same in ranks.chunk_by(|a, b| a == b) {
                let rank = same[0];
                // A word of rank r is in about 1/r of the documents: its rarity is log₂ of the
                // octave above r.
                let weight = (same.len() as f64).sqrt() * f64::from(u64::BITS - rank.leading_zeros());
                // Frequent words stand anywhere in a vocabulary, not at its beginning.
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

/// Features of a cell of the forest: quantities, areas, soils.
pub(super) const CELL: usize = QUANTITIES.len() + AREAS.len() + SOILS;

/// Centre and deviation of each quantity before it is cut to [0, 1], and the size of its weight in
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

/// How frequent each area is.
const AREAS: [f64; 4] = [0.45, 0.05, 0.44, 0.06];

const SOILS: usize = 40;

/// Sizes of the weights of an area and of a soil.
const AREA_WEIGHT: f64 = 0.3;
const SOIL_WEIGHT: f64 = 0.6;

/// Share of the first quantity (as elevation) that follows from the soil.
const SOIL_SHARE: f64 = 0.7;

/// Deviation of the noise: about as large as that of the separator's values, so that a fifth of the
/// rows is on the wrong side, whatever the number of rows.
const FOREST_NOISE: f64 = 1.2;

/// Cells of a forest: ten quantities in [0, 1], one of 4 areas and one of 40 soils, each as a
/// feature of value 1.
pub(super) fn cells(signs: impl ExactSizeIterator<Item = f64>, draw: &mut Draw) -> Result<Samples, SamplesError> {
    let quantities = QUANTITIES.map(|(.., size)| side(draw) * size);
    let areas = AREAS.map(|_| side(draw) * AREA_WEIGHT);
    let soils = [0.0; SOILS].map(|_| side(draw) * SOIL_WEIGHT);
    let mut rows = Rows::with_capacity(signs.len(), QUANTITIES.len() + 2);
    for sign in signs {
        loop {
            let area = one_of(&AREAS, draw);
            // Frequent soils are others in every area.
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

/// ±1 with equal chances.
fn side(draw: &mut Draw) -> f64 {
    if draw.below(2) == 0 { 1.0 } else { -1.0 }
}

/// An index with these chances.
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
