//! The coefficients of several expansions, as tables over chunks of support vectors.

use crate::predict::Expansion;
use maxmargin_simd::products::{GROUP, PanelColumns, Real, column_products, products};
use std::collections::HashMap;
use std::ops::Range;

/// Largest number of support vectors of a chunk, a multiple of [`GROUP`]. The kernel values of a
/// chunk and of a panel of queries stay in the first-level cache.
pub(super) const CHUNK: usize = 96;

/// Largest number of table entries for each coefficient that is not 0. Tables of more are lists.
const SPARSE: usize = 8;

/// Number of table entries that are allowed for any coefficients.
const FEW: usize = 1 << 16;

/// The support vectors in the order of their places, cut into chunks. A place is a support vector
/// or empty.
#[derive(Debug)]
pub(super) struct Layout {
    /// The support vector at each place, [`EMPTY`] where there is none. The length is a multiple of
    /// [`GROUP`].
    pub(super) order: Vec<u32>,
    /// Places of the chunks.
    pub(super) chunks: Vec<Range<usize>>,
    /// The expansions with a nonzero coefficient in each chunk, ascending, and these coefficients:
    /// (place in the chunk, position among the expansions, coefficient).
    terms: Vec<(Vec<u32>, Vec<Term>)>,
    /// Whether the tables of all chunks have few zeros.
    pub(super) are_tables: bool,
}

/// A nonzero coefficient: its place in the chunk, the position of its expansion among those of the
/// chunk, and its value.
type Term = (u32, u32, f64);

/// An empty place.
pub(super) const EMPTY: u32 = u32::MAX;

/// Finds the root of a set, and shortens the way to it.
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}

/// The group of each support vector: vectors whose coefficients belong to the same expansions, or
/// [`EMPTY`] for those without any.
///
/// Of machines of pairs of classes, the vectors of a class are a group. They are found by the signs
/// of their coefficients: one vector has coefficients of the same sign in all expansions of its
/// class.
fn groups(count: usize, expansions: &[Expansion]) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..2 * expansions.len() as u32).collect();
    let mut first = vec![EMPTY; count];
    let terms = |p: usize| expansions[p].support.iter().zip(expansions[p].coef).filter(|(_, c)| **c != 0.0);
    let side = |p: usize, c: f64| 2 * p as u32 + u32::from(c < 0.0);
    for p in 0..expansions.len() {
        for (&k, &c) in terms(p) {
            let first = &mut first[k as usize];
            if *first == EMPTY {
                *first = side(p, c);
            }
            let (a, b) = (root(&mut parents, *first), root(&mut parents, side(p, c)));
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    // Both signs of a machine of two classes belong together.
    let mut expansions_of: HashMap<u32, Vec<u32>> = HashMap::new();
    for side in 0..parents.len() as u32 {
        let of = expansions_of.entry(root(&mut parents, side)).or_default();
        if of.last() != Some(&(side / 2)) {
            of.push(side / 2);
        }
    }
    let mut named: HashMap<&[u32], u32> = HashMap::new();
    let mut roots: Vec<u32> = expansions_of.keys().copied().collect();
    roots.sort_unstable();
    let name: HashMap<u32, u32> = roots.iter().map(|at| (*at, *named.entry(&expansions_of[at]).or_insert(*at))).collect();
    first.iter().map(|&side| if side == EMPTY { EMPTY } else { name[&root(&mut parents, side)] }).collect()
}

impl Layout {
    /// Arranges `count` support vectors by groups, ascending within each.
    pub(super) fn new(count: usize, expansions: &[Expansion]) -> Self {
        let groups = groups(count, expansions);
        let mut used: Vec<u32> = (0..count as u32).filter(|&k| groups[k as usize] != EMPTY).collect();
        used.sort_by_key(|&k| groups[k as usize]);
        let (mut order, mut chunks) = (Vec::new(), Vec::new());
        for group in used.chunk_by(|&a, &b| groups[a as usize] == groups[b as usize]) {
            for chunk in group.chunks(CHUNK) {
                let start = order.len();
                order.extend_from_slice(chunk);
                order.resize(order.len().next_multiple_of(GROUP), EMPTY);
                chunks.push(start..order.len());
            }
        }
        let mut place = vec![EMPTY; count];
        order.iter().zip(0..).filter(|(k, _)| **k != EMPTY).for_each(|(&k, at)| place[k as usize] = at);
        let mut terms: Vec<(Vec<u32>, Vec<Term>)> = vec![Default::default(); chunks.len()];
        for (e, p) in expansions.iter().zip(0..) {
            for (&k, &c) in e.support.iter().zip(e.coef).filter(|(_, c)| **c != 0.0) {
                let at = place[k as usize] as usize;
                let chunk = chunks.partition_point(|chunk: &Range<usize>| chunk.end <= at);
                let (machines, terms) = &mut terms[chunk];
                if machines.last() != Some(&p) {
                    machines.push(p);
                }
                terms.push(((at - chunks[chunk].start) as u32, machines.len() as u32 - 1, c));
            }
        }
        let entries: usize = chunks.iter().zip(&terms).map(|(chunk, (machines, _))| chunk.len() * machines.len()).sum();
        let count: usize = terms.iter().map(|(_, terms)| terms.len()).sum();
        let are_tables = entries <= FEW.max(SPARSE * count);
        Self { order, chunks, terms, are_tables }
    }

    /// The coefficients of all chunks, in `f64`.
    pub(super) fn coefficients(&self) -> Vec<Coefficients> {
        let chunks = self.chunks.iter().zip(&self.terms);
        chunks
            .map(|(chunk, (machines, terms))| {
                let entries = if self.are_tables {
                    Entries::Table(Table::new(chunk.len(), machines.len(), terms.iter().copied()))
                } else {
                    Entries::List(terms.clone())
                };
                Coefficients { machines: machines.clone(), entries }
            })
            .collect()
    }

    /// The tables of all chunks in `f32`, with rows for bounds of the rounding errors.
    pub(super) fn bounded(&self) -> Vec<Bounded> {
        let chunks = self.chunks.iter().zip(&self.terms);
        chunks.map(|(chunk, (machines, terms))| Bounded::new(chunk.len(), machines, terms)).collect()
    }
}

/// Rows of coefficients, in batches of at most [`GROUP`] rows for [`products`].
#[derive(Debug)]
pub(super) struct Table<T> {
    /// Number of rows of each batch, and its values: row `r` has `values[place * count + r]`.
    batches: Vec<(usize, Vec<T>)>,
}

impl<T: Real> Table<T> {
    fn new(places: usize, rows: usize, terms: impl Iterator<Item = (u32, u32, T)>) -> Self {
        let count = |batch: usize| GROUP.min(rows - batch * GROUP);
        let mut batches: Vec<(usize, Vec<T>)> =
            (0..rows.div_ceil(GROUP)).map(|batch| (count(batch), vec![T::default(); places * count(batch)])).collect();
        for (place, row, value) in terms {
            let (count, values) = &mut batches[row as usize / GROUP];
            values[place as usize * *count + row as usize % GROUP] = value;
        }
        Self { batches }
    }

    /// Computes `out[row * lanes + lane] = Σ_place row[place] values[place * lanes + lane]`, with a
    /// panel of lanes or a single one.
    fn multiply(&self, values: &[T], lanes: usize, out: &mut [T]) {
        for ((count, rows), out) in self.batches.iter().zip(out.chunks_mut(GROUP * lanes)) {
            if lanes == 1 {
                column_products(rows, *count, values, &mut out[..*count]);
            } else {
                products(rows, *count, &PanelColumns { features: None, values }, out, lanes);
            }
        }
    }
}

/// The coefficients of a chunk.
#[derive(Debug)]
pub(super) struct Coefficients {
    machines: Vec<u32>,
    entries: Entries,
}

#[derive(Debug)]
enum Entries {
    Table(Table<f64>),
    /// Most entries of a table would be 0.
    List(Vec<Term>),
}

impl Coefficients {
    /// Adds the sums over this chunk to `sums[machine * lanes + lane]`. `values` are the kernel
    /// values, a row of lanes for each place.
    pub(super) fn add(&self, values: &[f64], lanes: usize, parts: &mut Vec<f64>, sums: &mut [f64]) {
        parts.clear();
        parts.resize(self.machines.len() * lanes, 0.0);
        match &self.entries {
            Entries::Table(table) => table.multiply(values, lanes, parts),
            Entries::List(terms) => {
                for &(place, row, coef) in terms {
                    let values = &values[place as usize * lanes..][..lanes];
                    parts[row as usize * lanes..].iter_mut().zip(values).for_each(|(part, value)| *part += coef * value);
                }
            }
        }
        for (&machine, part) in self.machines.iter().zip(parts.chunks_exact(lanes)) {
            sums[machine as usize * lanes..].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
    }
}

/// Largest number of expansions of a chunk whose magnitudes have rows of their own.
const OWN: usize = GROUP / 2;

/// The coefficients of a chunk in `f32`, and what bounds the rounding errors of their sums: rows of
/// magnitudes, or one row of ones.
///
/// The coefficients of an expansion are divided by a power of two. They are then less than 2, so
/// that sums do not overflow, and those that lose digits as subnormal numbers are negligible.
#[derive(Debug)]
pub(super) struct Bounded {
    machines: Vec<u32>,
    table: Table<f32>,
    /// The power of two of each expansion.
    scales: Vec<f64>,
    /// The largest magnitude of each expansion where magnitudes have no rows of their own.
    largest: Option<Vec<f64>>,
}

/// Returns the largest power of two up to `largest`, but at least 2⁻¹⁰⁰⁰.
fn power_of_two(largest: f64) -> f64 {
    let exponent = ((largest.to_bits() >> 52) & 0x7ff).clamp(23, 2046);
    f64::from_bits(exponent << 52)
}

impl Bounded {
    fn new(places: usize, machines: &[u32], terms: &[Term]) -> Self {
        let (count, machines) = (machines.len() as u32, machines.to_vec());
        let mut largest = vec![0.0_f64; machines.len()];
        terms.iter().for_each(|&(_, row, c)| largest[row as usize] = largest[row as usize].max(c.abs()));
        let scales: Vec<f64> = largest.iter().map(|&most| power_of_two(most)).collect();
        let scaled = |row: u32, c: f64| (c / scales[row as usize]) as f32;
        let coefs = terms.iter().map(|&(place, row, c)| (place, row, scaled(row, c)));
        if machines.len() <= OWN {
            let magnitudes = terms.iter().map(|&(place, row, c)| (place, count + row, scaled(row, c).abs()));
            let table = Table::new(places, 2 * machines.len(), coefs.chain(magnitudes));
            return Self { machines, table, scales, largest: None };
        }
        let ones = terms.iter().map(|&(place, ..)| (place, count, 1.0));
        let table = Table::new(places, machines.len() + 1, coefs.chain(ones));
        Self { machines, table, scales, largest: Some(largest) }
    }

    /// Adds the sums over this chunk to `sums`, and sums of magnitudes, or more, to `sizes`.
    pub(super) fn add(&self, values: &[f32], lanes: usize, parts: &mut Vec<f32>, sums: &mut [f64], sizes: &mut [f64]) {
        let count = self.machines.len();
        parts.clear();
        parts.resize(if self.largest.is_none() { 2 * count } else { count + 1 } * lanes, 0.0);
        self.table.multiply(values, lanes, parts);
        let (parts, bounds) = parts.split_at(count * lanes);
        for (row, (&machine, part)) in self.machines.iter().zip(parts.chunks_exact(lanes)).enumerate() {
            let (at, scale) = (machine as usize * lanes, self.scales[row]);
            let own = || (&bounds[row * lanes..], scale);
            let (bounds, most) = self.largest.as_ref().map_or_else(own, |largest| (bounds, largest[row]));
            let (sums, sizes) = (&mut sums[at..][..lanes], &mut sizes[at..][..lanes]);
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += scale * f64::from(*part));
            sizes.iter_mut().zip(bounds).for_each(|(size, part)| *size += most * f64::from(*part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_a_class_are_a_group() {
        // Machines (0, 1), (0, 2), (1, 2); vectors 0 and 3 are of class 0, 1 of class 1, 2 and 4 of
        // class 2, and 5 has no coefficient. Vectors 3 and 4 have one coefficient each.
        let expansions = [
            Expansion { support: &[0, 1, 3], coef: &[-1.0, 2.0, -3.0], bias: 0.0 },
            Expansion { support: &[0, 2, 5], coef: &[-1.0, 2.0, 0.0], bias: 0.0 },
            Expansion { support: &[1, 2, 4], coef: &[-1.0, 2.0, 3.0], bias: 0.0 },
        ];
        let layout = Layout::new(6, &expansions);
        let chunks: Vec<Vec<u32>> = layout.chunks.iter().map(|chunk| layout.order[chunk.clone()].to_vec()).collect();
        let used: Vec<Vec<u32>> = chunks.iter().map(|c| c.iter().copied().filter(|&k| k != EMPTY).collect()).collect();
        assert_eq!(used, [vec![1], vec![0, 3], vec![2, 4]]);
        assert!(chunks.iter().all(|chunk| chunk.len() == GROUP));
        // Both classes of one machine are a single group, and so are all vectors of several
        // regressions.
        let two = [Expansion { support: &[0, 1, 2], coef: &[1.0, -1.0, 1.0], bias: 0.0 }; 2];
        assert_eq!(Layout::new(3, &two[..1]).order[..3], [0, 1, 2]);
        assert_eq!(Layout::new(3, &two).chunks.len(), 1);
    }
}
