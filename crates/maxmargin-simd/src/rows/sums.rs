//! Scaled addition of rows and dot products with rows, in `f64` for rows in `f32` or `f64`.
//!
//! The loops are plain Rust that is compiled once per dispatch level. All levels return the same
//! bits.

use crate::dispatch::each::at_level;

/// Number of partial sums of [`dot`], independent of the vector width.
const LANES: usize = 16;

/// Computes `f_k += factor · row_k`.
///
/// # Panics
///
/// When the slices differ in length.
pub fn add_scaled<T: Into<f64> + Copy>(f: &mut [f64], factor: f64, row: &[T]) {
    assert_eq!(f.len(), row.len(), "one length");
    at_level!(plain_add_scaled [T: Into<f64> + Copy] [T] (f: &mut [f64], factor: f64, row: &[T]) -> ());
}

/// Numbers whose sum with a smaller number is a multiple of 2⁻³⁸, or of 2⁻⁷⁷.
const TO_COARSE: f64 = 1.5 * (1_u64 << 14) as f64;
const TO_FINE: f64 = 1.5 / (1_u64 << 25) as f64;

/// Adds `factor · row_k` to two sums: a multiple of 2⁻³⁸ to `coarse_k`, and what is left of it,
/// rounded to a multiple of 2⁻⁷⁷, to `fine_k`.
///
/// Additions of multiples of one unit have no rounding as long as sums are below 2⁵³ units. So up
/// to 2¹⁴ products of together at most 2¹⁴, and each at most 2¹², can be added and taken away in
/// any order: what is left depends on the products that are in it, and not on their history.
///
/// # Panics
///
/// When the slices differ in length.
pub fn add_in_units(coarse: &mut [f64], fine: &mut [f64], factor: f64, row: &[f64]) {
    assert!(coarse.len() == row.len() && fine.len() == row.len(), "one length");
    at_level!(plain_add_in_units [] [] (coarse: &mut [f64], fine: &mut [f64], factor: f64, row: &[f64]) -> ());
}

/// Computes `Σ_k f_k row_k` in 16 interleaved partial sums; less than 16 products are added in
/// pairs.
///
/// # Panics
///
/// When the slices differ in length.
pub fn dot<T: Into<f64> + Copy>(f: &[f64], row: &[T]) -> f64 {
    if f.len() < LANES {
        return dot_of_few(f, row);
    }
    let mut sums = Products::default();
    sums.add(f, row);
    sums.total()
}

/// A dot product of less than 16 elements. It waits for four additions, and not for one after the
/// other: that takes longer than the rest of a short row.
fn dot_of_few<T: Into<f64> + Copy>(f: &[f64], row: &[T]) -> f64 {
    assert_eq!(f.len(), row.len(), "one length");
    at_level!(plain_dot_of_few [T: Into<f64> + Copy] [T] (f: &[f64], row: &[T]) -> f64)
}

/// A dot product with a row in parts, with the bits of [`dot`] of the whole row. All parts except
/// the last have a multiple of 16 elements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Products {
    lanes: [f64; LANES],
    rest: f64,
    /// Set once a part had 16 elements.
    has_blocks: bool,
}

impl Products {
    /// Adds the next part.
    pub(crate) fn add<T: Into<f64> + Copy>(&mut self, f: &[f64], row: &[T]) {
        if f.len() < LANES && !self.has_blocks {
            self.rest = dot_of_few(f, row);
            return;
        }
        assert_eq!(f.len(), row.len(), "one length");
        self.has_blocks = true;
        let lanes = &mut self.lanes;
        self.rest = at_level!(
            plain_products [T: Into<f64> + Copy] [T] (lanes: &mut [f64; LANES], f: &[f64], row: &[T]) -> f64
        );
    }

    /// The sum of all parts.
    pub(crate) fn total(&self) -> f64 {
        self.lanes.iter().sum::<f64>() + self.rest
    }
}

#[inline(always)]
fn plain_add_scaled<T: Into<f64> + Copy>(f: &mut [f64], factor: f64, row: &[T]) {
    for (f, &k) in f.iter_mut().zip(row) {
        *f += factor * k.into();
    }
}

#[inline(always)]
fn plain_add_in_units(coarse: &mut [f64], fine: &mut [f64], factor: f64, row: &[f64]) {
    for ((coarse, fine), k) in coarse.iter_mut().zip(fine).zip(row) {
        let product = factor * k;
        let units = (product + TO_COARSE) - TO_COARSE;
        *coarse += units;
        *fine += ((product - units) + TO_FINE) - TO_FINE;
    }
}

#[inline(always)]
fn plain_products<T: Into<f64> + Copy>(lanes: &mut [f64; LANES], f: &[f64], row: &[T]) -> f64 {
    let (f_blocks, f_rest) = f.as_chunks::<LANES>();
    let (row_blocks, row_rest) = row.as_chunks::<LANES>();
    for (f, k) in f_blocks.iter().zip(row_blocks) {
        for lane in 0..LANES {
            lanes[lane] += f[lane] * k[lane].into();
        }
    }
    f_rest.iter().zip(row_rest).map(|(f, k)| f * (*k).into()).sum()
}

/// A block of 8, one of 4 and three more elements. Every index and every width is a constant, so
/// that products and their sums in pairs stay in registers.
#[inline(always)]
fn plain_dot_of_few<T: Into<f64> + Copy>(f: &[f64], row: &[T]) -> f64 {
    let (mut eight, mut four, mut rest) = ([0.0; 8], [0.0; 4], [0.0; 4]);
    let (f_blocks, f) = f.as_chunks::<8>();
    let (row_blocks, row) = row.as_chunks::<8>();
    if let ([f], [k]) = (f_blocks, row_blocks) {
        for lane in 0..8 {
            eight[lane] = f[lane] * k[lane].into();
        }
    }
    let (f_blocks, f) = f.as_chunks::<4>();
    let (row_blocks, row) = row.as_chunks::<4>();
    if let ([f], [k]) = (f_blocks, row_blocks) {
        for lane in 0..4 {
            four[lane] = f[lane] * k[lane].into();
        }
    }
    for (lane, product) in rest.iter_mut().enumerate().take(3) {
        if let (Some(f), Some(&k)) = (f.get(lane), row.get(lane)) {
            *product = f * k.into();
        }
    }
    let mut sums = [0.0; 4];
    for lane in 0..4 {
        sums[lane] = (eight[lane] + four[lane]) + (eight[lane + 4] + rest[lane]);
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}
