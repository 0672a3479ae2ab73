//! The entries of a kernel row or of a part of it.

use maxmargin_simd::row::RowSlice;
use std::ops::Range;

/// Kernel values of a row: the stored values plus a constant ([`crate::Gram::base`]).
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    held: RowSlice<'a>,
    base: f64,
}

impl<'a> Entries<'a> {
    /// `held + base`.
    pub fn new(held: RowSlice<'a>, base: f64) -> Self {
        Self { held, base }
    }

    /// The stored values, which are kernel values minus [`Entries::base`], for uses where a
    /// constant cancels.
    #[inline]
    pub fn held(&self) -> RowSlice<'a> {
        self.held
    }

    /// The constant that the stored values lack.
    #[inline]
    pub fn base(&self) -> f64 {
        self.base
    }

    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The kernel value at `k`, with all stored digits.
    ///
    /// # Panics
    ///
    /// When there is no entry `k`.
    #[inline]
    pub fn at(&self, k: usize) -> f64 {
        f64::from(self.held.at(k)) + self.base
    }

    /// `f_k += factor · K_k`.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn add_to(&self, f: &mut [f64], factor: f64) {
        self.held.add_to(f, factor);
        self.add_base(f, factor);
    }

    /// Adds only the constant: the rest of [`Entries::add_to`] for callers that add the stored
    /// values themselves.
    pub fn add_base(&self, f: &mut [f64], factor: f64) {
        if self.base != 0.0 {
            let more = factor * self.base;
            f.iter_mut().for_each(|f| *f += more);
        }
    }

    /// `Σ_k f_k K_k`.
    ///
    /// # Panics
    ///
    /// When the lengths differ.
    pub fn dot(&self, f: &[f64]) -> f64 {
        let held = self.held.dot(f);
        if self.base == 0.0 { held } else { held + self.base * f.iter().sum::<f64>() }
    }

    /// The entries of `range`.
    ///
    /// # Panics
    ///
    /// When the range exceeds the row.
    #[inline]
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        Self { held: self.held.part(range), base: self.base }
    }

    /// All kernel values, in `f32`.
    pub fn to_vec(&self) -> Vec<f32> {
        let mut values = self.held.to_vec();
        if self.base != 0.0 {
            values.iter_mut().for_each(|v| *v = (f64::from(*v) + self.base) as f32);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::Entries;
    use maxmargin_simd::row::{CodeTable, RowSlice};

    #[test]
    fn every_sum_contains_the_constant() {
        let table = CodeTable::new(|code| -f32::from(code) / 1024.0);
        let (values, codes) = ([0.0, -1.0 / 1024.0, -3.0 / 1024.0], [0, 1, 3]);
        for held in [RowSlice::Values(&values), RowSlice::Codes(&codes, &table)] {
            let row = Entries::new(held, 1.0);
            assert_eq!((row.at(2), row.part(1..3).at(0)), (1021.0 / 1024.0, 1023.0 / 1024.0));
            let mut f = [1.0; 3];
            row.add_to(&mut f, 2.0);
            assert_eq!(f, [3.0, 3.0 - 2.0 / 1024.0, 3.0 - 6.0 / 1024.0]);
            assert_eq!(row.dot(&[1.0, 2.0, 4.0]), 7.0 - 14.0 / 1024.0);
            assert_eq!(row.to_vec(), [1.0, 1023.0 / 1024.0, 1021.0 / 1024.0]);
        }
    }
}
