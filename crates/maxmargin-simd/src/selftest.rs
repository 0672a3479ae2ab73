//! A self-test: compares the passes with plain code in double precision, at every level of this
//! machine.
//!
//! The tests of this crate check the machines on which they run. This module checks the user's
//! machine, in milliseconds.

use crate::clipped::{Block, LANES, Variable, advance, split, sum_at};
use crate::dispatch::level::{Level, level, levels, restrict};
use crate::dot::products::{PORTABLE_FUSES, Real};
use crate::dot::{bits, bytes, categories, products};
use crate::rows::row::{CodeTable, RowSlice};
use crate::rows::{row_sums, sums, transpose};
use crate::smo::passes::{
    Along, Diagonal, Extremes, PairUpdate, PartnerSelection, bit, conjugate_and_scan, second_order, update_and_scan,
};
use crate::values::codes;
use crate::values::exp::Gaussian;

/// Number of elements of a pass: not a multiple of any vector length.
const N: usize = 1003;

/// Number of features of a product: more than one piece of a sum.
const DEPTH: usize = products::PIECE + 7;

/// Number of rows of a product.
const ROWS: usize = 7;

/// The result of one pass at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The level.
    pub level: Level,
    /// The pass.
    pub pass: &'static str,
    /// The first wrong value, if there is one.
    pub fault: Option<String>,
}

/// The results of a pass as bits, for comparisons of levels, or the difference from plain code.
type Pass = fn(&Sample) -> Result<Vec<u64>, String>;

const PASSES: [(&str, Pass); 12] = [
    ("products in single precision", products_of::<f32>),
    ("products in double precision", products_of::<f64>),
    ("products of bytes", products_of_bytes),
    ("products of bits", products_of_bits),
    ("products of categories", products_of_categories),
    ("codes", distance_codes),
    ("exponentials", exponentials),
    ("gradient and extremes", gradient),
    ("choice of a partner", partner),
    ("sums", sums_of),
    ("clipped variables", clipped),
    ("transposed copies", transposed),
];

/// Tests every pass at every level of this machine, and restores the level in use. Concurrent work
/// runs at other levels meanwhile.
pub fn run() -> Vec<Finding> {
    let _restored = Restored(level());
    let sample = Sample::new();
    let mut findings = Vec::new();
    for (pass, check) in PASSES {
        let mut first: Option<(Level, Vec<u64>)> = None;
        for at in levels() {
            restrict(at);
            let mut fault = None;
            match check(&sample) {
                Err(found) => fault = Some(found),
                Ok(bits) => {
                    // The portable level without fused multiply-adds rounds products of reals
                    // twice.
                    let rounds_twice = at == Level::Portable && !PORTABLE_FUSES && pass.ends_with("precision");
                    match &first {
                        Some((other, expected)) if *expected != bits => {
                            fault = Some(format!("other bits than at the level {}", other.name()));
                        }
                        None if !rounds_twice => first = Some((at, bits)),
                        _ => {}
                    }
                }
            }
            findings.push(Finding { level: at, pass, fault });
        }
    }
    findings
}

/// Restores the level, even after a panic.
struct Restored(Level);

impl Drop for Restored {
    fn drop(&mut self) {
        restrict(self.0);
    }
}

/// Test data from a fixed stream of numbers.
struct Sample {
    f: Vec<f64>,
    row: Vec<f32>,
    other: Vec<f32>,
    up: Vec<u8>,
    low: Vec<u8>,
    bytes: Vec<u8>,
    words: Vec<u64>,
}

impl Sample {
    fn new() -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        };
        let words: Vec<u64> = (0..2 * N).map(|_| word()).collect();
        let share = |word: &u64| (word >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        let bytes: Vec<u8> = words.iter().map(|word| (word >> 40) as u8).collect();
        let (one, two) = words.split_at(N);
        Self {
            f: one.iter().map(|word| 4.0 * share(word)).collect(),
            row: two.iter().map(|word| share(word) as f32).collect(),
            other: one.iter().rev().map(|word| share(word) as f32).collect(),
            up: bytes[..N.div_ceil(8)].to_vec(),
            low: bytes[N..][..N.div_ceil(8)].to_vec(),
            bytes,
            words,
        }
    }
}

/// The first number whose difference from the expected value exceeds its tolerance.
fn near(found: &[f64], expected: impl Fn(usize) -> (f64, f64)) -> Result<(), String> {
    for (k, &found) in found.iter().enumerate() {
        let (value, tolerance) = expected(k);
        // The negated comparison also catches NaN.
        if (found - value).abs() <= tolerance {
            continue;
        }
        return Err(format!("element {k} is {found:e} where plain code has {value:e}"));
    }
    Ok(())
}

fn exactly<T: PartialEq + std::fmt::Debug>(found: &[T], expected: impl Fn(usize) -> T) -> Result<(), String> {
    let wrong = found.iter().enumerate().find(|(k, found)| **found != expected(*k));
    wrong.map_or(Ok(()), |(k, found)| Err(format!("element {k} is {found:?} where plain code has {:?}", expected(k))))
}

/// Conversion of numbers to `f32` or `f64`, and back.
trait Number: Real + Into<f64> {
    const EPSILON: f64;
    fn rounded(value: f64) -> Self;
}

impl Number for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn rounded(value: f64) -> Self {
        value as Self
    }
}

impl Number for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn rounded(value: f64) -> Self {
        value
    }
}

fn products_of<T: Number>(sample: &Sample) -> Result<Vec<u64>, String> {
    let at = |k: usize| T::rounded(f64::from(sample.row[k % N]));
    let rows: Vec<T> = (0..DEPTH * ROWS).map(at).collect();
    let panel: Vec<T> = (0..DEPTH * T::PANEL).map(|k| at(3 * k + 1)).collect();
    let mut out = vec![T::default(); ROWS * T::PANEL];
    products::products(&rows, ROWS, &products::PanelColumns { features: None, values: &panel }, &mut out, T::PANEL);
    let out: Vec<f64> = out.into_iter().map(Into::into).collect();
    near(&out, |place| {
        let (r, j) = (place / T::PANEL, place % T::PANEL);
        let terms = (0..DEPTH).map(|k| -> f64 { rows[k * ROWS + r].into() * panel[k * T::PANEL + j].into() });
        let (mut sum, mut size) = (0.0_f64, 0.0_f64);
        terms.for_each(|term| (sum, size) = (sum + term, size + term.abs()));
        (sum, DEPTH as f64 * T::EPSILON * size)
    })?;
    Ok(out.iter().map(|v| v.to_bits()).collect())
}

fn products_of_bytes(sample: &Sample) -> Result<Vec<u64>, String> {
    const STEPS: usize = 31;
    let at = |k: usize| sample.bytes[k % sample.bytes.len()];
    let rows: Vec<[i8; 4]> = (0..STEPS * ROWS).map(|e| std::array::from_fn(|k| at(4 * e + k) as i8)).collect();
    let panel: Vec<u8> = (0..STEPS * 4 * bytes::PANEL).map(|k| at(7 * k + 5)).collect();
    let mut out = vec![0; ROWS * bytes::PANEL];
    bytes::products(&rows, ROWS, &panel, &mut out, bytes::PANEL);
    exactly(&out, |place| {
        let (r, j) = (place / bytes::PANEL, place % bytes::PANEL);
        (0..4 * STEPS).map(|k| i32::from(rows[k / 4 * ROWS + r][k % 4]) * i32::from(panel[bytes::position(j, k)])).sum()
    })?;
    Ok(out.iter().map(|v| u64::from(v.cast_unsigned())).collect())
}

fn products_of_bits(sample: &Sample) -> Result<Vec<u64>, String> {
    const WORDS: usize = 19;
    let at = |k: usize| sample.words[k % sample.words.len()];
    let rows: Vec<u64> = (0..WORDS * ROWS).map(at).collect();
    let panel: Vec<u64> = (0..WORDS * bits::PANEL).map(|k| at(5 * k + 3)).collect();
    let mut out = vec![0; ROWS * bits::PANEL];
    bits::products(&rows, ROWS, &panel, &mut out, bits::PANEL);
    exactly(&out, |place| {
        let (r, j) = (place / bits::PANEL, place % bits::PANEL);
        (0..WORDS).map(|k| (rows[k * ROWS + r] & panel[k * bits::PANEL + j]).count_ones().cast_signed()).sum()
    })?;
    Ok(out.iter().map(|v| u64::from(v.cast_unsigned())).collect())
}

fn products_of_categories(sample: &Sample) -> Result<Vec<u64>, String> {
    const GROUPS: usize = 23;
    let at = |k: usize| sample.bytes[k % sample.bytes.len()] % 3;
    let rows: Vec<u8> = (0..GROUPS * ROWS).map(at).collect();
    let panel: Vec<u8> = (0..GROUPS * bits::PANEL).map(|k| at(5 * k + 3)).collect();
    let mut out = vec![0; ROWS * bits::PANEL];
    categories::products(&rows, ROWS, &panel, &mut out, bits::PANEL);
    exactly(&out, |place| {
        let (r, j) = (place / bits::PANEL, place % bits::PANEL);
        (0..GROUPS).filter(|k| rows[r * GROUPS + k] == panel[k * bits::PANEL + j]).count() as i32
    })?;
    Ok(out.iter().map(|v| u64::from(v.cast_unsigned())).collect())
}

fn distance_codes(sample: &Sample) -> Result<Vec<u64>, String> {
    let columns: Vec<i32> = sample.bytes.iter().map(|byte| i32::from(*byte)).collect();
    let sums: Vec<i32> = columns.iter().map(|column| column / 2).collect();
    let mut out = vec![0; columns.len()];
    codes::distance_codes(90, &columns, &sums, &mut out);
    exactly(&out, |k| (90 + columns[k] - 2 * sums[k]).min(255) as u8)?;
    codes::dot_codes(90, &columns, &sums, &mut out);
    exactly(&out, |k| (90 + columns[k] + sums[k]).min(255) as u8)?;
    Ok(out.iter().map(|code| u64::from(*code)).collect())
}

fn exponentials(sample: &Sample) -> Result<Vec<u64>, String> {
    let gaussian = Gaussian::new(0.7);
    let norms: Vec<f64> = sample.f.iter().map(|f| f * f).collect();
    let dots: Vec<f64> = sample.row.iter().map(|k| f64::from(*k)).collect();
    let expected = |k: usize| (-0.7 * (9.0 + norms[k] - 2.0 * dots[k]).max(0.0)).exp();
    let mut fine = vec![0.0; N];
    gaussian.fill64(9.0, &norms, &dots, &mut fine);
    near(&fine, |k| (expected(k), 16.0 * f64::EPSILON * expected(k)))?;
    let mut coarse = vec![0.0; N];
    gaussian.fill32_from64(9.0, &norms, &dots, &mut coarse);
    let wide: Vec<f64> = coarse.iter().map(|v| f64::from(*v)).collect();
    // The squared distance, below 15, is rounded to single precision before the exponential: 0.7 ·
    // 15 / 2 units, and one unit of the exponential.
    near(&wide, |k| (expected(k), 8.0 * <f32 as Number>::EPSILON * expected(k)))?;
    Ok(fine.iter().map(|v| v.to_bits()).chain(coarse.iter().map(|v| u64::from(v.to_bits()))).collect())
}

fn gradient(sample: &Sample) -> Result<Vec<u64>, String> {
    let mut f = sample.f.clone();
    let found =
        update_and_scan(&mut f, RowSlice::Values(&sample.row), RowSlice::Values(&sample.other), 0.3, &sample.up, &sample.low);
    let at = |k: usize| sample.f[k] + 0.3 * (f64::from(sample.row[k]) - f64::from(sample.other[k]));
    exactly(&f, at)?;
    let mut plain = Extremes::NONE;
    for (k, &value) in f.iter().enumerate() {
        if bit(&sample.up, k) && value < plain.min_up {
            (plain.min_up, plain.argmin_up) = (value, k);
        }
        if bit(&sample.low, k) && value > plain.max_low {
            (plain.max_low, plain.argmax_low) = (value, k);
        }
    }
    exactly(&[found], |_| plain)?;
    let (mut turned, mut q) = (sample.f.clone(), sample.f.iter().rev().copied().collect::<Vec<f64>>());
    let update = PairUpdate { ki: RowSlice::Values(&sample.row), kj: RowSlice::Values(&sample.other), beta: 0.7, delta: 0.3 };
    conjugate_and_scan(&mut turned, &mut q, update, &sample.up, &sample.low);
    exactly(&q, |k| (f64::from(sample.row[k]) - f64::from(sample.other[k])) + 0.7 * sample.f[N - 1 - k])?;
    exactly(&turned, |k| sample.f[k] + 0.3 * q[k])?;
    Ok(f.iter().chain(&turned).map(|v| v.to_bits()).collect())
}

fn partner(sample: &Sample) -> Result<Vec<u64>, String> {
    // A decoded value equals the value itself.
    let table = CodeTable::new(|code| (-0.1 * f32::from(code)).exp());
    let codes = &sample.bytes[..N];
    let values: Vec<f32> = codes.iter().map(|code| table.value(*code)).collect();
    let q: Vec<f64> = sample.row.iter().map(|value| f64::from(*value)).collect();
    let along = Some(Along { q: &q, qi: 0.2, scale: 0.6 });
    let selection = PartnerSelection { diagonal: Diagonal::Constant(1.0), along, kii: 1.0, fi: -0.4, tau: 1e-12 };
    let choose = |row: RowSlice| second_order(&sample.f, row, &selection, &sample.low);
    let found = choose(RowSlice::Values(&values));
    let gain = |k: usize| {
        let (b, apart) = (sample.f[k] + 0.4, q[k] - 0.2);
        b * b / (2.0 - 2.0 * f64::from(values[k]) - 0.6 * (apart * apart)).max(1e-12)
    };
    let best = (0..N).filter(|&k| bit(&sample.low, k) && sample.f[k] > -0.4).map(gain).fold(f64::NEG_INFINITY, f64::max);
    near(&[found.gain], |_| (best, 1e-14 * best))?;
    exactly(&[choose(RowSlice::Codes(codes, &table))], |_| found)?;
    Ok(vec![found.gain.to_bits(), found.index as u64])
}

fn sums_of(sample: &Sample) -> Result<Vec<u64>, String> {
    let mut f = sample.f.clone();
    sums::add_scaled(&mut f, -1.7, &sample.row);
    exactly(&f, |k| sample.f[k] + -1.7 * f64::from(sample.row[k]))?;
    // Adding a row and taking it away again leaves the sums unchanged.
    let (mut coarse, mut fine) = (vec![0.0; N], vec![0.0; N]);
    for (factor, row) in [(-1.7, &f), (0.3, &sample.f), (1.7, &f)] {
        sums::add_in_units(&mut coarse, &mut fine, factor, row);
    }
    let in_units: Vec<f64> = coarse.iter().zip(&fine).map(|(coarse, fine)| coarse + fine).collect();
    exactly(&in_units, |k| 0.3 * sample.f[k])?;
    let dot = sums::dot(&sample.f, &sample.row);
    let terms = || sample.f.iter().zip(&sample.row).map(|(f, k)| f * f64::from(*k));
    near(&[dot], |_| (terms().sum(), 1e-13 * terms().map(f64::abs).sum::<f64>()))?;
    let rows = [&sample.f[..], &f];
    let terms = [1.5, -0.25].into_iter().zip(rows).map(|(factor, row)| row_sums::RowTerm { row, factor }).collect::<Vec<_>>();
    // The row has whole blocks up to here.
    let columns = 3..N / row_sums::BLOCK * row_sums::BLOCK - 5;
    let mut of_rows = vec![0.5; columns.len()];
    row_sums::add_sums_of_rows(columns, &[row_sums::PartialSum { point: 0, terms: &terms }], &mut of_rows);
    exactly(&of_rows, |k| 0.5 + (1.5 * rows[0][k + 3] + -0.25 * rows[1][k + 3]))?;
    Ok(f.iter().chain([&dot]).chain(&in_units).chain(&of_rows).map(|v| v.to_bits()).collect())
}

fn clipped(sample: &Sample) -> Result<Vec<u64>, String> {
    let variable = |k: usize| {
        let (slack, fall) = (sample.f[k], f64::from(sample.other[k]));
        Variable { slack, fall, base: f64::from(sample.row[k]), weight: 1.5, upper: 1.0, ..Variable::default() }
    };
    let at = |k: usize, t: f64| {
        let v = variable(k);
        (v.base + v.weight * (v.slack - t * v.fall)).clamp(0.0, v.upper)
    };
    let sum = |t: f64| (0..N).map(|k| variable(k).fall * at(k, t)).sum::<f64>();
    let mut blocks = vec![Block::default(); N.div_ceil(LANES)];
    (0..N).for_each(|k| blocks[k / LANES].set(k % LANES, &variable(k)));
    let parts = split(&blocks, 1.0);
    let crossing: f64 = parts.crossing.iter().map(|c| c.fall * (c.wish - 0.4 * c.rate).clamp(0.0, c.upper)).sum();
    let found = [sum_at(&blocks, 0.4), parts.constant - 0.4 * parts.rate + crossing];
    near(&found, |_| (sum(0.4), 1e-13 * N as f64))?;
    let moved = advance(&mut blocks, 0.4, 0);
    let p: Vec<f64> = (0..N).map(|k| blocks[k / LANES].get(k % LANES).p).collect();
    exactly(&p, |k| at(k, 0.4))?;
    let free: Vec<usize> = (0..N).filter(|&k| p[k] > 0.0 && p[k] < 1.0).collect();
    exactly(&moved.free, |k| free.get(k).copied().unwrap_or(N))?;
    let figures = [parts.constant, parts.rate, moved.violation];
    Ok(found.iter().chain(&p).chain(&figures).map(|v| v.to_bits()).collect())
}

fn transposed(sample: &Sample) -> Result<Vec<u64>, String> {
    const SIDE: usize = 37;
    let sources: Vec<&[f32]> = (0..SIDE).map(|c| &sample.row[5 * c..]).collect();
    let mut whole = vec![0.0; SIDE * SIDE];
    let mut rows: Vec<&mut [f32]> = whole.chunks_mut(SIDE).collect();
    transpose::transpose(&sources, 2, &mut rows, 0);
    exactly(&whole, |place| sources[place % SIDE][2 + place / SIDE])?;
    Ok(whole.iter().map(|v| u64::from(v.to_bits())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "long")]
    fn every_pass_of_this_machine_is_right() {
        let before = level();
        let findings = run();
        assert_eq!(findings.len(), PASSES.len() * levels().count());
        assert!(findings.iter().all(|finding| finding.fault.is_none()), "{findings:#?}");
        assert_eq!(level(), before);
    }

    #[test]
    fn what_is_wrong_is_found() {
        assert!(near(&[1.0, 2.0], |k| (k as f64 + 1.0, 0.0)).is_ok());
        assert!(near(&[1.0, 2.5], |k| (k as f64 + 1.0, 0.1)).is_err_and(|text| text.contains("element 1")));
        assert!(near(&[f64::NAN], |_| (1.0, 10.0)).is_err());
        assert!(exactly(&[1_u8, 3], |k| k as u8 + 1).is_err_and(|text| text.contains("element 1 is 3")));
    }
}
