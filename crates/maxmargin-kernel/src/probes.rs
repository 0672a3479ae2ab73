//! Entries of a Gram matrix in plain double precision, from the samples as they were given: what
//! every form that they are held in must agree with.

use crate::diagnose::next;
use crate::{Gram, Kernel};
use maxmargin_data::Samples;
use std::fmt;
use std::ops::Range;

/// Rows of the block that is looked at.
const ROWS: usize = 4;
/// Its columns: enough for a table of distances where there are few features, for whole panels
/// where products of very many would take longer than a prediction.
const COLUMNS: Range<usize> = 64..1024;
/// Multiplications for a row of it, about.
const PRODUCTS: usize = 1 << 18;

/// Entries of each of its rows that are computed plainly.
const ENTRIES: usize = 8;

const SEED: u64 = 2;

/// What rounding may do to a dot product or a squared distance in double precision, as a share of
/// both squared norms.
const ROUNDED: f64 = 1e-12;
/// The same in single precision.
const ROUNDED_SINGLE: f64 = 1e-4;
/// What it may do to a kernel value, as a share of it.
const VALUE: f64 = 1e-9;
const VALUE_SINGLE: f64 = 1e-5;
/// What it may do to an exponent in single precision: hundred times of what the engines say that it
/// does.
const EXPONENT_SINGLE: f64 = 1e-4;
/// Exponentials smaller than these may be 0.
const SMALLEST: f64 = 1e-300;
const SMALLEST_SINGLE: f64 = 1e-37;

/// A block of a Gram matrix, and what some of its entries are made of.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    rows: Vec<usize>,
    columns: Range<usize>,
    diagonal: Vec<Products>,
    entries: Vec<(usize, usize, Products)>,
}

/// What kernels are functions of, for two samples.
#[derive(Clone, Copy, Debug)]
struct Products {
    dot: f64,
    distance: f64,
    norms: [f64; 2],
}

/// An entry that is not what plain arithmetic makes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What it was held or computed in.
    pub form: &'static str,
    /// Its row and its column, from 0, among the samples that the matrix is of: folds and classes
    /// have brought them into an order of their own.
    pub place: (usize, usize),
    /// What was found there.
    pub found: f64,
    /// What plain arithmetic says.
    pub expected: f64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a kernel value {} is {:e}, where plain arithmetic has {:e}", self.form, self.found, self.expected)
    }
}

impl Products {
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

    /// The kernel value, and how far it may be off in `f64`.
    fn value(&self, kernel: &Kernel) -> (f64, f64) {
        let value = self.moved(kernel, 0.0);
        (value, self.spread(kernel, ROUNDED) + VALUE * value.abs() + SMALLEST)
    }

    /// How far it may be off in `f32` less `base`, beside what it may be off in `f64`.
    fn single(&self, kernel: &Kernel, value: f64, base: f64) -> f64 {
        let product = if kernel.is_distance() {
            let reach = kernel.gamma().unwrap_or(1.0) * (self.norms[0] + self.norms[1]);
            EXPONENT_SINGLE * reach.min(1.0)
        } else {
            self.spread(kernel, ROUNDED_SINGLE) + VALUE_SINGLE * value.abs()
        };
        // The difference from the constant is what is rounded: a value near 0 has none of its
        // digits.
        let rounded = product + 4.0 * f64::from(f32::EPSILON) * (value - base).abs();
        rounded + SMALLEST_SINGLE
    }

    /// The kernel value of a product that is off by `by`.
    fn moved(&self, kernel: &Kernel, by: f64) -> f64 {
        if kernel.is_distance() {
            // −2 xᵀz is all that is left of a distance without norms.
            return kernel.of_dot(by - 0.5 * self.distance, 0.0, 0.0);
        }
        kernel.of_dot(self.dot + by, self.norms[0], self.norms[1])
    }

    /// What products do to the value that are off by this share of the norms.
    fn spread(&self, kernel: &Kernel, share: f64) -> f64 {
        let by = share * (self.norms[0] + self.norms[1]);
        let value = self.moved(kernel, 0.0);
        (self.moved(kernel, by) - value).abs() + (self.moved(kernel, -by) - value).abs()
    }
}

impl Probes {
    /// Some entries of the matrix of `samples`: none where the kernel is not a function of
    /// products.
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
                entries.push((r, column, Products::of(samples, i, first + column)));
            }
        }
        let diagonal = rows.iter().map(|&i| Products::of(samples, i, i)).collect();
        Self { rows, columns, diagonal, entries }
    }

    /// The first of them that `gram` has otherwise: on its diagonal, in `f64`, in `f32` or in
    /// codes.
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
            if !near(wide + base, expected, off + products.single(kernel, expected, base)) {
                return Some(Fault { form: "in single precision", place, found: wide + base, expected });
            }
        }
        // What codes stand for has the bits of the values.
        let coded = coded.unwrap_or_default();
        let wrong = coded.iter().zip(&fast).position(|(code, value)| code.to_bits() != value.to_bits())?;
        let place = (self.rows[wrong / count], self.columns.start + wrong % count);
        Some(Fault { form: "in a code", place, found: f64::from(coded[wrong]) + base, expected: exact[wrong] })
    }
}

/// Not a number is near nothing.
fn near(found: f64, expected: f64, off: f64) -> bool {
    found == expected || (found - expected).abs() <= off
}
