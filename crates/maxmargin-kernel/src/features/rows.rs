//! Sparse and dense rows that linear solvers multiply with weight vectors.

use maxmargin_simd::sparse::{SparseRows, Value, prefetch};
use maxmargin_simd::sums;

/// Rows that can be multiplied with a weight vector.
pub trait FeatureRows: Sync {
    /// Number of rows.
    fn len(&self) -> usize;
    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Length of the weight vector, including the additional feature.
    fn width(&self) -> usize;
    /// Number of stored entries.
    fn entries(&self) -> usize;
    /// Number of entries of row `i`.
    fn entries_of(&self, i: usize) -> usize;
    /// `x_i · w`
    fn dot(&self, i: usize, w: &[f64]) -> f64;
    /// `w += factor x_i`
    fn add(&self, i: usize, factor: f64, w: &mut [f64]);
    /// Calls `each` with column and value of every entry of row `i` that may differ from 0, columns
    /// ascending.
    fn each(&self, i: usize, each: impl FnMut(usize, f64));
    /// Loads row `i` into the cache for a use soon after.
    fn prefetch(&self, i: usize);
}

/// Sparse rows, optionally with an additional feature of the same value in all rows.
pub(crate) struct Sparse<'s, V: Value> {
    pub(crate) rows: SparseRows<'s, V>,
    pub(crate) feature: Option<f64>,
}

impl<V: Value> FeatureRows for Sparse<'_, V> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn width(&self) -> usize {
        self.rows.columns() + usize::from(self.feature.is_some())
    }

    fn entries(&self) -> usize {
        self.rows.entries() + if self.feature.is_some() { self.len() } else { 0 }
    }

    #[inline]
    fn entries_of(&self, i: usize) -> usize {
        self.rows.row(i).0.len() + usize::from(self.feature.is_some())
    }

    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let sum = self.rows.dot(i, w);
        self.feature.map_or(sum, |value| sum + value * w[self.rows.columns()])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        self.rows.add(i, factor, w);
        if let Some(value) = self.feature {
            w[self.rows.columns()] += factor * value;
        }
    }

    fn each(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        let (columns, values) = self.rows.row(i);
        columns.iter().zip(values).for_each(|(&j, value)| each(j as usize, value.get()));
        if let Some(value) = self.feature {
            each(self.rows.columns(), value);
        }
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        self.rows.prefetch(i);
    }
}

/// Dense rows borrowed from the samples, optionally with the additional feature.
pub(crate) struct Dense<'s, T> {
    pub(crate) values: &'s [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) feature: Option<f64>,
}

impl<T: Into<f64> + Copy + Sync> Dense<'_, T> {
    #[inline]
    fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }
}

impl<T: Into<f64> + Copy + Sync> FeatureRows for Dense<'_, T> {
    fn len(&self) -> usize {
        self.rows
    }

    fn width(&self) -> usize {
        self.columns + usize::from(self.feature.is_some())
    }

    fn entries(&self) -> usize {
        self.rows * self.width()
    }

    #[inline]
    fn entries_of(&self, _: usize) -> usize {
        self.width()
    }

    #[inline]
    fn dot(&self, i: usize, w: &[f64]) -> f64 {
        let sum = sums::dot(&w[..self.columns], self.row(i));
        self.feature.map_or(sum, |value| sum + value * w[self.columns])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        sums::add_scaled(&mut w[..self.columns], factor, self.row(i));
        if let Some(value) = self.feature {
            w[self.columns] += factor * value;
        }
    }

    fn each(&self, i: usize, mut each: impl FnMut(usize, f64)) {
        for (j, &value) in self.row(i).iter().enumerate() {
            let value: f64 = value.into();
            if value != 0.0 {
                each(j, value);
            }
        }
        if let Some(value) = self.feature {
            each(self.columns, value);
        }
    }

    #[inline]
    fn prefetch(&self, i: usize) {
        if i < self.rows {
            prefetch(self.row(i));
        }
    }
}
