//! Passes over the rows of a problem, by rows or by columns.

use crate::compressed::Compressed;
use maxmargin_data::Par;
use maxmargin_kernel::features::{FeatureRows, combine, products};

pub(crate) struct Passes<'r, R> {
    pub(crate) rows: &'r R,
    /// The rows that take part; all of them if there are columns.
    pub(crate) ids: Vec<usize>,
    /// The same numbers by columns.
    pub(crate) columns: Option<&'r Compressed>,
    pub(crate) par: Par,
}

impl<R: FeatureRows> Passes<'_, R> {
    /// Computes `out_k = x_k · w` for the rows that take part.
    pub(crate) fn products(&self, w: &[f64], out: &mut [f64]) {
        products(self.rows, &self.ids, w, out, self.par);
    }

    /// Returns `Σ coef_k x_k`.
    pub(crate) fn combine(&self, coef: &[f64]) -> Vec<f64> {
        let Some(columns) = self.columns else {
            return combine(self.rows, &self.ids, coef, self.par);
        };
        let mut out = vec![0.0; columns.len()];
        columns.products(coef, &mut out, self.par, |_, sum| sum);
        out
    }

    /// Returns `Σ coef_k x_kj²` for every column j.
    pub(crate) fn squares(&self, coef: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows.width()];
        if let Some(columns) = self.columns {
            self.par.for_chunks(&mut out, 512, |chunk, out| {
                for (at, out) in out.iter_mut().enumerate() {
                    columns.each(chunk * 512 + at, |i, v| *out += coef[i] * v * v);
                }
            });
        } else {
            for (&id, &c) in self.ids.iter().zip(coef) {
                self.rows.each(id, |j, v| out[j] += c * v * v);
            }
        }
        out
    }

    /// The operations of a pass.
    pub(crate) fn cost(&self) -> u64 {
        (self.rows.entries() + self.ids.len()) as u64
    }
}
