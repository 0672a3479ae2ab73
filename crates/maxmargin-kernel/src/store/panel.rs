//! Samples in feature-major panels of floating-point numbers, as [`products`] reads them.

use crate::store::blocks::{Panels, STRIDE};
use maxmargin_simd::products::{PanelColumns, PanelFeatures, Real, products};
use std::ops::Range;

/// Samples, feature-major inside panels of [`Real::PANEL`] of them, padded with zeros.
///
/// A panel stores only features with a nonzero value in at least one of its samples; the others
/// would add 0 to every product. For one-hot encoded names and for pixels, most panels have few
/// features.
#[derive(Clone, Debug)]
pub(crate) struct Panel<T> {
    len: usize,
    /// The features of each panel.
    features: PanelFeatures,
    /// [`Real::PANEL`] values for each of `features`.
    values: Vec<T>,
}

/// Builds a [`Panel`] from samples one at a time.
pub(crate) struct Packer<T> {
    panel: Panel<T>,
    /// The current panel with all features, and those of them that have a value.
    current: Vec<T>,
    has_value: Vec<bool>,
}

/// The place of a sample in the current panel.
pub(crate) struct Slot<'p, T> {
    current: &'p mut [T],
    has_value: &'p mut [bool],
    at: usize,
}

impl<T: Real + PartialEq> Slot<'_, T> {
    /// Sets the value of a feature; features without a value are 0.
    #[inline]
    pub(crate) fn put(&mut self, feature: usize, value: T) {
        if value != T::default() {
            self.current[feature * T::PANEL + self.at] = value;
            self.has_value[feature] = true;
        }
    }
}

impl<T: Real + PartialEq> Packer<T> {
    /// A packer for samples with this number of features.
    pub(crate) fn new(features: usize) -> Self {
        let (panel, depth) = (Panel::new(features), features.max(1));
        Self { panel, current: vec![T::default(); depth * T::PANEL], has_value: vec![false; depth] }
    }

    /// Appends a sample, whose values `fill` puts into its place.
    pub(crate) fn push(&mut self, fill: impl FnOnce(&mut Slot<T>)) {
        let at = self.panel.len % T::PANEL;
        fill(&mut Slot { current: &mut self.current, has_value: &mut self.has_value, at });
        self.panel.len += 1;
        if self.panel.len.is_multiple_of(T::PANEL) {
            self.close();
        }
    }

    /// Finishes the current panel.
    fn close(&mut self) {
        let Self { panel: Panel { features, values, .. }, current, has_value } = self;
        features.push((0_u32..).zip(&*has_value).filter(|(_, has_value)| **has_value).map(|(k, _)| k));
        let columns = current.chunks_exact_mut(T::PANEL).zip(has_value);
        for (column, has_value) in columns.filter(|(_, has_value)| **has_value) {
            values.extend_from_slice(column);
            column.fill(T::default());
            *has_value = false;
        }
    }

    /// The panels of all appended samples.
    pub(crate) fn finish(mut self) -> Panel<T> {
        if !self.panel.len.is_multiple_of(T::PANEL) {
            self.close();
        }
        self.panel
    }
}

impl<T: Real + PartialEq> Panel<T> {
    /// No samples, of which this number of features will be known.
    pub(crate) fn new(features: usize) -> Self {
        Self { len: 0, features: PanelFeatures::new(features.max(1)), values: Vec::new() }
    }

    /// Appends the samples of `other` to whole panels, which will have `all` samples in the end.
    pub(crate) fn append(&mut self, other: &Self, all: usize) {
        debug_assert!(self.len.is_multiple_of(T::PANEL), "whole panels");
        if self.values.is_empty() {
            // The other parts are likely to have as many features.
            let panels = all.div_ceil(T::PANEL) as f64 / other.features.lists().max(1) as f64;
            self.values.reserve_exact((other.values.len() as f64 * panels) as usize);
        }
        self.values.extend_from_slice(&other.values);
        self.features.append(&other.features);
        self.len += other.len;
    }

    /// The samples `ids`, in this order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let mut packer = Packer::new(self.depth());
        ids.iter().for_each(|&i| packer.push(|slot| self.sample(i).for_each(|(k, v)| slot.put(k, v))));
        packer.finish()
    }

    /// Mean number of features per panel.
    pub(crate) fn width(&self) -> usize {
        self.features.total().div_ceil(self.features.lists().max(1))
    }

    /// Number of features of the samples.
    pub(crate) fn depth(&self) -> usize {
        self.features.depth()
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice()) + size_of::<u32>() * self.features.total()
    }

    /// The features and the values of panel `p`.
    fn panel(&self, p: usize) -> PanelColumns<'_, T> {
        let (range, features) = (self.features.range(p), self.features.of(p));
        // A panel with all features needs no list of them.
        let features = (range.len() < self.depth()).then_some(features);
        PanelColumns { features, values: &self.values[range.start * T::PANEL..range.end * T::PANEL] }
    }

    /// The values of sample `i` for the features of its panel.
    pub(crate) fn sample(&self, i: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let p = i / T::PANEL;
        let values = self.values[self.features.range(p).start * T::PANEL..].get(i % T::PANEL..).unwrap_or_default();
        self.features.of(p).list().iter().zip(values.iter().step_by(T::PANEL)).map(|(&k, &v)| (k as usize, v))
    }

    /// Calls `each(r, part, distances)` with the squared distances `Σ (x − z)²` in `f64` between
    /// `rows[r]` and the samples of `part`, for parts of `columns`. Terms are added in the order of
    /// the features, so the distance of a pair has the same bits in both directions.
    pub(crate) fn distances(&self, rows: &[usize], columns: &Range<usize>, mut each: impl FnMut(usize, Range<usize>, &[f64]))
    where
        T: Into<f64>,
    {
        if columns.is_empty() {
            return;
        }
        let mut row = vec![0.0; self.depth()];
        let mut sums = vec![0.0; T::PANEL];
        for (r, &i) in rows.iter().enumerate() {
            row.fill(0.0);
            self.sample(i).for_each(|(k, v)| row[k] = v.into());
            for p in columns.start / T::PANEL..columns.end.div_ceil(T::PANEL) {
                sums.fill(0.0);
                let features = self.features.of(p).list();
                let values = self.values[self.features.range(p).start * T::PANEL..].chunks_exact(T::PANEL);
                let mut next = 0;
                // Features that the panel lacks add the square of the row's value.
                let add_missing = |sums: &mut [f64], own: &[f64]| {
                    own.iter().filter(|x| **x != 0.0).for_each(|x| sums.iter_mut().for_each(|sum| *sum += x * x));
                };
                for (&k, values) in features.iter().zip(values) {
                    let k = k as usize;
                    add_missing(&mut sums, &row[next..k]);
                    let x = row[k];
                    for (sum, &z) in sums.iter_mut().zip(values) {
                        let difference = x - z.into();
                        *sum += difference * difference;
                    }
                    next = k + 1;
                }
                add_missing(&mut sums, &row[next..]);
                let part = columns.start.max(p * T::PANEL)..columns.end.min((p + 1) * T::PANEL);
                each(r, part.clone(), &sums[part.start - p * T::PANEL..part.end - p * T::PANEL]);
            }
        }
    }

    /// Writes the converted values of the samples `ids`, feature-major.
    fn interleave<S: Real>(&self, ids: &[usize], rows: &mut Vec<S>, convert: impl Fn(T) -> S) {
        rows.clear();
        rows.resize(ids.len() * self.depth(), S::default());
        for (r, &i) in ids.iter().enumerate() {
            self.sample(i).for_each(|(k, v)| rows[k * ids.len() + r] = convert(v));
        }
    }
}

impl<T: Real + PartialEq> Panels for Panel<T> {
    type Row = T;
    type Sum = T;
    const WIDTH: usize = T::PANEL;

    fn sample_bytes(&self) -> usize {
        size_of::<T>() * self.width().max(1)
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<T>) {
        self.interleave(ids, rows, |v| v);
    }

    fn multiply(&self, rows: &[T], count: usize, panel: usize, out: &mut [T], _: usize, _: &[T]) {
        products(rows, count, &self.panel(panel), out, STRIDE);
    }
}

/// Panels of `f32` that are multiplied in `f64`.
pub(crate) struct PanelAsF64<'p>(pub(crate) &'p Panel<f32>);

/// Number of `f64` panels in a panel of `f32`.
const PARTS: usize = f32::PANEL / f64::PANEL;

impl PanelAsF64<'_> {
    /// Number of features of panel `p`.
    fn features(&self, p: usize) -> usize {
        self.0.features.range(p / PARTS).len()
    }
}

impl Panels for PanelAsF64<'_> {
    type Row = f64;
    type Sum = f64;
    const WIDTH: usize = f64::PANEL;

    fn sample_bytes(&self) -> usize {
        size_of::<f64>() * self.0.width().max(1)
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<f64>) {
        self.0.interleave(ids, rows, f64::from);
    }

    fn prepare(&self, panels: Range<usize>, converted: &mut Vec<f64>) {
        converted.clear();
        for p in panels {
            let part = p % PARTS * f64::PANEL;
            for values in self.0.panel(p / PARTS).values.chunks_exact(f32::PANEL) {
                converted.extend(values[part..part + f64::PANEL].iter().map(|&v| f64::from(v)));
            }
        }
    }

    fn multiply(&self, rows: &[f64], count: usize, panel: usize, out: &mut [f64], first: usize, converted: &[f64]) {
        let before: usize = (first..panel).map(|p| self.features(p)).sum();
        let values = &converted[before * f64::PANEL..][..self.features(panel) * f64::PANEL];
        let features = self.0.panel(panel / PARTS).features;
        products(rows, count, &PanelColumns { features, values }, out, STRIDE);
    }
}

#[cfg(test)]
mod tests {
    use super::{Packer, Panel, PanelAsF64};
    use crate::store::blocks::{Panels, Scratch, blocks};
    use proptest::prelude::*;

    /// All dot products of a source, as integers.
    fn products<P: Panels<Sum: Into<f64>>>(source: &P, len: usize) -> Vec<i64> {
        let rows: Vec<usize> = (0..len).collect();
        let mut found = vec![0; len * len];
        blocks(source, &rows, &(0..len), &mut Scratch::default(), |r, part, sums| {
            part.zip(sums).for_each(|(j, &sum)| found[r * len + j] = sum.into() as i64);
        });
        found
    }

    proptest! {
        /// Omitted features change neither samples nor dot products, which are exact for small
        /// integers.
        #[test]
        fn samples_and_products_are_those_of_all_features(
            depth in 1_usize..600,
            rows in prop::collection::vec(prop::collection::vec((any::<prop::sample::Index>(), -3_i8..4), 0..12), 1..80),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        ) {
            let row = |entries: &Vec<(prop::sample::Index, i8)>| {
                let mut dense = vec![0_i8; depth];
                entries.iter().for_each(|(k, v)| dense[k.index(depth)] = *v);
                dense
            };
            let rows: Vec<Vec<i8>> = rows.iter().map(row).collect();
            let mut packer = Packer::new(depth);
            rows.iter().for_each(|row| packer.push(|slot| row.iter().enumerate().for_each(|(k, &v)| slot.put(k, f64::from(v)))));
            let double: Panel<f64> = packer.finish();
            let mut packer = Packer::new(depth);
            rows.iter().for_each(|row| packer.push(|slot| row.iter().enumerate().for_each(|(k, &v)| slot.put(k, f32::from(v)))));
            let single: Panel<f32> = packer.finish();
            let ids: Vec<usize> = picked.iter().map(|at| at.index(rows.len())).collect();
            let part = single.select(&ids);
            let want = |i: usize| -> Vec<(usize, f64)> { rows[i].iter().map(|&v| f64::from(v)).enumerate().filter(|(_, v)| *v != 0.0).collect() };
            for i in 0..rows.len() {
                prop_assert_eq!(double.sample(i).filter(|(_, v)| *v != 0.0).collect::<Vec<_>>(), want(i));
            }
            for (at, &i) in ids.iter().enumerate() {
                let found: Vec<(usize, f64)> = part.sample(at).filter(|(_, v)| *v != 0.0).map(|(k, v)| (k, f64::from(v))).collect();
                prop_assert_eq!(found, want(i));
            }
            prop_assert!(single.width() <= depth);
            let dot = |i: usize, j: usize| -> i64 { rows[i].iter().zip(&rows[j]).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum() };
            let all: Vec<i64> = (0..rows.len()).flat_map(|i| (0..rows.len()).map(move |j| (i, j))).map(|(i, j)| dot(i, j)).collect();
            prop_assert_eq!(&products(&double, rows.len()), &all);
            prop_assert_eq!(&products(&single, rows.len()), &all);
            prop_assert_eq!(&products(&PanelAsF64(&single), rows.len()), &all);
            let of_part: Vec<i64> = ids.iter().flat_map(|&i| ids.iter().map(move |&j| (i, j))).map(|(i, j)| dot(i, j)).collect();
            prop_assert_eq!(&products(&part, ids.len()), &of_part);
        }
    }

    #[test]
    fn a_panel_has_only_the_features_of_its_samples() {
        let mut packer = Packer::new(100);
        for i in 0..64_usize {
            packer.push(|slot| {
                [(i / 32, 1.0_f32), (50, if i < 32 { 2.0 } else { 0.0 })].into_iter().for_each(|(k, v)| slot.put(k, v));
            });
        }
        let panel = packer.finish();
        let features = |p: usize| panel.panel(p).features.map(|features| features.list().to_vec());
        assert_eq!((features(0), features(1), panel.width()), (Some(vec![0, 50]), Some(vec![1]), 2));
    }
}
