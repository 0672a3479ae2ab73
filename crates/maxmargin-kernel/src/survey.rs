//! What the values of a sample matrix are like: the numbers that decide how dot products are computed.

use maxmargin_data::{Samples, Storage};

/// One look at all values.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    /// Every value is an integer.
    pub(crate) integer: bool,
    /// Smallest value, at most 0.
    pub(crate) low: f64,
    /// Largest value, at least 0.
    pub(crate) high: f64,
    /// Every value is an integer and every dot product stays below 2²⁴: `f32` arithmetic makes no error.
    pub(crate) exact: bool,
    /// Every value is exactly an `f32`.
    pub(crate) single: bool,
    /// Largest `‖x‖²`.
    pub(crate) max_norm: f64,
    /// Mean of every feature.
    pub(crate) means: Vec<f64>,
    /// Σ over features of the squared number of non-zeros: the additions that a scatter of all rows makes.
    pub(crate) scatter: f64,
}

/// Looks at all values of `samples`.
pub(crate) fn survey(samples: &Samples) -> Survey {
    let mut means = vec![0.0; samples.features()];
    let mut counts = vec![0u32; samples.features()];
    let (mut integer, mut single, mut max_norm) = (true, true, 0.0f64);
    let (mut low, mut high) = (0.0f64, 0.0f64);
    for i in 0..samples.len() {
        let mut norm = 0.0;
        samples.row(i).for_each(|k, v| {
            means[k] += v;
            counts[k] += 1;
            norm += v * v;
            low = low.min(v);
            high = high.max(v);
            integer &= v.fract() == 0.0;
            single &= f64::from(v as f32) == v;
        });
        max_norm = max_norm.max(norm);
    }
    let n = samples.len().max(1) as f64;
    means.iter_mut().for_each(|m| *m /= n);
    let scatter = counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
    Survey { integer, low, high, exact: integer && max_norm < 16_777_216.0, single, max_norm, means, scatter }
}

/// Largest `‖x − centre‖²`; an empty centre is the origin.
pub(crate) fn max_norm_from(samples: &Samples, centre: &[f64]) -> f64 {
    let base: f64 = centre.iter().map(|c| c * c).sum();
    let norm = |i: usize| {
        let mut norm = base;
        samples.row(i).for_each(|k, v| norm += v * v - 2.0 * v * centre.get(k).copied().unwrap_or(0.0));
        norm
    };
    (0..samples.len()).map(norm).fold(0.0, f64::max)
}

impl Survey {
    /// Whether the samples are better held dense (bytes within `limit`) than as inverted lists, when a dense sample takes `width`
    /// bytes a feature and the processor makes `products` multiplications a nanosecond.
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
