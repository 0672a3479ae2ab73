//! The columns that active rows share: a Newton system without the columns of single rows.
//!
//! Text has many words that one active row alone has. Their part `u_k` of a row is eliminated
//! exactly: `I + Σ h_k x_k x_kᵀ` becomes `I + Σ h'_k c_k c_kᵀ` over the shared part `c_k`, with
//! `h'_k = h_k / (1 + h_k ‖u_k‖²)`. A weight that grows with C becomes `1 / ‖u_k‖²` at most, so
//! rows that have a word of their own are never stiff.

use crate::compressed::Compressed;
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;

/// The active rows of a Newton system, and their shared columns.
pub(crate) struct Shared {
    /// The shared columns, ascending.
    columns: Vec<u32>,
    /// The shared parts of the rows, and the same by columns.
    pub(crate) rows: Compressed,
    pub(crate) transposed: Compressed,
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
        let mut place = vec![0_u32; rows.width()];
        ids.iter().for_each(|&id| rows.each(id, |j, _| place[j] += 1));
        let mut columns = Vec::new();
        for (j, place) in place.iter_mut().enumerate() {
            // A column of one row has no place.
            let shared = *place > 1;
            *place = if shared { columns.len() as u32 } else { u32::MAX };
            if shared {
                columns.push(j as u32);
            }
        }
        let mut own_squares = vec![0.0; ids.len()];
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        let (mut shared_offsets, mut own_offsets) = (vec![0], vec![0]);
        for (square, &id) in own_squares.iter_mut().zip(ids) {
            rows.each(id, |j, v| {
                if place[j] == u32::MAX {
                    *square += v * v;
                    own.push((j as u32, v));
                } else {
                    shared.push((place[j], v));
                }
            });
            shared_offsets.push(shared.len());
            own_offsets.push(own.len());
        }
        let compressed = |offsets, entries: Vec<(u32, f64)>, columns| {
            let (indices, values) = entries.into_iter().unzip();
            Compressed::new(offsets, indices, values, columns)
        };
        let (shared, own) = (compressed(shared_offsets, shared, columns.len()), compressed(own_offsets, own, rows.width()));
        let reduced = weights.iter().zip(&own_squares).map(|(h, u)| h / (1.0 + h * u)).collect();
        let transposed = shared.transposed(columns.len());
        Self { columns, rows: shared, transposed, own, own_squares, weights: weights.to_vec(), reduced }
    }

    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the right-hand side `r` after the elimination, and the products `u_k · r`.
    pub(crate) fn eliminate(&self, r: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let own: Vec<f64> = (0..self.own.len()).map(|k| self.own.dot(k, r)).collect();
        let coef: Vec<f64> = own.iter().zip(&self.reduced).map(|(own, h)| own * h).collect();
        let reduced = (0..self.width()).map(|j| r[self.columns[j] as usize] - self.transposed.dot(j, &coef)).collect();
        (reduced, own)
    }

    /// Returns the solution of the whole system from that of the shared columns.
    pub(crate) fn complete(&self, r: &[f64], x: &[f64], own: &[f64]) -> Vec<f64> {
        let mut whole = r.to_vec();
        for (k, own) in own.iter().enumerate() {
            let (h, square) = (self.weights[k], self.own_squares[k]);
            let product = (self.rows.dot(k, x) + own) / (1.0 + h * square);
            self.own.each(k, |j, v| whole[j] -= h * product * v);
        }
        self.columns.iter().zip(x).for_each(|(&j, &x)| whole[j as usize] = x);
        whole
    }

    /// Computes `x + Σ h'_k c_k (c_k · x)`; `coef` is scratch, one number a row.
    pub(crate) fn image(&self, x: &[f64], coef: &mut [f64], out: &mut [f64], par: Par) {
        self.rows.products(x, coef, par, |k, product| self.reduced[k] * product);
        self.transposed.products(coef, out, par, |j, sum| x[j] + sum);
    }
}
