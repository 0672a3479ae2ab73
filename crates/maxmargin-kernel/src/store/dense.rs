//! Dense data: products of a few rows with panels of columns. The kernel function is applied while
//! they are in the cache.

use crate::neighbours::Coordinates;
use crate::store::blocks::{Scratch, blocks};
use crate::store::distances::needs_differences;
use crate::store::packing::Packing;
use crate::store::panel::{Panel, PanelAsF64};
use crate::store::parts::for_parts;
use crate::store::slice_kernel::SliceKernel;
use crate::store::summary::{DataSummary, max_norm_from};
use maxmargin_data::{Cancelled, Par, RunControl, Samples};
use std::cell::RefCell;
use std::ops::Range;

/// Largest error of an exponent, `γ max‖x‖² 2⁻²⁴`, for which `f32` dot products are used.
const SINGLE_ERROR: f64 = 1e-6;
/// Largest error of an exponent for which data with few zeros are not centred first. Centring would
/// fill the zeros, which panels omit.
const CENTRE_ERROR: f64 = 1e-7;
/// Largest share of nonzero values of data with many zeros.
const SPARSE: f64 = 0.4;
/// Range of the largest squared norm in which `f32` holds sums and terms: for smaller samples they
/// would be rounded to 0.
const NORMS: Range<f64> = 1e-25..1e30;
/// Samples whose products with each other contain their norms.
const SQUARE: usize = 32;
/// Rounding unit of `f32`: 2⁻²⁴.
const UNIT32: f64 = 1.0 / 16_777_216.0;

/// Samples as panels: `single` for fast blocks, `double` (or converted `single`) for exact blocks.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    len: usize,
    single: Option<Panel<f32>>,
    double: Option<Panel<f64>>,
    /// Dot products in `f32` are exact.
    exact: bool,
    /// Largest squared norm in `single`.
    max_norm: f64,
    norms32: Vec<f32>,
    norms64: Vec<f64>,
}

thread_local! {
    static SINGLE: RefCell<Scratch<f32, f32>> = RefCell::default();
    static DOUBLE: RefCell<Scratch<f64, f64>> = RefCell::default();
}

/// The squared norms of some samples in `f64`, and in `f32` if there are panels of `f32`.
struct Norms {
    double: Vec<f64>,
    single: Vec<f32>,
}

impl Dense {
    /// Panels for `samples`. With the `gamma` of an RBF kernel only distances matter, and the data
    /// may be centred.
    pub(crate) fn new(
        samples: &Samples,
        summary: &DataSummary,
        gamma: Option<f64>,
        par: Par,
        control: &RunControl,
    ) -> Result<Self, Cancelled> {
        let estimate = |norm: f64| gamma.map_or(0.0, |g| g * norm * UNIT32);
        let mut dense = Self {
            len: samples.len(),
            single: None,
            double: None,
            exact: summary.exact,
            max_norm: summary.max_norm,
            norms32: Vec::new(),
            norms64: Vec::new(),
        };
        let limit = if summary.density <= SPARSE { SINGLE_ERROR } else { CENTRE_ERROR };
        let near = estimate(summary.max_norm) <= limit && NORMS.contains(&summary.max_norm);
        let mut packing = Packing { samples, centre: &[], double: false, single: true };
        if !(summary.exact || summary.single && near) {
            packing.centre = if gamma.is_some() && !near { &summary.means } else { &[] };
            dense.max_norm = max_norm_from(samples, packing.centre, par, control)?;
            // Centring rounds the samples, so differences of the original samples are more
            // accurate.
            if gamma.is_some_and(|g| needs_differences(g, dense.max_norm)) {
                (packing.centre, dense.max_norm) = (&[], summary.max_norm);
            }
            packing.double = true;
            packing.single = estimate(dense.max_norm) <= SINGLE_ERROR && NORMS.contains(&dense.max_norm);
        }
        (dense.double, dense.single) = packing.pack(par, control)?;
        dense.set_norms(par, control)?;
        Ok(dense)
    }

    /// Returns whether `f32` dot products are accurate enough for an RBF kernel with this `gamma`
    /// (`None` for other kernels).
    fn single_is_enough(&self, gamma: Option<f64>) -> bool {
        gamma.is_none_or(|g| g * self.max_norm * UNIT32 <= SINGLE_ERROR)
    }

    /// The samples `ids`, in this order, with the same arithmetic.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        Self {
            len: ids.len(),
            single: self.single.as_ref().map(|panel| panel.select(ids)),
            double: self.double.as_ref().map(|panel| panel.select(ids)),
            exact: self.exact,
            max_norm: self.max_norm,
            norms32: if self.norms32.is_empty() { Vec::new() } else { ids.iter().map(|&i| self.norms32[i]).collect() },
            norms64: ids.iter().map(|&i| self.norms64[i]).collect(),
        }
    }

    /// The samples, if they have at most `most` features.
    pub(crate) fn coordinates(&self, most: usize) -> Option<Coordinates> {
        let features = self.double.as_ref().map(Panel::depth).or(self.single.as_ref().map(Panel::depth))?;
        let mut values = vec![0.0; if features <= most { self.len * features } else { return None }];
        for (i, sample) in values.chunks_exact_mut(features).enumerate() {
            match (&self.double, &self.single) {
                (Some(panel), _) => panel.sample(i).for_each(|(k, v)| sample[k] = v),
                (None, Some(panel)) => panel.sample(i).for_each(|(k, v)| sample[k] = f64::from(v)),
                (None, None) => {}
            }
        }
        Some(Coordinates { values, width: features })
    }

    /// Appends the nonzero values of a sample, and which features they are of.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        match (&self.double, &self.single) {
            (Some(panel), _) => {
                // A bit for each feature, then the values.
                let bits = words.len();
                words.resize(bits + panel.depth().div_ceil(64), 0);
                for (k, v) in panel.sample(i).filter(|(_, v)| *v != 0.0) {
                    words[bits + k / 64] |= 1 << (k % 64);
                    words.push(v.to_bits());
                }
            }
            (None, Some(panel)) => {
                let word = |(k, v): (usize, f32)| ((k as u64) << 32) | u64::from(v.to_bits());
                words.extend(panel.sample(i).filter(|(_, v)| *v != 0.0).map(word));
            }
            (None, None) => {}
        }
    }

    /// Mean number of features per panel.
    pub(crate) fn width(&self) -> usize {
        let double = self.double.as_ref().map_or(0, Panel::width);
        self.single.as_ref().map_or(double, Panel::width)
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.single.as_ref().map_or(0, Panel::bytes)
            + self.double.as_ref().map_or(0, Panel::bytes)
            + self.norms32.len() * 4
            + self.norms64.len() * 8
    }

    /// Squared norms in `f64`, of the centred samples if the data are centred.
    pub(crate) fn norms(&self) -> &[f64] {
        &self.norms64
    }

    /// Computes norms by the arithmetic of the blocks, so that equal samples have distance
    /// exactly 0.
    fn set_norms(&mut self, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        let (mut all64, mut all32) = (Vec::with_capacity(self.len), Vec::new());
        let each = |part: Norms| {
            all64.extend(part.double);
            all32.extend(part.single);
        };
        for_parts(self.len, (SQUARE * self.width()) as u64, par, control, |rows| self.norms_of(rows), each)?;
        (self.norms64, self.norms32) = (all64, all32);
        Ok(())
    }

    fn norms_of(&self, rows: Range<usize>) -> Norms {
        let (start, count) = (rows.start, rows.len());
        let (mut norms64, mut norms32) = (vec![0.0; count], vec![0.0; if self.single.is_some() { count } else { 0 }]);
        for first in rows.clone().step_by(SQUARE) {
            let rows: Vec<usize> = (first..rows.end.min(first + SQUARE)).collect();
            let columns = first..first + rows.len();
            self.blocks32(&rows, &columns, |r, part, dots| {
                if part.contains(&rows[r]) {
                    norms32[rows[r] - start] = dots[rows[r] - part.start];
                }
            });
            if !self.exact {
                self.blocks64(&rows, &columns, |r, part, dots| {
                    if part.contains(&rows[r]) {
                        norms64[rows[r] - start] = dots[rows[r] - part.start];
                    }
                });
            }
        }
        if self.exact {
            norms64.iter_mut().zip(&norms32).for_each(|(wide, &norm)| *wide = f64::from(norm));
        }
        Norms { double: norms64, single: norms32 }
    }

    /// Calls `each(r, part, dots)` with the `f32` dot products of `rows[r]` and the samples of
    /// `part`, for parts of `columns`.
    fn blocks32(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[f32])) {
        let Some(panel) = &self.single else { return };
        SINGLE.with_borrow_mut(|scratch| blocks(panel, rows, columns, scratch, each));
    }

    /// [`Dense::blocks32`] in `f64`.
    fn blocks64(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[f64])) {
        DOUBLE.with_borrow_mut(|scratch| match (&self.double, &self.single) {
            (Some(panel), _) => blocks(panel, rows, columns, scratch, each),
            (None, Some(panel)) => blocks(&PanelAsF64(panel), rows, columns, scratch, each),
            (None, None) => {}
        });
    }

    /// Calls `each(r, part, distances)` with the squared distances between `rows[r]` and the
    /// samples of `part`, for parts of `columns`.
    pub(crate) fn distances(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[f64])) {
        match (&self.double, &self.single) {
            (Some(panel), _) => panel.distances(rows, columns, each),
            (None, Some(panel)) => panel.distances(rows, columns, each),
            (None, None) => {}
        }
    }

    /// Returns whether dot products and norms in `f64` are exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Computes `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(
        &self,
        function: &SliceKernel,
        gamma: Option<f64>,
        rows: &[usize],
        columns: &Range<usize>,
        out: &mut [&mut [f32]],
    ) {
        let first = columns.start;
        let single = self.exact || (self.single_is_enough(gamma) && function.accepts_f32_dots(gamma, self.max_norm));
        if self.single.is_some() && single {
            self.blocks32(rows, columns, |r, part, dots| {
                let norms = &self.norms32[part.clone()];
                function.fill32(self.norms32[rows[r]], norms, dots, &mut out[r][part.start - first..part.end - first]);
            });
        } else {
            self.blocks64(rows, columns, |r, part, dots| {
                let norms = &self.norms64[part.clone()];
                function.fill32_from64(self.norms64[rows[r]], norms, dots, &mut out[r][part.start - first..part.end - first]);
            });
        }
    }

    /// Computes `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        let (first, count) = (columns.start, columns.len());
        if self.exact {
            self.blocks32(rows, columns, |r, part, dots| {
                let out = &mut out[r * count..][part.start - first..part.end - first];
                function.fill64_from32(self.norms32[rows[r]], &self.norms32[part], dots, out);
            });
        } else {
            self.blocks64(rows, columns, |r, part, dots| {
                let out = &mut out[r * count..][part.start - first..part.end - first];
                function.fill64(self.norms64[rows[r]], &self.norms64[part], dots, out);
            });
        }
    }
}
