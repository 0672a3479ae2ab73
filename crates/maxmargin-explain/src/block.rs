//! Support vectors side by side: a chunk of them, dense over the columns that are in use.
#![allow(clippy::inline_always, reason = "loops over lanes must be compiled inside the function that enables the instructions")]

use crate::players::Players;
use maxmargin_data::Samples;
use maxmargin_model::Machine;
use std::collections::BTreeMap;
use std::ops::Range;

/// Support vectors that are computed side by side.
pub(crate) const LANES: usize = 8;

/// One number for each support vector of a block.
pub(crate) type Lane = [f64; LANES];

/// Support vectors of a chunk.
pub(crate) const CHUNK: usize = 64;

/// The columns in use, in the order of their players, and the columns of each player.
pub(crate) struct Layout {
    /// The place of each feature in use.
    place: BTreeMap<usize, usize>,
    /// Player and its columns.
    pub(crate) spans: Vec<(usize, Range<usize>)>,
}

impl Layout {
    /// The columns that are not zero in some of these rows; in all others no difference is made.
    pub(crate) fn of<'s>(players: &Players, parts: impl Iterator<Item = (&'s Samples, Range<usize>)>) -> Self {
        let mut features: Vec<(usize, usize)> = Vec::new();
        for (samples, rows) in parts {
            for i in rows {
                samples.row(i).for_each(|j, value| {
                    if value != 0.0 {
                        features.push((players.of(j), j));
                    }
                });
            }
            features.sort_unstable();
            features.dedup();
        }
        let mut spans: Vec<(usize, Range<usize>)> = Vec::new();
        for (at, (player, _)) in features.iter().enumerate() {
            match spans.last_mut() {
                Some(span) if span.0 == *player => span.1.end = at + 1,
                _ => spans.push((*player, at..at + 1)),
            }
        }
        let place = features.into_iter().enumerate().map(|(at, (_, feature))| (feature, at)).collect();
        Self { place, spans }
    }

    /// Number of columns in use.
    pub(crate) fn columns(&self) -> usize {
        self.place.len()
    }

    /// A row over the columns in use.
    pub(crate) fn dense(&self, samples: &Samples, row: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.columns()];
        samples.row(row).for_each(|j, value| {
            if value != 0.0 {
                values[self.place[&j]] = value;
            }
        });
        values
    }
}

/// A block of support vectors.
pub(crate) struct Block {
    /// One lane for each column in use.
    pub(crate) values: Vec<Lane>,
    /// The coefficients of the support vectors, one lane for each machine; 0 beyond the last one.
    pub(crate) coef: Vec<Lane>,
}

impl Block {
    /// The blocks of a range of support vectors.
    pub(crate) fn of(layout: &Layout, support: &Samples, range: Range<usize>, machines: &[Machine]) -> Vec<Self> {
        let starts = range.clone().step_by(LANES);
        let mut blocks: Vec<Self> = starts
            .map(|start| {
                let mut values = vec![[0.0; LANES]; layout.columns()];
                for lane in 0..LANES.min(range.end - start) {
                    let row = layout.dense(support, start + lane);
                    values.iter_mut().zip(row).for_each(|(place, value)| place[lane] = value);
                }
                Self { values, coef: vec![[0.0; LANES]; machines.len()] }
            })
            .collect();
        for (m, machine) in machines.iter().enumerate() {
            for (i, coef) in machine.support.iter().zip(&machine.coef) {
                let i = *i as usize;
                if range.contains(&i) {
                    blocks[(i - range.start) / LANES].coef[m][(i - range.start) % LANES] += coef;
                }
            }
        }
        blocks
    }
}

/// `Σ_lane a b`, in pairs: one sum after the other would wait for the last addition seven times.
#[inline(always)]
pub(crate) fn dot(a: &Lane, b: &Lane) -> f64 {
    let p = lanes(|l| a[l] * b[l]);
    ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))
}

/// A lane of a function of the number of the lane.
#[inline(always)]
pub(crate) fn lanes(of: impl FnMut(usize) -> f64) -> Lane {
    std::array::from_fn(of)
}

/// The sums of one row: machines × players, and machines × players × players of interactions, which
/// may be empty.
pub(crate) struct Sums<'a> {
    pub(crate) values: &'a mut [f64],
    pub(crate) interactions: &'a mut [f64],
    pub(crate) players: usize,
}

impl Sums<'_> {
    /// Adds what a block gives a player.
    #[inline(always)]
    pub(crate) fn add(&mut self, block: &Block, player: usize, part: &Lane) {
        for (m, coef) in block.coef.iter().enumerate() {
            self.values[m * self.players + player] += dot(coef, part);
        }
    }

    /// Adds what a block gives a pair of players.
    #[inline(always)]
    pub(crate) fn add_pair(&mut self, block: &Block, pair: [usize; 2], part: &Lane) {
        let [p, q] = pair;
        for (m, coef) in block.coef.iter().enumerate() {
            let sum = dot(coef, part);
            let of_machine = m * self.players * self.players;
            self.interactions[of_machine + p * self.players + q] += sum;
            self.interactions[of_machine + q * self.players + p] += sum;
        }
    }

    /// Whether interactions are asked for.
    pub(crate) fn has_pairs(&self) -> bool {
        !self.interactions.is_empty()
    }
}
