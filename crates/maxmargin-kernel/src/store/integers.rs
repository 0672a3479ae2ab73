//! Small integers: exact dot products of bytes or bits. The kernel function is applied while the
//! sums are in the first-level cache.
//!
//! A term of the row and a term of the column turn raw sums into dot products, and other terms turn
//! them into squared distances. Terms may wrap at 32 bits; the results fit.

use crate::Kernel;
use crate::neighbours::{BitRows, Coordinates};
use crate::store::bits::Bits;
use crate::store::blocks::{STRIDE, Scratch, blocks};
use crate::store::bytes::Bytes;
use crate::store::categories::Categories;
use crate::store::distances::{EXPONENT_ERROR, multiples_error};
use crate::store::slice_kernel::SliceKernel;
use crate::store::summary::DataSummary;
use maxmargin_data::{Cancelled, RunControl, Samples};
use maxmargin_simd::codes::{distance_codes, dot_codes};
use maxmargin_simd::distances::{DISTANCES, Distances};
use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::row::CodeTable;
use std::cell::RefCell;
use std::ops::Range;

/// Samples of small integers, or of small multiples of one number, the unit. All values are in
/// units, and kernels of dot products and norms in units have a gamma multiplied by the squared
/// unit.
#[derive(Clone, Debug)]
pub(crate) struct Integers {
    panels: Packing,
    /// The unit: all values are multiples of it.
    unit: f64,
    /// Different values were rounded to the same multiple of the unit.
    merges_values: bool,
    /// `‖x‖²`, exactly.
    norms: Vec<f64>,
    /// Terms of the rows that turn raw sums into dot products.
    row_terms: Vec<i32>,
    /// Terms of the columns for dot products.
    column_terms: Vec<i32>,
    /// Terms of the rows that turn `−2 sum` into squared distances.
    row_norms: Vec<i32>,
    /// Terms of the columns for squared distances.
    column_norms: Vec<i32>,
    /// No value is negative.
    natural: bool,
    /// A bound on squared distances.
    widest: f64,
}

/// The packing of the values.
#[derive(Clone, Debug)]
enum Packing {
    Bytes(Bytes),
    /// Zeros and ones; as categories, too, where products are then faster.
    Bits(Bits, Option<Categories>),
}

/// Smallest number of values of a block for which a table of exponentials is built, in `f64`, and
/// in `f32`, whose exponentials take less time.
const TABLED: usize = 4096;
const CODED: usize = 16384;

thread_local! {
    static BYTES: RefCell<Scratch<[i8; 4], i32>> = RefCell::default();
    static BITS: RefCell<Scratch<u64, i32>> = RefCell::default();
    static CATEGORIES: RefCell<Scratch<u8, i32>> = RefCell::default();
    static WIDE: RefCell<Vec<f64>> = RefCell::default();
}

/// The low 32 bits.
fn wrapped(value: i64) -> i32 {
    value as i32
}

impl Integers {
    /// Returns whether this store can hold the values: multiples of a unit that span less than 256,
    /// distances below 2³¹, and a kernel with a gamma if the unit is not 1.
    ///
    /// Values that differ from a multiple by rounding become this multiple. The store refuses data
    /// where the kernel would show the difference, such as neighbouring integers of 53 bits.
    ///
    /// This store and inverted lists both compute exact products of integers, so the choice between
    /// them does not change kernel values.
    pub(crate) fn accepts(samples: &Samples, summary: &DataSummary, kernel: &Kernel) -> bool {
        let span = summary.high - summary.low;
        let of_multiples = multiples_error(kernel.gamma().unwrap_or(0.0) * summary.max_norm);
        summary.unit.is_some_and(|unit| unit == 1.0 || kernel.gamma().is_some())
            && (summary.unit == Some(1.0) || !kernel.is_distance() || of_multiples <= EXPONENT_ERROR)
            && span < 256.0
            && summary.low.abs() < 32768.0
            && samples.features() as f64 * span.max(summary.high.abs()).max(summary.low.abs()).powi(2) < 2_147_483_647.0
    }

    /// Panels for `samples`.
    pub(crate) fn new(samples: &Samples, summary: &DataSummary, control: &RunControl) -> Result<Self, Cancelled> {
        let features = samples.features();
        let low = summary.low as i64;
        let panels = if Self::are_bits(summary) {
            let bits = Bits::new(samples, control)?;
            let categories = Categories::new(samples, bits.words(), control)?;
            Packing::Bits(bits, categories)
        } else {
            Packing::Bytes(Bytes::new(samples, summary, control)?)
        };
        let middle = if let Packing::Bytes(bytes) = &panels { low + i64::from(bytes.shift()) } else { 0 };
        let mut norms = Vec::with_capacity(samples.len());
        let mut sums = Vec::with_capacity(samples.len());
        samples.each_row(control, |_, row| {
            let (mut sum, mut norm) = (0i64, 0i64);
            row.for_each(|_, v| {
                let v = summary.multiple(v) as i64;
                sum += v;
                norm += v * v;
            });
            norms.push(norm as f64);
            sums.push(sum);
        })?;
        let constant = features as i64 * low * middle;
        let row_terms: Vec<i32> = sums.iter().map(|s| wrapped(low * s - constant)).collect();
        let column_terms: Vec<i32> = sums.iter().map(|s| wrapped(middle * s)).collect();
        let as_norms = |terms: &[i32]| -> Vec<i32> {
            terms.iter().zip(&norms).map(|(t, &norm)| wrapped(norm as i64).wrapping_sub(t.wrapping_mul(2))).collect()
        };
        // ‖x − z‖² ≤ ‖x‖² + ‖z‖² without negative values, (‖x‖ + ‖z‖)² with them.
        let largest = norms.iter().copied().fold(0.0, f64::max);
        let widest = (features as f64 * (summary.high - summary.low).powi(2)).min(if low >= 0 { 2.0 } else { 4.0 } * largest);
        let (row_norms, column_norms) = (as_norms(&row_terms), as_norms(&column_terms));
        let (unit, merges_values, natural) = (summary.unit.unwrap_or(1.0), summary.merges_values, low >= 0);
        Ok(Self { panels, unit, merges_values, norms, row_terms, column_terms, row_norms, column_norms, natural, widest })
    }

    /// The samples `ids`, in this order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let panels = match &self.panels {
            Packing::Bytes(bytes) => Packing::Bytes(bytes.select(ids)),
            Packing::Bits(bits, categories) => {
                Packing::Bits(bits.select(ids), categories.as_ref().map(|categories| categories.select(ids)))
            }
        };
        let pick = |terms: &[i32]| ids.iter().map(|&i| terms[i]).collect();
        Self {
            panels,
            unit: self.unit,
            merges_values: self.merges_values,
            norms: ids.iter().map(|&i| self.norms[i]).collect(),
            row_terms: pick(&self.row_terms),
            column_terms: pick(&self.column_terms),
            row_norms: pick(&self.row_norms),
            column_norms: pick(&self.column_norms),
            natural: self.natural,
            widest: self.widest,
        }
    }

    /// Returns whether all values are 0 or 1.
    fn are_bits(summary: &DataSummary) -> bool {
        summary.low == 0.0 && summary.high <= 1.0
    }

    /// Approximate number of multiplications per nanosecond with AVX2.
    pub(crate) fn rate(summary: &DataSummary) -> f64 {
        if Self::are_bits(summary) { 160.0 } else { 40.0 }
    }

    /// Appends the words that determine a sample.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        match &self.panels {
            Packing::Bytes(bytes) => bytes.content(i, words),
            Packing::Bits(bits, _) => bits.content(i, words),
        }
    }

    /// The samples in units and from a common origin, if they have at most `most` features.
    pub(crate) fn coordinates(&self, most: usize) -> Option<Coordinates> {
        match &self.panels {
            Packing::Bytes(bytes) if bytes.depth() <= most => {
                let (mut words, mut values) = (Vec::new(), Vec::with_capacity(self.norms.len() * bytes.depth()));
                for i in 0..self.norms.len() {
                    words.clear();
                    bytes.content(i, &mut words);
                    values.extend(words.iter().flat_map(|word| (word.to_le_bytes().map(f64::from)).into_iter().take(4)));
                }
                Some(Coordinates { values, width: bytes.depth() })
            }
            Packing::Bytes(_) | Packing::Bits(..) => None,
        }
    }

    /// The samples as bits, if they are zeros and ones.
    pub(crate) fn bit_rows(&self) -> Option<BitRows> {
        match &self.panels {
            Packing::Bits(bits, _) => Some(bits.rows(self.norms.len())),
            Packing::Bytes(_) => None,
        }
    }

    /// The exact values of the codes of [`Integers::table`], where these are squared distances.
    pub(crate) fn code_values(&self, function: &SliceKernel) -> Option<Box<[f64; 256]>> {
        self.table(function)?;
        let mut values = Box::new([0.0; 256]);
        let codes: [i32; 256] = std::array::from_fn(|code| code as i32);
        function.gaussian()?.fill64_from_integers(0, &codes, &[0; 256], &mut *values);
        Some(values)
    }

    /// Approximate cost of a dot product in nanoseconds.
    pub(crate) fn product_cost(&self) -> f64 {
        match &self.panels {
            Packing::Bytes(bytes) => bytes.depth() as f64 / 64.0,
            // Choices by cost do not depend on the processor, and it decides between bits and
            // categories.
            Packing::Bits(bits, _) => bits.words() as f64 / 3.0,
        }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let panels = match &self.panels {
            Packing::Bytes(bytes) => bytes.bytes(),
            Packing::Bits(bits, categories) => bits.bytes() + categories.as_ref().map_or(0, Categories::bytes),
        };
        panels + 24 * self.norms.len()
    }

    /// Returns whether different values were rounded to the same multiple, so that different
    /// samples can appear equal.
    pub(crate) fn merges_values(&self) -> bool {
        self.merges_values
    }

    /// Returns whether the unit is 1: the integers are the exact values of the samples.
    pub(crate) fn are_whole(&self) -> bool {
        self.unit == 1.0
    }

    /// The form of `kernel` for dot products and norms in units.
    pub(crate) fn in_units(&self, kernel: &Kernel) -> Kernel {
        match kernel.gamma() {
            Some(gamma) if self.unit != 1.0 => kernel.clone().with_gamma(gamma * (self.unit * self.unit)),
            _ => kernel.clone(),
        }
    }

    /// Squared norms, in units.
    pub(crate) fn norms(&self) -> &[f64] {
        &self.norms
    }

    /// Computes dot products in `f64` from raw sums.
    fn dots(&self, row: usize, part: Range<usize>, sums: &[i32], wide: &mut Vec<f64>) {
        let term = self.row_terms[row];
        wide.clear();
        wide.extend(sums.iter().zip(&self.column_terms[part]).map(|(s, t)| f64::from(s.wrapping_add(*t).wrapping_add(term))));
    }

    /// Calls `each(r, part, sums)` with the raw sums of `rows[r]` and the samples of `part`, for
    /// parts of `columns`.
    fn each_part(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[i32])) {
        match &self.panels {
            Packing::Bytes(bytes) => BYTES.with_borrow_mut(|scratch| blocks(bytes, rows, columns, scratch, each)),
            Packing::Bits(bits, None) => BITS.with_borrow_mut(|scratch| blocks(bits, rows, columns, scratch, each)),
            Packing::Bits(_, Some(categories)) => {
                CATEGORIES.with_borrow_mut(|scratch| blocks(categories, rows, columns, scratch, each));
            }
        }
    }

    /// Computes `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        let many = rows.len() * columns.len() >= CODED && function.gaussian().is_some();
        let table = if many { self.table(function).filter(CodeTable::is_few) } else { None };
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r][part.start - columns.start..part.end - columns.start];
            if let Some(table) = &table {
                let codes = &mut [0; STRIDE][..out.len()];
                distance_codes(self.row_norms[rows[r]], &self.column_norms[part], sums, codes);
                table.decode(codes, out);
            } else if let Some(g) = function.gaussian() {
                g.fill32_from_integers(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                WIDE.with_borrow_mut(|wide| {
                    self.dots(rows[r], part.clone(), sums, wide);
                    function.fill32_from64(self.norms[rows[r]], &self.norms[part], wide, out);
                });
            }
        });
    }

    /// The values of one-byte codes, if there are few enough different values.
    ///
    /// A code is a squared distance from 0 to 254, and 255 stands for all larger ones; their kernel
    /// value must be 0 in `f32`, unless there are none. For other kernels a code is a dot product
    /// from 0 to 255.
    pub(crate) fn table(&self, function: &SliceKernel) -> Option<CodeTable> {
        match function {
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => {
                let mut values = [0.0; 256];
                // Unused codes get the value of the largest used one: a table with few different
                // values is looked up faster.
                let last = self.widest.min(255.0) as i32;
                let codes: [i32; 256] = std::array::from_fn(|code| last.min(code as i32));
                g.fill32_from_integers(0, &codes, &[0; 256], &mut values);
                (self.widest < 256.0 || f64::from(values[255]) == -function.base())
                    .then(|| CodeTable::new(|code| values[usize::from(code)]))
            }
            SliceKernel::Other(kernel) | SliceKernel::OtherMinus(kernel, _) if kernel.is_distance() => None,
            SliceKernel::Linear | SliceKernel::Power(_) | SliceKernel::Other(_) | SliceKernel::OtherMinus(..)
                if self.natural && self.norms.iter().all(|norm| *norm < 256.0) =>
            {
                // The largest squared norm bounds all dot products.
                let last = self.norms.iter().copied().fold(0.0, f64::max);
                let dots: [f64; 256] = std::array::from_fn(|code| last.min(code as f64));
                let mut values = [0.0; 256];
                function.fill32_from64(0.0, &[0.0; 256], &dots, &mut values);
                Some(CodeTable::new(|code| values[usize::from(code)]))
            }
            SliceKernel::Linear | SliceKernel::Power(_) | SliceKernel::Other(_) | SliceKernel::OtherMinus(..) => None,
        }
    }

    /// Computes the codes `out[r]` of `K[rows[r], columns]`.
    pub(crate) fn fill_codes(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [u8]]) {
        let distances = function.gaussian().is_some();
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r][part.start - columns.start..part.end - columns.start];
            if distances {
                distance_codes(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                dot_codes(self.row_terms[rows[r]], &self.column_terms[part], sums, out);
            }
        });
    }

    /// A table of kernel values in `f64` by squared distance, if it can hold all distances.
    fn distances(&self, g: &Gaussian) -> Option<Distances> {
        let mut values = [0.0; DISTANCES];
        let all: [i32; DISTANCES] = std::array::from_fn(|distance| distance as i32);
        (self.widest < DISTANCES as f64).then(|| {
            g.fill64_from_integers(0, &all, &[0; DISTANCES], &mut values);
            Distances::new(values, self.widest as usize)
        })
    }

    /// Computes `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, function: &SliceKernel, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        let count = columns.len();
        let table = function.gaussian().filter(|_| rows.len() * count >= TABLED).and_then(|g| self.distances(g));
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r * count..][part.start - columns.start..part.end - columns.start];
            if let Some(table) = &table {
                table.look_up(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else if let Some(g) = function.gaussian() {
                g.fill64_from_integers(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                WIDE.with_borrow_mut(|wide| {
                    self.dots(rows[r], part.clone(), sums, wide);
                    function.fill64(self.norms[rows[r]], &self.norms[part], wide, out);
                });
            }
        });
    }
}
