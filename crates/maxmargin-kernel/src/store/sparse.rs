//! Sparse data: inverted lists (the samples of every feature), whose products are scattered into a
//! row of sums.

use crate::store::products::Products;
use crate::store::slice_kernel::SliceKernel;
use maxmargin_data::{Cancelled, Par, RunControl, Samples};
use once_cell::sync::OnceCell;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// The samples by row and by feature.
///
/// Sums are always `f64`, because scattered additions cost the same in `f32`. The products of a
/// pair are added over the common features in ascending order, so `K_ij` has the bits of `K_ji`.
#[derive(Clone, Debug)]
pub(crate) struct Sparse {
    offsets: Vec<usize>,
    features: Vec<u32>,
    values: Vec<f64>,
    /// The position at which the list of each feature begins, and the end of the last one.
    lists: Vec<usize>,
    samples: Vec<u32>,
    list_values: Vec<f64>,
    norms: Vec<f64>,
    /// Mean number of common features of two samples.
    common: f64,
    /// The products of all pairs, if they are kept ([`Sparse::keep_products`]).
    products: Arc<OnceCell<Products>>,
}

thread_local! {
    static SUMS: RefCell<Vec<f64>> = RefCell::default();
}

impl Sparse {
    /// Rows and lists of `samples`.
    pub(crate) fn new(samples: &Samples, control: &RunControl) -> Result<Self, Cancelled> {
        let (mut offsets, mut features, mut values) = (vec![0], Vec::new(), Vec::new());
        samples.each_row(control, |_, row| {
            row.for_each(|k, v| {
                features.push(k as u32);
                values.push(v);
            });
            offsets.push(features.len());
        })?;
        Ok(Self::of_rows(offsets, features, values, samples.features()))
    }

    /// The samples `ids`, in this order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let (mut offsets, mut features, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in ids {
            let row = self.offsets[i]..self.offsets[i + 1];
            features.extend_from_slice(&self.features[row.clone()]);
            values.extend_from_slice(&self.values[row]);
            offsets.push(features.len());
        }
        Self::of_rows(offsets, features, values, self.lists.len() - 1)
    }

    /// Builds the lists from rows with ascending features.
    fn of_rows(offsets: Vec<usize>, features: Vec<u32>, values: Vec<f64>, count: usize) -> Self {
        let mut lists = vec![0usize; count + 1];
        features.iter().for_each(|&k| lists[k as usize + 1] += 1);
        for k in 1..lists.len() {
            lists[k] += lists[k - 1];
        }
        let mut next = lists.clone();
        let (mut owners, mut list_values) = (vec![0u32; features.len()], vec![0.0; features.len()]);
        let len = offsets.len() - 1;
        let mut norms = Vec::with_capacity(len);
        for i in 0..len {
            let mut norm = 0.0;
            for at in offsets[i]..offsets[i + 1] {
                let slot = &mut next[features[at] as usize];
                owners[*slot] = i as u32;
                list_values[*slot] = values[at];
                *slot += 1;
                norm += values[at] * values[at];
            }
            norms.push(norm);
        }
        // Solvers ask for the cost of a value often: the mean over all lists is computed once.
        let pairs: f64 = lists.windows(2).map(|list| ((list[1] - list[0]) as f64).powi(2)).sum();
        let common = pairs / (len as f64).powi(2).max(1.0);
        Self { offsets, features, values, lists, samples: owners, list_values, norms, common, products: Arc::default() }
    }

    /// Mean number of common features of two samples.
    pub(crate) fn common(&self) -> f64 {
        self.common
    }

    /// Appends the nonzero entries of a sample.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        let row = self.offsets[i]..self.offsets[i + 1];
        let entries = self.features[row.clone()].iter().zip(&self.values[row]).filter(|(_, v)| **v != 0.0);
        words.extend(entries.flat_map(|(&k, v)| [u64::from(k), v.to_bits()]));
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let products = self.kept_bytes() as usize;
        24 * self.values.len() + 8 * (self.offsets.len() + self.lists.len() + self.norms.len()) + products
    }

    /// Bytes of the products that are kept.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.products.get().map_or(0, Products::bytes) as u64
    }

    /// Bytes of the products of all pairs.
    pub(crate) fn products_bytes(&self) -> u64 {
        Products::bytes_for(self.norms.len())
    }

    /// Computes the products of all pairs once, for all later blocks. The bits are the same.
    pub(crate) fn keep_products(&self, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        let operations = (8.0 * (1.0 + 2.0 * self.common())).ceil() as u64;
        let fill = |i: usize, columns: usize, out: &mut [f64]| self.scatter(i, &(0..columns), out);
        let make = || Products::new(self.norms.len(), operations, par, control, fill);
        self.products.get_or_try_init(make).map(|_| ())
    }

    /// Squared norms.
    pub(crate) fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// Computes `sums[j − columns.start] = x_iᵀ x_j`.
    fn scatter(&self, i: usize, columns: &Range<usize>, sums: &mut [f64]) {
        sums.fill(0.0);
        let all = columns.start == 0 && columns.end == self.norms.len();
        for at in self.offsets[i]..self.offsets[i + 1] {
            let (k, v) = (self.features[at] as usize, self.values[at]);
            let (mut begin, mut end) = (self.lists[k], self.lists[k + 1]);
            if !all {
                let owners = &self.samples[begin..end];
                end = begin + owners.partition_point(|&j| (j as usize) < columns.end);
                begin += owners.partition_point(|&j| (j as usize) < columns.start);
            }
            for (&j, &w) in self.samples[begin..end].iter().zip(&self.list_values[begin..end]) {
                sums[j as usize - columns.start] += v * w;
            }
        }
    }

    /// Calls `each(r, dots)` with the dot products of `rows[r]` and the samples of `columns`.
    fn blocks(&self, rows: &[usize], columns: &Range<usize>, mut each: impl FnMut(usize, &[f64])) {
        SUMS.with_borrow_mut(|sums| {
            sums.resize(columns.len(), 0.0);
            for (r, &i) in rows.iter().enumerate() {
                match self.products.get() {
                    Some(products) => products.row(i, columns, sums),
                    None => self.scatter(i, columns, sums),
                }
                each(r, sums);
            }
        });
    }

    /// The squared distance `Σ (x − z)²` of two samples, added in the order of their features.
    fn distance(&self, i: usize, j: usize) -> f64 {
        let row = |i: usize| {
            let range = self.offsets[i]..self.offsets[i + 1];
            self.features[range.clone()].iter().copied().zip(self.values[range].iter().copied())
        };
        let (mut x, mut z) = (row(i).peekable(), row(j).peekable());
        let mut sum = 0.0;
        loop {
            let difference = match (x.peek().copied(), z.peek().copied()) {
                (Some((a, v)), Some((b, w))) if a == b => {
                    z.next();
                    x.next();
                    v - w
                }
                (Some((a, v)), other) if other.is_none_or(|(b, _)| a < b) => {
                    x.next();
                    v
                }
                (_, Some((_, w))) => {
                    z.next();
                    w
                }
                (_, None) => return sum,
            };
            sum += difference * difference;
        }
    }

    /// Calls `each(r, part, distances)` with the squared distances between `rows[r]` and the
    /// samples of `columns`.
    pub(crate) fn distances(&self, rows: &[usize], columns: &Range<usize>, mut each: impl FnMut(usize, Range<usize>, &[f64])) {
        let mut sums = vec![0.0; columns.len()];
        for (r, &i) in rows.iter().enumerate() {
            sums.iter_mut().zip(columns.clone()).for_each(|(sum, j)| *sum = self.distance(i, j));
            each(r, columns.clone(), &sums);
        }
    }

    /// Computes `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        let norms = &self.norms[columns.clone()];
        self.blocks(rows, columns, |r, dots| function.fill32_from64(self.norms[rows[r]], norms, dots, out[r]));
    }

    /// Computes `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        let (norms, count) = (&self.norms[columns.clone()], columns.len());
        self.blocks(rows, columns, |r, dots| {
            function.fill64(self.norms[rows[r]], norms, dots, &mut out[r * count..(r + 1) * count]);
        });
    }
}
