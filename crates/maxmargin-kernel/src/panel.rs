//! Samples in feature-major panels of floating-point numbers, as [`products`] reads them.

use crate::blocks::{Panels, STRIDE};
use maxmargin_data::{Asking, Halted};
use maxmargin_simd::products::{Real, products};
use std::ops::Range;

/// Operations that moving a value from one panel to another counts as.
const MOVE: u64 = 16;

/// Samples, feature-major inside panels of [`Real::PANEL`] of them, padded with zeros.
#[derive(Clone, Debug)]
pub(crate) struct Panel<T> {
    depth: usize,
    values: Vec<T>,
}

impl<T: Real> Panel<T> {
    /// An all-zero panel.
    pub(crate) fn zeros(len: usize, features: usize) -> Self {
        let depth = features.max(1);
        Self { depth, values: vec![T::default(); len.next_multiple_of(T::PANEL) * depth] }
    }

    /// The same samples with every value converted.
    pub(crate) fn map<S: Real>(&self, len: usize, convert: impl Fn(T) -> S, asking: &Asking) -> Result<Panel<S>, Halted> {
        let mut panel = Panel::zeros(len, self.depth);
        for i in 0..len {
            asking.spend(MOVE * self.depth as u64)?;
            self.sample(i).enumerate().for_each(|(k, v)| panel.set(i, k, convert(v)));
        }
        Ok(panel)
    }

    /// The samples `ids`, in that order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let mut panel = Self::zeros(ids.len(), self.depth);
        for (to, &i) in ids.iter().enumerate() {
            self.sample(i).enumerate().for_each(|(k, v)| panel.set(to, k, v));
        }
        panel
    }

    /// Features.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Bytes of values.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// Sets feature `k` of sample `i`.
    pub(crate) fn set(&mut self, i: usize, k: usize, value: T) {
        let at = i / T::PANEL * T::PANEL * self.depth + k * T::PANEL + i % T::PANEL;
        self.values[at] = value;
    }

    /// Panel `p`: feature `k` of its sample `j` is at `k * PANEL + j`.
    fn panel(&self, p: usize) -> &[T] {
        let size = T::PANEL * self.depth;
        &self.values[p * size..(p + 1) * size]
    }

    /// The features of sample `i`.
    pub(crate) fn sample(&self, i: usize) -> impl Iterator<Item = T> + '_ {
        self.panel(i / T::PANEL)[i % T::PANEL..].iter().step_by(T::PANEL).copied()
    }

    /// Samples `ids` side by side, feature-major, each value passed through `convert(feature, value)`.
    fn interleave<S: Real>(&self, ids: &[usize], rows: &mut Vec<S>, convert: impl Fn(usize, T) -> S) {
        rows.clear();
        rows.resize(ids.len() * self.depth, S::default());
        for (r, &i) in ids.iter().enumerate() {
            for (k, (to, from)) in rows[r..].iter_mut().step_by(ids.len()).zip(self.sample(i)).enumerate() {
                *to = convert(k, from);
            }
        }
    }
}

impl<T: Real> Panels for Panel<T> {
    type Row = T;
    type Sum = T;
    const WIDTH: usize = T::PANEL;

    fn sample_bytes(&self) -> usize {
        size_of::<T>() * self.depth
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<T>) {
        self.interleave(ids, rows, |_, v| v);
    }

    fn multiply(&self, rows: &[T], count: usize, panel: usize, out: &mut [T], _: usize, _: &[T]) {
        products(rows, count, self.panel(panel), out, STRIDE);
    }
}

/// Samples held in `f32`, multiplied in `f64` less a centre (empty: nothing).
pub(crate) struct Widened<'p> {
    pub(crate) panel: &'p Panel<f32>,
    pub(crate) centre: &'p [f64],
}

impl Widened<'_> {
    fn widen(&self, k: usize, value: f32) -> f64 {
        f64::from(value) - self.centre.get(k).copied().unwrap_or(0.0)
    }
}

impl Panels for Widened<'_> {
    type Row = f64;
    type Sum = f64;
    const WIDTH: usize = f64::PANEL;

    fn sample_bytes(&self) -> usize {
        size_of::<f64>() * self.panel.depth
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<f64>) {
        self.panel.interleave(ids, rows, |k, v| self.widen(k, v));
    }

    fn prepare(&self, panels: Range<usize>, converted: &mut Vec<f64>) {
        let ratio = f32::PANEL / f64::PANEL;
        converted.clear();
        for p in panels {
            let narrow = self.panel.panel(p / ratio).chunks_exact(f32::PANEL);
            let part = p % ratio * f64::PANEL;
            for (k, values) in narrow.enumerate() {
                converted.extend(values[part..part + f64::PANEL].iter().map(|&v| self.widen(k, v)));
            }
        }
    }

    fn multiply(&self, rows: &[f64], count: usize, panel: usize, out: &mut [f64], first: usize, converted: &[f64]) {
        let size = f64::PANEL * self.panel.depth;
        products(rows, count, &converted[(panel - first) * size..][..size], out, STRIDE);
    }
}
