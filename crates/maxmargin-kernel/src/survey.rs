//! What the values of a sample matrix are like: the numbers that decide how dot products are
//! computed.

use maxmargin_data::{Asking, Halted, Samples, Storage};

/// One look at all values.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    /// What every value is an integral multiple of, to rounding, with few multiples: 1 where they
    /// are integers that span less than 256.
    pub(crate) unit: Option<f64>,
    /// Values that differ, by rounding alone, are one multiple of the unit.
    pub(crate) joins: bool,
    /// Smallest value in units, at most 0.
    pub(crate) low: f64,
    /// Largest value in units, at least 0.
    pub(crate) high: f64,
    /// Every value is an integer and every dot product stays below 2²⁴: `f32` arithmetic makes no
    /// error.
    pub(crate) exact: bool,
    /// Every value is exactly an `f32`.
    pub(crate) single: bool,
    /// Largest `‖x‖²`.
    pub(crate) max_norm: f64,
    /// Share of values that are not 0.
    pub(crate) density: f64,
    /// Mean of every feature.
    pub(crate) means: Vec<f64>,
    /// Σ over features of the squared number of non-zeros: the additions that a scatter of all rows
    /// makes.
    pub(crate) scatter: f64,
}

/// Looks at all values of `samples`.
pub(crate) fn survey(samples: &Samples, asking: &Asking) -> Result<Survey, Halted> {
    let mut means = vec![0.0; samples.features()];
    let mut counts = vec![0u32; samples.features()];
    let (mut integer, mut single, mut max_norm) = (true, true, 0.0f64);
    let (mut low, mut high) = (0.0f64, 0.0f64);
    samples.each_row(asking, |_, row| {
        let mut norm = 0.0;
        row.for_each(|k, v| {
            means[k] += v;
            counts[k] += u32::from(v != 0.0);
            norm += v * v;
            low = low.min(v);
            high = high.max(v);
            integer &= v.fract() == 0.0;
            single &= f64::from(v as f32) == v;
        });
        max_norm = max_norm.max(norm);
    })?;
    let n = samples.len().max(1) as f64;
    means.iter_mut().for_each(|m| *m /= n);
    let density = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / (n * samples.features().max(1) as f64);
    let scatter = counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
    // Integers of a byte need no other unit than 1.
    let (unit, joins) = if integer && high - low < 256.0 { (Some(1.0), false) } else { unit_of(samples) };
    let exact = integer && max_norm < 16_777_216.0;
    let mut survey = Survey { unit, joins, low: 0.0, high: 0.0, exact, single, max_norm, density, means, scatter };
    (survey.low, survey.high) = (survey.multiple(low), survey.multiple(high));
    Ok(survey)
}

/// Magnitudes that multiples in a byte may have.
const MAGNITUDES: usize = 255;

/// Half units in the last place of a value that may lie between it and a multiple: those of the
/// value, of the largest one, and of what they were divided or multiplied by.
const ROUNDINGS: f64 = 8.0;

/// Magnitudes of values, as long as they are few: a table with open addresses.
struct Magnitudes {
    places: [u64; 1024],
    count: usize,
}

impl Magnitudes {
    /// Takes one that is not 0.
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

/// The largest number that all values are multiples of, to rounding, with a largest multiple that a
/// byte holds: pixels divided by 255, shares of a small whole. And whether values that differ are
/// one multiple.
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
    // Its square is a factor of gamma.
    let fits = |unit: &f64| (1e-30..1e30).contains(unit);
    let divides = |unit: &f64| {
        let near = |v: &f64| (v / unit - (v / unit).round()).abs() <= ROUNDINGS * 0.5 * f64::EPSILON * (v / unit);
        magnitudes.iter().all(near)
    };
    let joins = |unit: f64| {
        let mut multiples: Vec<u64> = magnitudes.iter().map(|v| (v / unit).round() as u64).collect();
        multiples.sort_unstable();
        multiples.windows(2).any(|pair| pair[0] == pair[1])
    };
    let unit = (seen.count..=MAGNITUDES).map(|multiple| largest / multiple as f64).filter(fits).find(divides);
    (unit, unit.is_some_and(joins))
}

/// Largest `‖x − centre‖²`; an empty centre is the origin.
pub(crate) fn max_norm_from(samples: &Samples, centre: &[f64], asking: &Asking) -> Result<f64, Halted> {
    let mut most = 0.0_f64;
    let mut own = vec![0.0; centre.len()];
    samples.each_row(asking, |_, row| {
        let mut norm = 0.0;
        if centre.is_empty() {
            row.for_each(|_, v| norm += v * v);
        } else {
            // Norms of centred samples from those of the others would cancel where the centre is
            // far away.
            own.fill(0.0);
            row.for_each(|k, v| own[k] = v);
            norm = own.iter().zip(centre).map(|(v, c)| (v - c) * (v - c)).sum();
        }
        most = most.max(norm);
    })?;
    Ok(most)
}

impl Survey {
    /// A value in units.
    pub(crate) fn multiple(&self, value: f64) -> f64 {
        self.unit.map_or(value, |unit| (value / unit).round())
    }

    /// Whether the samples are better held dense (bytes within `limit`) than as inverted lists,
    /// when a dense sample takes `width` bytes a feature and the processor makes `products`
    /// multiplications a nanosecond.
    pub(crate) fn prefers_dense(&self, samples: &Samples, limit: usize, width: usize, products: f64) -> bool {
        if !matches!(samples.storage(), Storage::Sparse(_)) {
            return true;
        }
        let bytes = samples.len().saturating_mul(samples.features()).saturating_mul(width);
        // Nanoseconds per entry, against two for a scattered addition, one for each common feature.
        let multiply = samples.features() as f64 / products;
        let scatter = 2.0 * self.scatter / (samples.len() as f64).powi(2).max(1.0);
        bytes <= limit && multiply <= scatter.max(2.0)
    }
}
