//! Neighbours from pairs of places.

use super::Neighbours;

/// A pair of places with its exact value.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) row: u32,
    pub(crate) column: u32,
    pub(crate) value: f64,
}

impl Neighbours {
    /// Both values of all pairs of `n` samples. `order` holds the sample of each place; without it,
    /// places are samples and pairs are sorted.
    pub(crate) fn of_pairs(n: usize, pairs: &[Vec<Pair>], order: Option<&[usize]>) -> Self {
        let mut offsets = vec![0; n + 1];
        each_value(pairs, order, |row, _, _| offsets[row + 1] += 1);
        (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
        let mut place = offsets.clone();
        let (mut samples, mut values) = (vec![0_u32; offsets[n]], vec![0.0; offsets[n]]);
        each_value(pairs, order, |row, column, value| {
            samples[place[row]] = column as u32;
            values[place[row]] = value;
            place[row] += 1;
        });
        let found = Neighbours { offsets, samples, values };
        if order.is_some() { transposed(&found) } else { found }
    }
}

/// Calls `visit(i, j, K_ij)` for both values of each pair of samples `i` and `j`.
fn each_value(pairs: &[Vec<Pair>], order: Option<&[usize]>, mut visit: impl FnMut(usize, usize, f64)) {
    let sample = |place: u32| order.map_or(place as usize, |order| order[place as usize]);
    for pair in pairs.iter().flatten() {
        let (row, column) = (sample(pair.row), sample(pair.column));
        visit(row, column, pair.value);
        if row != column {
            visit(column, row, pair.value);
        }
    }
}

/// The transpose, which has ascending samples. The matrix is symmetric, so it is the same matrix.
fn transposed(found: &Neighbours) -> Neighbours {
    let mut place = found.offsets.clone();
    let (mut samples, mut values) = (vec![0_u32; found.count()], vec![0.0; found.count()]);
    for i in 0..found.len() {
        let row = found.of(i);
        for (&j, value) in row.samples.iter().zip(row.values) {
            let at = &mut place[j as usize];
            samples[*at] = i as u32;
            values[*at] = *value;
            *at += 1;
        }
    }
    Neighbours { offsets: found.offsets.clone(), samples, values }
}
