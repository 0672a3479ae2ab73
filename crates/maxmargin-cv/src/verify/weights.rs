//! The weights of a linear machine, compared with the sum over its support vectors.

use super::finding::Finding;
use maxmargin_core::{Dual, rounding_of_sums};
use maxmargin_data::number::format_g;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job};

/// Relative difference of two computations that rounding explains.
const ROUNDING: f64 = 1e-9;

/// The sum over the support vectors, a number for each column of a matrix.
pub(super) struct SumOfVectors {
    sum: Vec<f64>,
    /// The sums of the absolute terms, from which the rounding of the sum follows.
    sizes: Vec<f64>,
}

/// Sums rows with coefficients.
struct Sums<'a> {
    dual: &'a Dual,
    alpha: &'a [f64],
}

impl Job for Sums<'_> {
    type Out = SumOfVectors;

    fn run<R: FeatureRows>(self, rows: &R) -> SumOfVectors {
        let (mut sum, mut sizes) = (vec![0.0; rows.width()], vec![0.0; rows.width()]);
        for (k, &id) in self.dual.ids().iter().enumerate().filter(|&(k, _)| self.alpha[k] != 0.0) {
            let coef = self.dual.sign()[k] * self.alpha[k];
            rows.each(id, |at, value| {
                sum[at] += coef * value;
                sizes[at] += (coef * value).abs();
            });
        }
        SumOfVectors { sum, sizes }
    }
}

impl SumOfVectors {
    pub(super) fn of(matrix: &Matrix, dual: &Dual, alpha: &[f64]) -> Self {
        matrix.visit(Sums { dual, alpha })
    }

    /// Compares weights, as (feature, weight), with the sum, up to the rounding of both.
    pub(super) fn compared(&self, matrix: &Matrix, stored: &[(u32, f64)]) -> Finding {
        let largest = stored.iter().fold(0.0_f64, |most, (_, v)| most.max(v.abs()));
        let (mut difference, mut off) = (0.0_f64, 0.0_f64);
        if let Some(packed) = matrix.pack(stored, 0.0) {
            let columns = self.sum.len() - usize::from(matrix.feature().is_some());
            for (at, weight) in packed.iter().enumerate().take(columns) {
                let by = (weight - self.sum[at]).abs();
                difference = difference.max(by);
                let room = ROUNDING * largest + rounding_of_sums(self.sizes[at], 1.0);
                off = if by == 0.0 { off } else { off.max(by / room) };
            }
        } else {
            // A weight of a feature that no row has.
            (difference, off) = (f64::INFINITY, f64::INFINITY);
        }
        let difference = format_g(difference, 4);
        let detail = format!("{} of them; largest difference from the sum over the support vectors: {difference}", stored.len());
        Finding { what: "weights", off, detail }
    }
}
