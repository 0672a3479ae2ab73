//! Kernel values of support vectors and a panel of queries of small integers, with exact products.

use crate::Kernel;
use crate::predict::coefficients::EMPTY;
use crate::predict::columns::Columns;
use crate::store::integers::Integers;
use crate::store::slice_kernel::SliceKernel;
use crate::store::summary::DataSummary;
use maxmargin_data::{Row, Samples};
use maxmargin_simd::distances::{DISTANCES, Distances};
use maxmargin_simd::products::GROUP;
use maxmargin_simd::{bits, bytes};
use std::ops::Range;

/// Number of queries in a panel.
pub(super) const PANEL: usize = 32;

/// The values of vectors in groups, as rows of products.
#[derive(Debug)]
enum Rows {
    /// Zeros and ones: words of 64 features.
    Bits { words: usize, rows: Vec<u64> },
    /// Signed bytes `x − middle`, four in a step.
    Bytes { steps: usize, rows: Vec<[i8; 4]> },
}

/// Support vectors of small integers, or of multiples of a unit. The terms are those of
/// [`Integers`].
#[derive(Debug)]
pub(super) struct Multiples {
    rows: Rows,
    pub(super) unit: f64,
    /// The range of values of queries, in units.
    range: [i32; 2],
    norms: Vec<f64>,
    max_norm: f64,
    row_terms: Vec<i32>,
    row_norms: Vec<i32>,
    /// `middle`, the factor of a query's sum in its term.
    middle: i32,
    function: SliceKernel,
    /// Values by squared distance, for distances below 32 and below [`DISTANCES`].
    tables: Option<Box<[Distances; 2]>>,
}

/// Queries in a panel, or a single one.
#[derive(Debug, Default)]
pub(super) struct IntegerPanel {
    pub(super) lanes: usize,
    words: Vec<u64>,
    bytes: Vec<u8>,
    terms: Vec<i32>,
    distance_terms: Vec<i32>,
    norms: Vec<f64>,
    values: Vec<i32>,
}

impl Multiples {
    /// The vectors of `order`, if they are small integers.
    pub(super) fn new(kernel: &Kernel, support: &Samples, summary: &DataSummary, order: &[u32]) -> Option<Self> {
        if !Integers::accepts(support, summary, kernel) {
            return None;
        }
        let features = support.features();
        let (low, high) = (summary.low as i32, summary.high as i32);
        let is_bits = low == 0 && high <= 1;
        let shift = if is_bits || high - low <= 127 { 0 } else { 128 };
        let middle = if is_bits { 0 } else { low + shift };
        // Queries may have larger values, if all sums still fit in 32 bits.
        let widest = f64::from(255.max(low.abs()).max((low + 255).abs()));
        let most = if is_bits {
            1
        } else if features as f64 * widest * widest < 2_147_483_647.0 {
            low + 255
        } else {
            high
        };
        let mut rows = if is_bits {
            let words = features.div_ceil(64).max(1);
            Rows::Bits { words, rows: vec![0; words * order.len()] }
        } else {
            let steps = features.div_ceil(4).max(1);
            let zero = (-middle) as i8;
            Rows::Bytes { steps, rows: vec![[zero; 4]; steps * order.len()] }
        };
        let (mut norms, mut sums) = (vec![0.0; order.len()], vec![0_i64; order.len()]);
        for (place, &k) in order.iter().enumerate().filter(|(_, k)| **k != EMPTY) {
            let (group, r) = (place / GROUP * GROUP, place % GROUP);
            let mut norm = 0;
            support.row(k as usize).for_each(|j, v| {
                let x = summary.multiple(v) as i64;
                norm += x * x;
                sums[place] += x;
                match &mut rows {
                    Rows::Bits { words, rows } => rows[group * *words + j / 64 * GROUP + r] |= 1 << (j % 64),
                    Rows::Bytes { steps, rows } => {
                        rows[group * *steps + j / 4 * GROUP + r][j % 4] = (x - i64::from(middle)) as i8;
                    }
                }
            });
            norms[place] = norm as f64;
        }
        let constant = features as i64 * i64::from(low) * i64::from(middle);
        let row_terms: Vec<i32> = sums.iter().map(|sum| (i64::from(low) * sum - constant) as i32).collect();
        let row_norms = row_terms.iter().zip(&norms).map(|(t, &norm)| (norm as i32).wrapping_sub(t.wrapping_mul(2))).collect();
        let unit = summary.unit.unwrap_or(1.0);
        let kernel = match kernel.gamma() {
            Some(gamma) if unit != 1.0 => kernel.clone().with_gamma(gamma * (unit * unit)),
            _ => kernel.clone(),
        };
        let max_norm = norms.iter().copied().fold(0.0, f64::max);
        let function = SliceKernel::new(&kernel, max_norm);
        let tables = function.gaussian().map(|g| {
            let mut values = [0.0; DISTANCES];
            let all: [i32; DISTANCES] = std::array::from_fn(|distance| distance as i32);
            g.fill64_from_integers(0, &all, &[0; DISTANCES], &mut values);
            Box::new([31, DISTANCES - 1].map(|widest| Distances::new(values, widest)))
        });
        Some(Self { rows, unit, range: [low, most], norms, max_norm, row_terms, row_norms, middle, function, tables })
    }

    /// Bytes of the vectors.
    pub(super) fn bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Bits { rows, .. } => size_of_val(rows.as_slice()),
            Rows::Bytes { rows, .. } => size_of_val(rows.as_slice()),
        };
        rows + 16 * self.norms.len()
    }

    /// Empties a panel of `lanes` queries.
    pub(super) fn clear(&self, lanes: usize, panel: &mut IntegerPanel) {
        panel.lanes = lanes;
        match &self.rows {
            Rows::Bits { words, .. } => {
                panel.words.clear();
                panel.words.resize(words * lanes, 0);
            }
            // Bytes beyond the last feature stay 0.
            Rows::Bytes { steps, .. } => {
                panel.bytes.clear();
                panel.bytes.resize(4 * steps * lanes, 0);
            }
        }
        for terms in [&mut panel.terms, &mut panel.distance_terms] {
            terms.clear();
            terms.resize(lanes, 0);
        }
        panel.norms.clear();
        panel.norms.resize(lanes, 0.0);
    }

    /// Writes a query to a lane of a panel that is empty there, and returns its squared norm.
    /// Returns none, and writes nothing, if some value is no multiple of the unit, or is out of
    /// range.
    pub(super) fn load(&self, columns: &Columns, row: Row<'_>, lane: usize, panel: &mut IntegerPanel) -> Option<f64> {
        let [low, most] = self.range;
        let (mut fits, mut sum, mut norm) = (true, 0_i64, 0_i64);
        let values = &mut panel.values;
        values.clear();
        values.resize(columns.depth, 0);
        let other = columns.for_each(row, |k, v| {
            let multiple = if self.unit == 1.0 { v } else { (v / self.unit).round() };
            let x = multiple as i32;
            let near = if self.unit == 1.0 {
                f64::from(x) == v
            } else {
                (v / self.unit - multiple).abs() <= 4.0 * f64::EPSILON * multiple.abs()
            };
            let is_in_range = near && low <= x && x <= most;
            fits &= is_in_range;
            // Squares of other values do not fit into sums.
            let x = if is_in_range { x } else { 0 };
            sum += i64::from(x);
            norm += i64::from(x) * i64::from(x);
            values[k] = x;
        });
        if !fits || other != 0.0 {
            return None;
        }
        let lanes = panel.lanes;
        match &self.rows {
            Rows::Bits { .. } => {
                for (word, values) in values.chunks(64).enumerate() {
                    let bits = values.iter().enumerate().fold(0, |bits, (k, &x)| bits | ((x as u64) << k));
                    panel.words[word * lanes + lane] = bits;
                }
            }
            Rows::Bytes { .. } => {
                for (step, values) in values.chunks(4).enumerate() {
                    let at = (step * lanes + lane) * 4;
                    panel.bytes[at..].iter_mut().zip(values).for_each(|(to, x)| *to = (x - low) as u8);
                }
            }
        }
        panel.terms[lane] = (i64::from(self.middle) * sum) as i32;
        panel.norms[lane] = norm as f64;
        panel.distance_terms[lane] = (norm as i32).wrapping_sub(panel.terms[lane].wrapping_mul(2));
        Some(norm as f64 * (self.unit * self.unit))
    }

    /// Computes raw sums of products: `out[place * lanes + lane]`.
    pub(super) fn products(&self, places: &Range<usize>, panel: &IntegerPanel, out: &mut [i32]) {
        let lanes = panel.lanes;
        for (place, out) in places.clone().step_by(GROUP).zip(out.chunks_exact_mut(GROUP * lanes)) {
            match &self.rows {
                Rows::Bits { words, rows } => {
                    let rows = &rows[place * words..][..GROUP * words];
                    if lanes == 1 {
                        bits::column_products(rows, GROUP, &panel.words, out);
                    } else {
                        bits::products(rows, GROUP, &panel.words, out, lanes);
                    }
                }
                Rows::Bytes { steps, rows } => {
                    let rows = &rows[place * steps..][..GROUP * steps];
                    if lanes == 1 {
                        bytes::column_products(rows, GROUP, &panel.bytes, out);
                    } else {
                        bytes::products(rows, GROUP, &panel.bytes, out, lanes);
                    }
                }
            }
        }
    }

    /// Returns whether distances between the vectors and these queries are below 2²⁴, and the
    /// values of all of them, if a table has them.
    fn table(&self, panel: &IntegerPanel) -> Option<&Distances> {
        let most = panel.norms.iter().copied().fold(0.0, f64::max);
        // ‖x − z‖² ≤ ‖x‖² + ‖z‖² without negative values, twice that with them.
        let widest = if self.range[0] >= 0 { 1.0 } else { 2.0 } * (most + self.max_norm);
        let tables = self.tables.as_ref()?;
        [32.0, DISTANCES as f64].iter().position(|limit| widest < *limit).map(|at| &tables[at])
    }

    /// Computes the kernel values of the vectors at `places` and the queries of `part`, from raw
    /// sums: `out[place * part.len() + lane − part.start]`.
    pub(super) fn values(&self, places: &Range<usize>, panel: &IntegerPanel, part: Range<usize>, sums: &[i32], out: &mut [f64]) {
        let terms = &panel.distance_terms[part.clone()];
        if let (Some(g), 1) = (self.function.gaussian(), panel.lanes) {
            return g.fill64_from_integers(terms[0], &self.row_norms[places.clone()], sums, out);
        }
        let table = self.table(panel);
        let mut dots = vec![0.0; part.len()];
        let rows = sums.chunks_exact(panel.lanes).zip(out.chunks_exact_mut(part.len()));
        for (place, (sums, out)) in places.clone().zip(rows) {
            let sums = &sums[part.clone()];
            match (table, self.function.gaussian()) {
                (Some(table), _) => table.look_up(self.row_norms[place], terms, sums, out),
                (None, Some(g)) => g.fill64_from_integers(self.row_norms[place], terms, sums, out),
                (None, None) => {
                    let dot = |(sum, term): (&i32, &i32)| f64::from(sum.wrapping_add(*term).wrapping_add(self.row_terms[place]));
                    dots.iter_mut().zip(sums.iter().zip(&panel.terms[part.clone()]).map(dot)).for_each(|(to, dot)| *to = dot);
                    self.function.fill64(self.norms[place], &panel.norms[part.clone()], &dots, out);
                }
            }
        }
    }

    /// Returns whether [`Multiples::values32`] computes the kernel.
    pub(super) fn has_singles(&self) -> bool {
        self.function.gaussian().is_some()
    }

    /// Computes the values of an RBF kernel in `f32`, for a whole panel.
    pub(super) fn values32(&self, places: &Range<usize>, panel: &IntegerPanel, sums: &[i32], out: &mut [f32]) {
        if let Some(g) = self.function.gaussian() {
            g.rows32_from_integers(&self.row_norms[places.clone()], &panel.distance_terms, sums, out);
        }
    }
}
