//! Spot checks: some entries of a Gram matrix in plain double precision, computed from the original
//! samples. Every storage form and backend must agree with them.

use super::draw::next;
use crate::function::Fault;
use crate::{Gram, Kernel};
use maxmargin_data::Samples;
use std::ops::Range;

/// Rows of the block that is checked.
const ROWS: usize = 4;
/// Limits of its number of columns. With few features the block is large enough for a table of
/// distances. With very many features it has at least whole panels: more products would take longer
/// than a prediction.
const COLUMNS: Range<usize> = 64..1024;
/// Approximate number of multiplications for a row of the block.
const PRODUCTS: usize = 1 << 18;

/// Entries of each row that are compared with plain arithmetic.
const ENTRIES: usize = 8;

const SEED: u64 = 2;

/// Largest rounding error of a dot product or a squared distance in double precision, relative to
/// the sum of both squared norms.
const ROUNDED: f64 = 1e-12;
/// [`ROUNDED`] in single precision.
const ROUNDED_SINGLE: f64 = 1e-4;
/// Largest relative rounding error of a kernel value.
const VALUE: f64 = 1e-9;
const VALUE_SINGLE: f64 = 1e-5;
/// Largest rounding error of an exponent in single precision: a hundred times the bound of the
/// stores.
const EXPONENT_SINGLE: f64 = 1e-4;
/// Exponentials smaller than these may be 0.
const SMALLEST: f64 = 1e-300;
const SMALLEST_SINGLE: f64 = 1e-37;

/// A block of a Gram matrix, and the products of the pairs of samples behind some of its entries.
#[derive(Debug, Default)]
pub(crate) struct SpotChecks {
    rows: Vec<usize>,
    columns: Range<usize>,
    diagonal: Vec<PairProducts>,
    entries: Vec<(usize, usize, PairProducts)>,
}

/// Dot product, squared distance and squared norms of two samples.
#[derive(Clone, Copy, Debug)]
struct PairProducts {
    dot: f64,
    distance: f64,
    norms: [f64; 2],
}

impl PairProducts {
    fn of(samples: &Samples, i: usize, j: usize) -> Self {
        let (mut dot, mut distance, mut norms) = (0.0, 0.0, [0.0; 2]);
        samples.row(i).for_each_pair(samples.row(j), |_, x, z| {
            dot += x * z;
            distance += (x - z) * (x - z);
            norms[0] += x * x;
            norms[1] += z * z;
        });
        Self { dot, distance, norms }
    }

    /// The kernel value, and the tolerance of its error in `f64`.
    fn value(&self, kernel: &Kernel) -> (f64, f64) {
        let value = self.shifted_value(kernel, 0.0);
        (value, self.sensitivity(kernel, ROUNDED) + VALUE * value.abs() + SMALLEST)
    }

    /// The additional tolerance of its error in `f32`, where `base` is subtracted.
    fn single_tolerance(&self, kernel: &Kernel, value: f64, base: f64) -> f64 {
        let product = if kernel.is_distance() {
            let reach = kernel.gamma().unwrap_or(1.0) * (self.norms[0] + self.norms[1]);
            EXPONENT_SINGLE * reach.min(1.0)
        } else {
            self.sensitivity(kernel, ROUNDED_SINGLE) + VALUE_SINGLE * value.abs()
        };
        // The difference from the constant is rounded: a value near 0 keeps no digits of its own.
        let rounded = product + 4.0 * f64::from(f32::EPSILON) * (value - base).abs();
        rounded + SMALLEST_SINGLE
    }

    /// The kernel value if the dot product has the error `by`.
    fn shifted_value(&self, kernel: &Kernel, by: f64) -> f64 {
        if kernel.is_distance() {
            // With norms of 0, the squared distance is −2 times the dot product.
            return kernel.of_dot(by - 0.5 * self.distance, 0.0, 0.0);
        }
        kernel.of_dot(self.dot + by, self.norms[0], self.norms[1])
    }

    /// The change of the kernel value for errors of the dot product of this share of the norms.
    fn sensitivity(&self, kernel: &Kernel, share: f64) -> f64 {
        let by = share * (self.norms[0] + self.norms[1]);
        let value = self.shifted_value(kernel, 0.0);
        (self.shifted_value(kernel, by) - value).abs() + (self.shifted_value(kernel, -by) - value).abs()
    }
}

/// Returns the fault if `found` is not the kernel value of the samples of `place` in double
/// precision.
pub(crate) fn value_fault(samples: &Samples, kernel: &Kernel, place: (usize, usize), found: f64) -> Option<Fault> {
    let (expected, off) = PairProducts::of(samples, place.0, place.1).value(kernel);
    (!near(found, expected, off)).then_some(Fault { form: "of a prediction", place, found, expected })
}

impl SpotChecks {
    /// Draws some entries of the matrix of `samples`; none where the kernel is no function of dot
    /// products and norms.
    pub(crate) fn of(samples: &Samples, kernel: &Kernel) -> Self {
        let n = samples.len();
        if n == 0 || !kernel.is_of_products() {
            return Self::default();
        }
        let mut state = SEED;
        let mut draw = |below: usize| (next(&mut state) % below as u64) as usize;
        let rows: Vec<usize> = (0..ROWS.min(n)).map(|_| draw(n)).collect();
        let count = (PRODUCTS / samples.features().max(1)).clamp(COLUMNS.start, COLUMNS.end).min(n);
        let first = draw(n - count + 1);
        let columns = first..first + count;
        let mut entries = Vec::with_capacity(rows.len() * ENTRIES);
        for (r, &i) in rows.iter().enumerate() {
            for _ in 0..ENTRIES {
                let column = draw(columns.len());
                entries.push((r, column, PairProducts::of(samples, i, first + column)));
            }
        }
        let diagonal = rows.iter().map(|&i| PairProducts::of(samples, i, i)).collect();
        Self { rows, columns, diagonal, entries }
    }

    /// The first entry that differs in `gram`: on the diagonal, in `f64`, in `f32` or in codes.
    pub(crate) fn fault(&self, gram: &dyn Gram, kernel: &Kernel) -> Option<Fault> {
        if self.rows.is_empty() {
            return None;
        }
        let (base, count) = (gram.base(), self.columns.len());
        let mut exact = vec![0.0_f64; self.rows.len() * count];
        gram.fill_exact(&self.rows, self.columns.clone(), &mut exact);
        let mut fast = vec![0.0_f32; exact.len()];
        gram.fill(&self.rows, self.columns.clone(), &mut fast);
        let coded = gram.table().map(|table| {
            let mut codes = vec![0_u8; exact.len()];
            let mut slices: Vec<&mut [u8]> = codes.chunks_mut(count).collect();
            gram.fill_codes(&self.rows, self.columns.clone(), &mut slices);
            codes.into_iter().map(|code| table.value(code)).collect::<Vec<f32>>()
        });
        for (&i, products) in self.rows.iter().zip(&self.diagonal) {
            let (expected, off) = products.value(kernel);
            let found = gram.diagonal()[i];
            if !near(found, expected, off) {
                return Some(Fault { form: "on the diagonal", place: (i, i), found, expected });
            }
        }
        for (r, column, products) in &self.entries {
            let (at, place) = (r * count + column, (self.rows[*r], self.columns.start + column));
            let (expected, off) = products.value(kernel);
            let wide = f64::from(fast[at]);
            if !near(exact[at], expected, off) {
                return Some(Fault { form: "in double precision", place, found: exact[at], expected });
            }
            if !near(wide + base, expected, off + products.single_tolerance(kernel, expected, base)) {
                return Some(Fault { form: "in single precision", place, found: wide + base, expected });
            }
        }
        // Values of codes have the bits of the values in `f32`.
        let coded = coded.unwrap_or_default();
        let wrong = coded.iter().zip(&fast).position(|(code, value)| code.to_bits() != value.to_bits())?;
        let place = (self.rows[wrong / count], self.columns.start + wrong % count);
        Some(Fault { form: "in a code", place, found: f64::from(coded[wrong]) + base, expected: exact[wrong] })
    }
}

/// Returns whether both numbers agree within the tolerance; NaN agrees with no number.
fn near(found: f64, expected: f64, off: f64) -> bool {
    found == expected || (found - expected).abs() <= off
}
