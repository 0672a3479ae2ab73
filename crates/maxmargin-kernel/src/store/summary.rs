//! A summary of the values of a sample matrix, which determines how dot products are computed.

use maxmargin_data::{Cancelled, RunControl, Samples, Storage};

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

/// Computes the summary in one pass over `samples`, and a second one for the unit.
pub(crate) fn summarize(samples: &Samples, control: &RunControl) -> Result<DataSummary, Cancelled> {
    let mut means = vec![0.0; samples.features()];
    let mut counts = vec![0u32; samples.features()];
    let (mut integer, mut single, mut max_norm) = (true, true, 0.0f64);
    let (mut low, mut high) = (0.0f64, 0.0f64);
    samples.each_row(control, |_, row| {
        let mut norm = 0.0;
        row.for_each(|k, v| {
            means[k] += v;
            counts[k] += u32::from(v != 0.0);
            norm += v * v;
            low = low.min(v);
            high = high.max(v);
            integer = integer && v.fract() == 0.0;
            single &= f64::from(v as f32) == v;
        });
        max_norm = max_norm.max(norm);
    })?;
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
pub(crate) fn max_norm_from(samples: &Samples, centre: &[f64], control: &RunControl) -> Result<f64, Cancelled> {
    let mut most = 0.0_f64;
    let mut own = vec![0.0; centre.len()];
    samples.each_row(control, |_, row| {
        let mut norm = 0.0;
        if centre.is_empty() {
            row.for_each(|_, v| norm += v * v);
        } else {
            // Norms of centred samples are not computed from the norms of the samples: the
            // difference would cancel if the centre is far from the origin.
            own.fill(0.0);
            row.for_each(|k, v| own[k] = v);
            norm = own.iter().zip(centre).map(|(v, c)| (v - c) * (v - c)).sum();
        }
        most = most.max(norm);
    })?;
    Ok(most)
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
