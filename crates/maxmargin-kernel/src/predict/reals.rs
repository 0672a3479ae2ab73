//! Kernel values of support vectors and a panel of queries, with products of real numbers.

use crate::Kernel;
use crate::predict::coefficients::EMPTY;
use crate::predict::columns::Columns;
use crate::store::distances::needs_differences;
use crate::store::slice_kernel::SliceKernel;
use maxmargin_data::{Row, Samples};
use maxmargin_simd::products::{GROUP, PanelColumns, Real, column_products, products};
use std::ops::Range;

/// Support vectors in groups of [`GROUP`]: the layout of rows of [`products`].
#[derive(Debug)]
pub(super) struct Groups<T> {
    depth: usize,
    /// Value `k` of vector `r` of a group is at `k * GROUP + r` of the group's `depth * GROUP`
    /// values.
    values: Vec<T>,
}

impl Groups<f64> {
    /// The vectors of `order` without the centre.
    fn new(support: &Samples, order: &[u32], centre: &[f64]) -> Self {
        let depth = support.features().max(1);
        let mut values = vec![0.0; order.len() * depth];
        let mut dense = vec![0.0; depth];
        for (place, &k) in order.iter().enumerate().filter(|(_, k)| **k != EMPTY) {
            support.row(k as usize).write_dense(&mut dense[..support.features()]);
            dense.iter_mut().zip(centre).for_each(|(x, c)| *x -= c);
            let group = &mut values[place / GROUP * GROUP * depth..][..GROUP * depth];
            group[place % GROUP..].iter_mut().step_by(GROUP).zip(&dense).for_each(|(to, x)| *to = *x);
        }
        Self { depth, values }
    }
}

impl<T: Real> Groups<T> {
    /// The values of the group that begins at `place`.
    fn group(&self, place: usize) -> &[T] {
        &self.values[place * self.depth..][..GROUP * self.depth]
    }

    /// Computes the dot products of the vectors at `places` with a panel of `lanes` samples, or
    /// with a single one: `out[place * lanes + lane]`.
    pub(super) fn products(&self, places: &Range<usize>, panel: &[T], lanes: usize, out: &mut [T]) {
        for (place, out) in places.clone().step_by(GROUP).zip(out.chunks_exact_mut(GROUP * lanes)) {
            if lanes == 1 {
                column_products(self.group(place), GROUP, panel, out);
            } else {
                products(self.group(place), GROUP, &PanelColumns { features: None, values: panel }, out, lanes);
            }
        }
    }
}

impl Groups<f64> {
    /// The same vectors in `f32`.
    pub(super) fn rounded(&self) -> Groups<f32> {
        Groups { depth: self.depth, values: self.values.iter().map(|&x| x as f32).collect() }
    }
}

impl<T: Real + Into<f64>> Groups<T> {
    /// The squared norms of all vectors.
    pub(super) fn norms(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.values.len() / self.depth];
        let groups = self.values.chunks_exact(GROUP * self.depth).zip(all.chunks_exact_mut(GROUP));
        groups.for_each(|(group, all)| norms(group, GROUP, all));
        all
    }
}

/// Computes the squared norms of the samples of a panel.
pub(super) fn norms<T: Real + Into<f64>>(panel: &[T], lanes: usize, norms: &mut [f64]) {
    norms.fill(0.0);
    for row in panel.chunks_exact(lanes) {
        norms.iter_mut().zip(row).for_each(|(norm, &x)| *norm += x.into() * x.into());
    }
}

/// A panel of queries in `f64`, or a single one.
#[derive(Debug, Default)]
pub(super) struct Panel64 {
    pub(super) lanes: usize,
    pub(super) values: Vec<f64>,
    pub(super) norms: Vec<f64>,
}

/// The support vectors in `f64`.
#[derive(Debug)]
pub(super) struct Reals64 {
    pub(super) groups: Groups<f64>,
    pub(super) norms: Vec<f64>,
    /// Subtracted from all samples; empty for 0.
    pub(super) centre: Vec<f64>,
    /// The largest squared norm.
    pub(super) max_norm: f64,
    function: SliceKernel,
    /// gamma of a kernel of distances.
    gamma: Option<f64>,
}

/// Largest error of an exponent, `γ max‖x‖² 2⁻²⁴`, for which support vectors are not centred.
const NEAR: f64 = 1e-7 * 16_777_216.0;

impl Reals64 {
    pub(super) fn new(kernel: &Kernel, support: &Samples, order: &[u32]) -> Self {
        let gamma = kernel.gamma().filter(|_| kernel.is_distance());
        let largest = |centre: &[f64]| {
            let mut x = vec![0.0; support.features()];
            let norm = |k: u32| -> f64 {
                support.row(k as usize).write_dense(&mut x);
                x.iter_mut().zip(centre).for_each(|(x, c)| *x -= c);
                x.iter().map(|x| x * x).sum()
            };
            order.iter().filter(|k| **k != EMPTY).copied().map(norm).fold(0.0, f64::max)
        };
        let (mut centre, mut max_norm) = (Vec::new(), largest(&[]));
        if let Some(gamma) = gamma.filter(|gamma| gamma * max_norm > NEAR) {
            let mut sums = vec![0.0; support.features()];
            order.iter().filter(|k| **k != EMPTY).for_each(|&k| support.row(k as usize).for_each(|j, v| sums[j] += v));
            let count = order.iter().filter(|k| **k != EMPTY).count() as f64;
            sums.iter_mut().for_each(|sum| *sum /= count);
            let centred = largest(&sums);
            // Centring rounds the samples, so differences of the original samples are more
            // accurate.
            if !needs_differences(gamma, centred) {
                (centre, max_norm) = (sums, centred);
            }
        }
        let groups = Groups::new(support, order, &centre);
        let norms = groups.norms();
        let function = SliceKernel::new(kernel, max_norm);
        Self { groups, norms, centre, max_norm, function, gamma }
    }

    /// Bytes of the vectors.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.groups.values.as_slice()) + size_of_val(self.norms.as_slice())
    }

    /// Writes queries to a panel. Returns the sums of squares of their values of features that the
    /// vectors do not have.
    pub(super) fn load<'r>(
        &self,
        columns: &Columns,
        rows: impl Iterator<Item = Row<'r>>,
        lanes: usize,
        panel: &mut Panel64,
    ) -> Vec<f64> {
        panel.lanes = lanes;
        // Vectors without features have one that is 0.
        panel.values.resize(columns.depth.max(1) * lanes, 0.0);
        panel.norms.resize(lanes, 0.0);
        let mut others = vec![0.0; lanes];
        for (lane, row) in rows.enumerate() {
            others[lane] = columns.write(row, &self.centre, &mut panel.values, lane, lanes);
        }
        norms(&panel.values, lanes, &mut panel.norms);
        panel.norms.iter_mut().zip(&others).for_each(|(norm, other)| *norm += other);
        others
    }

    /// Returns whether the distances of a query with this squared norm are sums of squared
    /// differences, because its norm and its products would lose digits.
    pub(super) fn needs_differences(&self, norm: f64) -> bool {
        self.gamma.is_some_and(|gamma| needs_differences(gamma, norm.max(self.max_norm)))
    }

    /// Computes the kernel values of the vectors at `places` and the queries.
    pub(super) fn values(&self, places: &Range<usize>, panel: &Panel64, dots: &mut [f64], out: &mut [f64]) {
        self.groups.products(places, &panel.values, panel.lanes, dots);
        self.function.fill_rows64(&self.norms[places.clone()], &panel.norms, dots, out);
    }

    /// [`Reals64::values`] from sums of squared differences. `others` are the sums of squares of
    /// the queries' values of features that the vectors do not have.
    pub(super) fn values_by_differences(
        &self,
        places: &Range<usize>,
        panel: &Panel64,
        others: &[f64],
        dots: &mut [f64],
        out: &mut [f64],
    ) {
        let lanes = panel.lanes;
        for (place, dots) in places.clone().step_by(GROUP).zip(dots.chunks_exact_mut(GROUP * lanes)) {
            dots.fill(0.0);
            for (row, column) in self.groups.group(place).chunks_exact(GROUP).zip(panel.values.chunks_exact(lanes)) {
                for (z, dots) in row.iter().zip(dots.chunks_exact_mut(lanes)) {
                    dots.iter_mut().zip(column).for_each(|(sum, x)| *sum += (x - z) * (x - z));
                }
            }
            for dots in dots.chunks_exact_mut(lanes) {
                dots.iter_mut().zip(others).for_each(|(sum, other)| *sum = -0.5 * (*sum + other));
            }
        }
        let zeros = vec![0.0; places.len().max(lanes)];
        self.function.fill_rows64(&zeros[..places.len()], &zeros[..lanes], dots, out);
    }
}
