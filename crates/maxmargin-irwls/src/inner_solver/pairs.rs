//! Pair steps inside a chunk: the least gain of every iteration, and the fallback.

use crate::working_set::chunk::Chunk;
use maxmargin_simd::sums::add_scaled;

/// The least curvature of a pair (LIBSVM's τ): kernels may be flat or indefinite along a pair.
const TAU: f64 = 1e-12;

/// The extremes of the optimality indicator over the samples that may rise and those that may fall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes {
    pub(crate) min_up: f64,
    pub(crate) max_low: f64,
    up: usize,
    down: usize,
}

impl Extremes {
    pub(crate) fn of(chunk: &Chunk) -> Self {
        let mut found = Self { min_up: f64::INFINITY, max_low: f64::NEG_INFINITY, up: usize::MAX, down: usize::MAX };
        for (k, &f) in chunk.f.iter().enumerate() {
            if chunk.beta[k] < chunk.high[k] && f < found.min_up {
                (found.min_up, found.up) = (f, k);
            }
            if chunk.beta[k] > chunk.low[k] && f > found.max_low {
                (found.max_low, found.down) = (f, k);
            }
        }
        found
    }

    /// Returns the KKT violation; negative infinity if no sample may move.
    pub(crate) fn violation(&self) -> f64 {
        self.max_low - self.min_up
    }
}

/// A step that moves `by` from one sample to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    up: usize,
    down: usize,
    by: f64,
    pub(crate) gain: f64,
}

/// Returns the best step on two samples.
fn step(chunk: &Chunk, up: usize, down: usize) -> Pair {
    let m = chunk.len();
    let k = |i: usize, j: usize| chunk.kernel[i * m + j];
    let a = (k(up, up) + k(down, down) - 2.0 * k(up, down)).max(TAU);
    let b = chunk.f[down] - chunk.f[up];
    let by = (b / a).min(chunk.high[up] - chunk.beta[up]).min(chunk.beta[down] - chunk.low[down]);
    Pair { up, down, by, gain: by * (b - 0.5 * by * a) }
}

/// Returns the step on the pair that violates most.
pub(crate) fn worst(chunk: &Chunk, extremes: &Extremes) -> Pair {
    step(chunk, extremes.up, extremes.down)
}

/// Returns the step of the sample with the smallest indicator with its best partner (second order;
/// Fan, Chen and Lin 2005).
pub(crate) fn best(chunk: &Chunk, extremes: &Extremes) -> Pair {
    let (m, f, up) = (chunk.len(), &chunk.f, extremes.up);
    let (row, own) = (chunk.row(up), chunk.kernel[up * m + up]);
    let mut found = (0.0, extremes.down);
    for k in 0..m {
        let b = f[k] - f[up];
        if b > 0.0 && chunk.beta[k] > chunk.low[k] {
            let gain = b * b / (own + chunk.kernel[k * m + k] - 2.0 * row[k]).max(TAU);
            if gain > found.0 {
                found = (gain, k);
            }
        }
    }
    step(chunk, up, found.1)
}

/// Makes the step; bounds are met exactly.
pub(crate) fn make(chunk: &mut Chunk, pair: &Pair) {
    let Pair { up, down, by, .. } = *pair;
    let to_high = by == chunk.high[up] - chunk.beta[up];
    let to_low = by == chunk.beta[down] - chunk.low[down];
    chunk.beta[up] = if to_high { chunk.high[up] } else { (chunk.beta[up] + by).min(chunk.high[up]) };
    chunk.beta[down] = if to_low { chunk.low[down] } else { (chunk.beta[down] - by).max(chunk.low[down]) };
    let m = chunk.len();
    add_scaled(&mut chunk.f, by, &chunk.kernel[up * m..(up + 1) * m]);
    add_scaled(&mut chunk.f, -by, &chunk.kernel[down * m..(down + 1) * m]);
}
