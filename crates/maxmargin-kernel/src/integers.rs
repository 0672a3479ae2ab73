//! The engine for small integers: exact dot products, of bytes or of bits, the kernel function
//! applied while the sums are in the first-level cache.
//!
//! Raw sums become dot products by a term of the row and a term of the column, or squared distances
//! by others. Terms may wrap at 32 bits; what comes out fits.

use crate::Kernel;
use crate::bits::Bits;
use crate::blocks::{Scratch, blocks};
use crate::bytes::Bytes;
use crate::distances::{EXPONENT_ERROR, multiples_error};
use crate::entry::Entry;
use crate::survey::Survey;
use maxmargin_data::{Asking, Halted, Samples};
use maxmargin_simd::codes::{distance_codes, dot_codes};
use maxmargin_simd::distances::{DISTANCES, Distances};
use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::row::Table;
use std::cell::RefCell;
use std::ops::Range;

/// Samples of small integers, or of small multiples of one number: all is in units of it, and
/// kernels that are told dot products and norms have a gamma that is multiplied by its square.
#[derive(Clone, Debug)]
pub(crate) struct Integers {
    panels: Form,
    /// What values are multiples of.
    unit: f64,
    /// Values that differ are one multiple of it.
    joins: bool,
    /// `‖x‖²`, exactly.
    norms: Vec<f64>,
    /// What a row adds to its sums to make them dot products.
    row_terms: Vec<i32>,
    /// What a column adds.
    column_terms: Vec<i32>,
    /// What a row adds to `−2 sum` to make it a squared distance.
    row_norms: Vec<i32>,
    /// What a column adds.
    column_norms: Vec<i32>,
    /// No value is negative.
    natural: bool,
    /// No squared distance is larger.
    widest: f64,
}

/// How they are held.
#[derive(Clone, Debug)]
enum Form {
    Bytes(Bytes),
    /// Zeros and ones.
    Bits(Bits),
}

/// Values of a block that are worth a table of exponentials.
const TABLED: usize = 4096;

thread_local! {
    static BYTES: RefCell<Scratch<[i8; 4], i32>> = RefCell::default();
    static BITS: RefCell<Scratch<u64, i32>> = RefCell::default();
    static WIDE: RefCell<Vec<f64>> = RefCell::default();
}

/// The low 32 bits.
fn wrapped(value: i64) -> i32 {
    value as i32
}

impl Integers {
    /// Whether these values allow the engine: multiples of a unit spanning less than 256, distances
    /// below 2³¹, and a kernel that can be told the unit where it is not 1.
    ///
    /// Values that lie within rounding of a multiple become that multiple: not where the kernel
    /// could tell them apart, as it can integers of 53 bits that lie side by side.
    ///
    /// What it computes of integers is exact, and so is what inverted lists compute of such values:
    /// which of the two takes them does not show.
    pub(crate) fn suits(samples: &Samples, survey: &Survey, kernel: &Kernel) -> bool {
        let span = survey.high - survey.low;
        let of_multiples = multiples_error(kernel.gamma().unwrap_or(0.0) * survey.max_norm);
        survey.unit.is_some_and(|unit| unit == 1.0 || kernel.gamma().is_some())
            && (survey.unit == Some(1.0) || !kernel.is_distance() || of_multiples <= EXPONENT_ERROR)
            && span < 256.0
            && survey.low.abs() < 32768.0
            && samples.features() as f64 * span.max(survey.high.abs()).max(survey.low.abs()).powi(2) < 2_147_483_647.0
    }

    /// Panels for `samples`.
    pub(crate) fn new(samples: &Samples, survey: &Survey, asking: &Asking) -> Result<Self, Halted> {
        let features = samples.features();
        let low = survey.low as i64;
        let panels = if Self::are_bits(survey) {
            Form::Bits(Bits::new(samples, asking)?)
        } else {
            Form::Bytes(Bytes::new(samples, survey, asking)?)
        };
        let middle = if let Form::Bytes(bytes) = &panels { low + i64::from(bytes.shift()) } else { 0 };
        let mut norms = Vec::with_capacity(samples.len());
        let mut sums = Vec::with_capacity(samples.len());
        samples.each_row(asking, |_, row| {
            let (mut sum, mut norm) = (0i64, 0i64);
            row.for_each(|_, v| {
                let v = survey.multiple(v) as i64;
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
        let widest = (features as f64 * (survey.high - survey.low).powi(2)).min(if low >= 0 { 2.0 } else { 4.0 } * largest);
        let (row_norms, column_norms) = (as_norms(&row_terms), as_norms(&column_terms));
        let (unit, joins, natural) = (survey.unit.unwrap_or(1.0), survey.joins, low >= 0);
        Ok(Self { panels, unit, joins, norms, row_terms, column_terms, row_norms, column_norms, natural, widest })
    }

    /// The samples `ids`, in that order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let panels = match &self.panels {
            Form::Bytes(bytes) => Form::Bytes(bytes.select(ids)),
            Form::Bits(bits) => Form::Bits(bits.select(ids)),
        };
        let pick = |terms: &[i32]| ids.iter().map(|&i| terms[i]).collect();
        Self {
            panels,
            unit: self.unit,
            joins: self.joins,
            norms: ids.iter().map(|&i| self.norms[i]).collect(),
            row_terms: pick(&self.row_terms),
            column_terms: pick(&self.column_terms),
            row_norms: pick(&self.row_norms),
            column_norms: pick(&self.column_norms),
            natural: self.natural,
            widest: self.widest,
        }
    }

    /// Whether values are bits.
    fn are_bits(survey: &Survey) -> bool {
        survey.low == 0.0 && survey.high <= 1.0
    }

    /// Products in a nanosecond, about, with AVX2.
    pub(crate) fn rate(survey: &Survey) -> f64 {
        if Self::are_bits(survey) { 160.0 } else { 40.0 }
    }

    /// What a sample is made of.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        match &self.panels {
            Form::Bytes(bytes) => bytes.content(i, words),
            Form::Bits(bits) => bits.content(i, words),
        }
    }

    /// About what a dot product costs, in nanoseconds.
    pub(crate) fn product_cost(&self) -> f64 {
        match &self.panels {
            Form::Bytes(bytes) => bytes.depth() as f64 / 64.0,
            Form::Bits(bits) => bits.words() as f64 / 3.0,
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let panels = match &self.panels {
            Form::Bytes(bytes) => bytes.bytes(),
            Form::Bits(bits) => bits.bytes(),
        };
        panels + 24 * self.norms.len()
    }

    /// Whether values that differ are one multiple of the unit, so that samples look equal that are
    /// not.
    pub(crate) fn joins(&self) -> bool {
        self.joins
    }

    /// Whether the unit is 1: the samples are these integers, and no rounding of anything else.
    pub(crate) fn are_whole(&self) -> bool {
        self.unit == 1.0
    }

    /// `kernel` for dot products and norms in units.
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

    /// Dot products in `f64` from raw sums.
    fn dots(&self, row: usize, part: Range<usize>, sums: &[i32], wide: &mut Vec<f64>) {
        let term = self.row_terms[row];
        wide.clear();
        wide.extend(sums.iter().zip(&self.column_terms[part]).map(|(s, t)| f64::from(s.wrapping_add(*t).wrapping_add(term))));
    }

    /// Calls `each(r, part, sums)` with the raw sums of `rows[r]` and the samples of `part`, for
    /// parts of `columns`.
    fn each_part(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[i32])) {
        match &self.panels {
            Form::Bytes(bytes) => BYTES.with_borrow_mut(|scratch| blocks(bytes, rows, columns, scratch, each)),
            Form::Bits(bits) => BITS.with_borrow_mut(|scratch| blocks(bits, rows, columns, scratch, each)),
        }
    }

    /// `out[r] = K[rows[r], columns]` in `f32`.
    pub(crate) fn fill(&self, entry: &Entry, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [f32]]) {
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r][part.start - columns.start..part.end - columns.start];
            if let Some(g) = entry.gaussian() {
                g.fill32_from_integers(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                WIDE.with_borrow_mut(|wide| {
                    self.dots(rows[r], part.clone(), sums, wide);
                    entry.fill32_from64(self.norms[rows[r]], &self.norms[part], wide, out);
                });
            }
        });
    }

    /// What codes of a byte stand for, where there are few enough values: squared distances from 0
    /// to 254, and 255 for all from there on where the kernel of those is 0 in `f32` (or there are
    /// none); dot products from 0 to 255.
    pub(crate) fn table(&self, entry: &Entry) -> Option<Table> {
        match entry {
            Entry::Rbf(g) | Entry::RbfLess(g, _) => {
                let mut values = [0.0; 256];
                // Codes that no pair of samples has may stand for anything: what stands for little
                // is looked up sooner.
                let last = self.widest.min(255.0) as i32;
                let codes: [i32; 256] = std::array::from_fn(|code| last.min(code as i32));
                g.fill32_from_integers(0, &codes, &[0; 256], &mut values);
                (self.widest < 256.0 || f64::from(values[255]) == -entry.base())
                    .then(|| Table::new(|code| values[usize::from(code)]))
            }
            Entry::Other(kernel) | Entry::OtherLess(kernel, _) if kernel.is_distance() => None,
            Entry::Linear | Entry::Other(_) | Entry::OtherLess(..)
                if self.natural && self.norms.iter().all(|norm| *norm < 256.0) =>
            {
                // No product is larger than the largest norm.
                let last = self.norms.iter().copied().fold(0.0, f64::max);
                let dots: [f64; 256] = std::array::from_fn(|code| last.min(code as f64));
                let mut values = [0.0; 256];
                entry.fill32_from64(0.0, &[0.0; 256], &dots, &mut values);
                Some(Table::new(|code| values[usize::from(code)]))
            }
            Entry::Linear | Entry::Other(_) | Entry::OtherLess(..) => None,
        }
    }

    /// `out[r]`: the codes of `K[rows[r], columns]`.
    pub(crate) fn fill_codes(&self, entry: &Entry, rows: &[usize], columns: &Range<usize>, out: &mut [&mut [u8]]) {
        let distances = entry.gaussian().is_some();
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r][part.start - columns.start..part.end - columns.start];
            if distances {
                distance_codes(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                dot_codes(self.row_terms[rows[r]], &self.column_terms[part], sums, out);
            }
        });
    }

    /// What squared distances stand for in `f64`, where a table holds them all.
    fn distances(&self, g: &Gaussian) -> Option<Distances> {
        let mut values = [0.0; DISTANCES];
        let all: [i32; DISTANCES] = std::array::from_fn(|distance| distance as i32);
        (self.widest < DISTANCES as f64).then(|| {
            g.fill64_from_integers(0, &all, &[0; DISTANCES], &mut values);
            Distances::new(values, self.widest as usize)
        })
    }

    /// `out = K[rows, columns]` in `f64`, row-major.
    pub(crate) fn fill_exact(&self, entry: &Entry, rows: &[usize], columns: &Range<usize>, out: &mut [f64]) {
        let count = columns.len();
        let table = entry.gaussian().filter(|_| rows.len() * count >= TABLED).and_then(|g| self.distances(g));
        self.each_part(rows, columns, |r, part, sums| {
            let out = &mut out[r * count..][part.start - columns.start..part.end - columns.start];
            if let Some(table) = &table {
                table.look_up(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else if let Some(g) = entry.gaussian() {
                g.fill64_from_integers(self.row_norms[rows[r]], &self.column_norms[part], sums, out);
            } else {
                WIDE.with_borrow_mut(|wide| {
                    self.dots(rows[r], part.clone(), sums, wide);
                    entry.fill64(self.norms[rows[r]], &self.norms[part], wide, out);
                });
            }
        });
    }
}
