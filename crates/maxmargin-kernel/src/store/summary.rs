//! A summary of the values of a sample matrix, which determines how dot products are computed.

use crate::store::parts::for_parts;
use maxmargin_data::{Cancelled, Par, Row, RunControl, Samples, Storage};
use std::ops::Range;

/// Properties of all values of a sample matrix.
#[derive(Clone, Debug)]
pub(crate) struct DataSummary {
    /// A number of which every value is an integer multiple, up to rounding, with few different
    /// multiples. It is 1 for integers that span less than 256.
    pub(crate) unit: Option<f64>,
    /// Different values, which differ only by rounding, are the same multiple of the unit.
    pub(crate) merges_values: bool,
    /// Smallest value in units, at most 0.
    pub(crate) low: f64,
    /// Largest value in units, at least 0.
    pub(crate) high: f64,
    /// Every value is an integer and every dot product is less than 2²⁴, so `f32` arithmetic is
    /// exact.
    pub(crate) exact: bool,
    /// Every value is exactly an `f32`.
    pub(crate) single: bool,
    /// Largest `‖x‖²`.
    pub(crate) max_norm: f64,
    /// Share of nonzero values.
    pub(crate) density: f64,
    /// Mean of every feature.
    pub(crate) means: Vec<f64>,
    /// Sum over features of the squared number of nonzeros: the number of additions for scattering
    /// all rows.
    pub(crate) scatter: f64,
}

/// Operations counted for a value of a norm.
const NORM: u64 = 8;

/// Sums and extremes of the values so far.
struct ValueSums {
    /// Sum of the values of each feature.
    sums: Vec<f64>,
    /// Number of nonzero values of each feature.
    counts: Vec<u32>,
    integer: bool,
    single: bool,
    max_norm: f64,
    low: f64,
    high: f64,
}

impl ValueSums {
    fn add(&mut self, row: Row) {
        match row {
            Row::Dense32(values) => self.add_all(values),
            Row::Dense64(values) => self.add_all(values),
            Row::Sparse(..) => {
                let mut norm = 0.0;
                row.for_each(|k, v| {
                    self.sums[k] += v;
                    self.counts[k] += 1;
                    norm += v * v;
                    self.low = self.low.min(v);
                    self.high = self.high.max(v);
                    self.integer = self.integer && v.fract() == 0.0;
                    self.single &= f64::from(v as f32) == v;
                });
                self.max_norm = self.max_norm.max(norm);
            }
        }
    }

    /// Adds a row with a value for each feature, in loops that the compiler turns into vector
    /// instructions. Zeros change no sum.
    fn add_all<T: Copy + Into<f64>>(&mut self, values: &[T]) {
        self.sums.iter_mut().zip(values).for_each(|(sum, &v)| *sum += v.into());
        self.counts.iter_mut().zip(values).for_each(|(count, &v)| *count += u32::from(v.into() != 0.0));
        let norm = values.iter().map(|&v| v.into()).fold(0.0, |norm, v: f64| norm + v * v);
        self.max_norm = self.max_norm.max(norm);
        self.integer = self.integer && values.iter().all(|&v| v.into().fract() == 0.0);
        self.single = self.single && values.iter().all(|&v| f64::from(v.into() as f32) == v.into());
        let less = |one: f64, other: f64| if other < one { other } else { one };
        let more = |one: f64, other: f64| if other > one { other } else { one };
        let (mut low, mut high) = ([self.low; LANES], [self.high; LANES]);
        let (whole, rest) = values.as_chunks::<LANES>();
        for values in whole {
            low.iter_mut().zip(values).for_each(|(low, &v)| *low = less(*low, v.into()));
            high.iter_mut().zip(values).for_each(|(high, &v)| *high = more(*high, v.into()));
        }
        let rest = || rest.iter().map(|&v| v.into());
        self.low = low.into_iter().chain(rest()).fold(self.low, less);
        self.high = high.into_iter().chain(rest()).fold(self.high, more);
    }
}

/// Extremes that are found side by side.
const LANES: usize = 8;

/// Computes the summary in one pass over `samples`, and a second one for the unit.
pub(crate) fn summarize(samples: &Samples, control: &RunControl) -> Result<DataSummary, Cancelled> {
    let features = samples.features();
    let (sums, counts) = (vec![0.0; features], vec![0; features]);
    let mut found = ValueSums { sums, counts, integer: true, single: true, max_norm: 0.0, low: 0.0, high: 0.0 };
    samples.each_row(control, |_, row| found.add(row))?;
    let ValueSums { sums: mut means, counts, integer, single, max_norm, low, high } = found;
    let n = samples.len().max(1) as f64;
    means.iter_mut().for_each(|m| *m /= n);
    let density = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / (n * samples.features().max(1) as f64);
    let scatter = counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
    // Integers that fit in a byte have the unit 1.
    let (unit, merges_values) = if integer && high - low < 256.0 { (Some(1.0), false) } else { unit_of(samples) };
    let exact = integer && max_norm < 16_777_216.0;
    let mut summary = DataSummary { unit, merges_values, low: 0.0, high: 0.0, exact, single, max_norm, density, means, scatter };
    (summary.low, summary.high) = (summary.multiple(low), summary.multiple(high));
    Ok(summary)
}

/// Largest number of different magnitudes of multiples that fit in a byte.
const MAGNITUDES: usize = 255;

/// Largest difference of a value from a multiple, in half units in the last place: roundings of the
/// value, of the largest value, and of the number by which they were divided or multiplied.
const ROUNDINGS: f64 = 8.0;

/// A small hash table (open addressing) of the magnitudes of values.
struct Magnitudes {
    places: [u64; 1024],
    count: usize,
}

impl Magnitudes {
    /// Adds a magnitude, which must not be 0.
    fn add(&mut self, magnitude: f64) {
        let bits = magnitude.to_bits();
        let mut at = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        while self.places[at] != bits {
            if self.places[at] == 0 {
                self.places[at] = bits;
                self.count += 1;
                return;
            }
            at = (at + 1) % self.places.len();
        }
    }
}

/// Finds the largest number of which all values are multiples, up to rounding, with multiples that
/// fit in a byte: pixels divided by 255, or shares of a small number. Also returns whether
/// different values are the same multiple.
fn unit_of(samples: &Samples) -> (Option<f64>, bool) {
    let mut seen = Magnitudes { places: [0; 1024], count: 0 };
    for i in 0..samples.len() {
        samples.row(i).for_each(|_, v| {
            if v != 0.0 && seen.count <= MAGNITUDES {
                seen.add(v.abs());
            }
        });
        if seen.count > MAGNITUDES {
            return (None, false);
        }
    }
    let magnitudes: Vec<f64> = seen.places.iter().filter(|bits| **bits != 0).map(|bits| f64::from_bits(*bits)).collect();
    let largest = magnitudes.iter().copied().fold(0.0, f64::max);
    // The square of the unit, a factor of gamma, must be a normal number.
    let is_in_range = |unit: &f64| (1e-30..1e30).contains(unit);
    let divides = |unit: &f64| {
        let near = |v: &f64| (v / unit - (v / unit).round()).abs() <= ROUNDINGS * 0.5 * f64::EPSILON * (v / unit);
        magnitudes.iter().all(near)
    };
    let merges_values = |unit: f64| {
        let mut multiples: Vec<u64> = magnitudes.iter().map(|v| (v / unit).round() as u64).collect();
        multiples.sort_unstable();
        multiples.windows(2).any(|pair| pair[0] == pair[1])
    };
    let unit = (seen.count..=MAGNITUDES).map(|multiple| largest / multiple as f64).filter(is_in_range).find(divides);
    (unit, unit.is_some_and(merges_values))
}

/// The largest `‖x − centre‖²`; an empty centre means the origin.
pub(crate) fn max_norm_from(samples: &Samples, centre: &[f64], par: Par, control: &RunControl) -> Result<f64, Cancelled> {
    let mut most = 0.0_f64;
    let operations = NORM * samples.features() as u64;
    for_parts(samples.len(), operations, par, control, |rows| max_norm_of(samples, rows, centre), |norm| most = most.max(norm))?;
    Ok(most)
}

/// [`max_norm_from`] of some rows.
fn max_norm_of(samples: &Samples, rows: Range<usize>, centre: &[f64]) -> f64 {
    let mut own = vec![0.0; centre.len()];
    let norms = rows.map(|i| {
        let row = samples.row(i);
        if centre.is_empty() {
            let mut norm = 0.0;
            row.for_each(|_, v| norm += v * v);
            return norm;
        }
        // Norms of centred samples are not computed from the norms of the samples: the difference
        // would cancel if the centre is far from the origin.
        own.fill(0.0);
        row.for_each(|k, v| own[k] = v);
        own.iter().zip(centre).map(|(v, c)| (v - c) * (v - c)).sum()
    });
    norms.fold(0.0, f64::max)
}

impl DataSummary {
    /// The value as a multiple of the unit.
    pub(crate) fn multiple(&self, value: f64) -> f64 {
        self.unit.map_or(value, |unit| (value / unit).round())
    }

    /// Returns whether dense samples (of at most `limit` bytes) are faster than inverted lists, if
    /// a dense sample has `width` bytes per feature and the processor computes `products`
    /// multiplications per nanosecond.
    pub(crate) fn prefers_dense(&self, samples: &Samples, limit: usize, width: usize, products: f64) -> bool {
        if !matches!(samples.storage(), Storage::Sparse(_)) {
            return true;
        }
        let bytes = samples.len().saturating_mul(samples.features()).saturating_mul(width);
        // Nanoseconds per kernel value. A scattered addition, one for each common feature, takes
        // two.
        let multiply = samples.features() as f64 / products;
        let scatter = 2.0 * self.scatter / (samples.len() as f64).powi(2).max(1.0);
        bytes <= limit && multiply <= scatter.max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_data::generate::Generator;
    use proptest::prelude::*;

    proptest! {
        /// The summary does not depend on the storage form.
        #[test]
        fn each_form_of_samples_has_the_same_summary(
            numbers in prop::collection::vec(prop_oneof![Just(0.0), -3.0..3.0_f64, (-4_i8..4).prop_map(f64::from)], 7 * 19),
            form in 0..3,
        ) {
            // Integers, numbers of single precision, and others.
            let number = |v: f64| [v.round(), f64::from(v as f32), v][form as usize];
            let numbers: Vec<f64> = numbers.into_iter().map(number).collect();
            let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for row in numbers.chunks(19) {
                let entries = (0..).zip(row.iter().copied()).filter(|of| of.1 != 0.0);
                entries.for_each(|(k, v)| (indices.push(k), values.push(v)).1);
                offsets.push(indices.len());
            }
            let sparse = Samples::from_sparse(19, offsets, indices, values).expect("samples");
            let dense = Samples::from_dense(7, 19, numbers).expect("samples");
            let of = |samples: &Samples| format!("{:?}", summarize(samples, &RunControl::unlimited()).expect("not cancelled"));
            prop_assert_eq!(of(&dense), of(&sparse));
        }
    }

    /// The largest norm does not depend on the threads, nor on the centre's distance.
    #[test]
    fn threads_find_the_same_largest_norm() {
        let data = Generator::Blobs.generate(1300, Some(20), 3).expect("data");
        let centre: Vec<f64> = (0..data.samples.features()).map(|k| k as f64).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
        for centre in [&centre[..], &[]] {
            let one = max_norm_from(&data.samples, centre, Par::Seq, &RunControl::unlimited());
            let three = pool.install(|| max_norm_from(&data.samples, centre, Par::Pool, &RunControl::unlimited()));
            assert_eq!(one, three);
        }
    }
}
