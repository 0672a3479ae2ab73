//! The columns that active rows share: a Newton system without the columns of single rows.
//!
//! Text has many words that one active row alone has. Their part `u_k` of a row is eliminated
//! exactly: `I + Σ h_k x_k x_kᵀ` becomes `I + Σ h'_k c_k c_kᵀ` over the shared part `c_k`, with
//! `h'_k = h_k / (1 + h_k ‖u_k‖²)`. A weight that grows with C becomes `1 / ‖u_k‖²` at most, so
//! rows that have a word of their own are never stiff.

use crate::compressed::{Compressed, Entries};
use crate::sliced::Sliced;
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use std::cmp::Reverse;

/// The active rows of a Newton system, and their shared columns: the longest rows of the matrix
/// first, and the columns of most active rows, so that slices of them need little padding.
pub(crate) struct Shared {
    /// The shared columns, those of most rows first.
    columns: Vec<u32>,
    /// The shared parts of the rows, and copies for products.
    pub(crate) rows: Compressed,
    by_rows: Sliced,
    by_columns: Sliced,
    /// The other columns of each row.
    own: Compressed,
    /// The sum of squares of the other columns, and the weights of the rows.
    own_squares: Vec<f64>,
    weights: Vec<f64>,
    /// The weights after the elimination.
    pub(crate) reduced: Vec<f64>,
}

impl Shared {
    pub(crate) fn new<R: FeatureRows>(rows: &R, ids: &[usize], weights: &[f64]) -> Self {
        let mut count = vec![0_u32; rows.width()];
        ids.iter().for_each(|&id| rows.each(id, |j, _| count[j] += 1));
        let mut columns: Vec<u32> = (0..count.len() as u32).filter(|&j| count[j as usize] > 1).collect();
        columns.sort_by_key(|&j| Reverse(count[j as usize]));
        // A column of one row has no place.
        let mut place = count;
        place.fill(u32::MAX);
        columns.iter().enumerate().for_each(|(at, &j)| place[j as usize] = at as u32);
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&k| Reverse(rows.entries_of(ids[k])));
        let mut own_squares = vec![0.0; ids.len()];
        let (mut shared, mut own) = (Entries::with_capacity(0), Entries::with_capacity(0));
        for (square, &k) in own_squares.iter_mut().zip(&order) {
            rows.each(ids[k], |j, v| {
                if place[j] == u32::MAX {
                    *square += v * v;
                    own.push(j as u32, v);
                } else {
                    shared.push(place[j], v);
                }
            });
            shared.end_row();
            own.end_row();
        }
        let (shared, own) = (shared.matrix(columns.len()), own.matrix(rows.width()));
        let weights: Vec<f64> = order.iter().map(|&k| weights[k]).collect();
        let reduced = weights.iter().zip(&own_squares).map(|(h, u)| h / (1.0 + h * u)).collect();
        let (by_rows, by_columns) = Sliced::rows_and_columns(&shared);
        Self { columns, rows: shared, by_rows, by_columns, own, own_squares, weights, reduced }
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the right-hand side `r` after the elimination, and the products `u_k · r`.
    pub(crate) fn eliminate(&self, r: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let own: Vec<f64> = (0..self.own.len()).map(|k| self.own.dot(k, r)).collect();
        let coef: Vec<f64> = own.iter().zip(&self.reduced).map(|(own, h)| own * h).collect();
        let mut reduced = vec![0.0; self.width()];
        self.by_columns.products(&coef, &mut reduced, Par::Seq, |j, sum| r[self.columns[j] as usize] - sum);
        (reduced, own)
    }

    /// Returns the solution of the whole system from that of the shared columns.
    pub(crate) fn complete(&self, r: &[f64], x: &[f64], own: &[f64]) -> Vec<f64> {
        let mut whole = r.to_vec();
        let mut products = vec![0.0; own.len()];
        self.by_rows.products(x, &mut products, Par::Seq, |k, product| product + own[k]);
        for (k, product) in products.iter().enumerate() {
            let h = self.weights[k];
            let step = h * product / (1.0 + h * self.own_squares[k]);
            self.own.each(k, |j, v| whole[j] -= step * v);
        }
        self.columns.iter().zip(x).for_each(|(&j, &x)| whole[j as usize] = x);
        whole
    }

    /// Computes `x + Σ h'_k c_k (c_k · x)`; `coef` is scratch, one number a row.
    pub(crate) fn image(&self, x: &[f64], coef: &mut [f64], out: &mut [f64], par: Par) {
        self.by_rows.products(x, coef, par, |k, product| self.reduced[k] * product);
        self.by_columns.products(coef, out, par, |j, sum| x[j] + sum);
    }
}
