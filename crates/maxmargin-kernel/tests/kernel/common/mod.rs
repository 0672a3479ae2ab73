//! Sample matrices of every kind that the stores distinguish.
#![allow(dead_code, reason = "every test file uses a part")]

use maxmargin_data::Samples;
use maxmargin_kernel::{Gram, Kernel};

/// A stream of numbers in 0…1 from a seed.
pub(crate) fn stream(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The kinds of data, each for another store or code path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Small integers: `f32` products are exact.
    Integers,
    /// Zeros and ones.
    Bits,
    /// Bytes, as of an image.
    Image,
    /// Integers of both signs, up to a thousand: too wide for bytes.
    Wide,
    /// Scaled reals in f64.
    Scaled,
    /// Reals that are exact in f32, near the origin.
    Single,
    /// Far from the origin and wide: `f64` multiplication.
    Unscaled,
    /// Very sparse.
    Sparse,
}

pub(crate) const KINDS: [Kind; 8] =
    [Kind::Integers, Kind::Bits, Kind::Image, Kind::Wide, Kind::Scaled, Kind::Single, Kind::Unscaled, Kind::Sparse];

/// `n` samples of `d` features.
pub(crate) fn samples(kind: Kind, n: usize, d: usize, seed: u64) -> Samples {
    let mut next = stream(seed);
    if kind == Kind::Sparse {
        let features = d * 400;
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..n {
            let mut row: Vec<u32> = (0..9).map(|_| (next().powi(3) * features as f64) as u32).collect();
            row.sort_unstable();
            row.dedup();
            values.extend(row.iter().map(|_| next() - 0.3));
            indices.extend(row);
            offsets.push(indices.len());
        }
        return Samples::from_sparse(features, offsets, indices, values).expect("valid rows");
    }
    let value = |u: f64| match kind {
        Kind::Integers => (u * 5.0).floor() - 1.0,
        Kind::Bits => (u * 2.0).floor(),
        Kind::Image => (u * 256.0).floor(),
        Kind::Wide => (u * 200.0).floor() * 2.0 - 150.0,
        Kind::Scaled => u * 2.0 - 1.0,
        Kind::Single => f64::from((u - 0.5) as f32) / (d as f64).sqrt(),
        _ => 1e4 + 3e3 * u,
    };
    Samples::from_dense(n, d, (0..n * d).map(|_| value(next())).collect()).expect("finite values")
}

/// A kernel value by its definition, summed in the order of the features.
pub(crate) fn direct(kernel: &maxmargin_kernel::Kernel, x: &[(usize, f64)], z: &[(usize, f64)]) -> f64 {
    use std::collections::BTreeMap;
    let mut both: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    x.iter().for_each(|&(k, v)| both.entry(k).or_default().0 = v);
    z.iter().for_each(|&(k, v)| both.entry(k).or_default().1 = v);
    let dot: f64 = both.values().map(|(a, b)| a * b).sum();
    let squared: f64 = both.values().map(|(a, b)| (a - b) * (a - b)).sum();
    match kernel {
        maxmargin_kernel::Kernel::Rbf { gamma } => (-gamma * squared).exp(),
        other => other.of_dot(dot, 0.0, 0.0),
    }
}

/// All values, in f32 and in f64.
pub(crate) fn full(gram: &dyn Gram) -> (Vec<f32>, Vec<f64>) {
    let n = gram.len();
    let all: Vec<usize> = (0..n).collect();
    let (mut fast, mut exact) = (vec![0.0; n * n], vec![0.0; n * n]);
    gram.fill(&all, 0..n, &mut fast);
    fast.iter_mut().for_each(|k| *k = (f64::from(*k) + gram.base()) as f32);
    gram.fill_exact(&all, 0..n, &mut exact);
    (fast, exact)
}

/// A kernel of each kind, with a gamma that suits the data.
pub(crate) fn kernels(kind: Kind, d: usize) -> [Kernel; 4] {
    let gamma = match kind {
        Kind::Integers => 0.3 / d as f64,
        Kind::Image | Kind::Wide => 1e-4 / d as f64,
        Kind::Unscaled => 2e-7 / d as f64,
        _ => 1.0 / d as f64,
    };
    [
        Kernel::Linear,
        Kernel::Rbf { gamma },
        Kernel::Poly { gamma, coef0: 1.0, degree: 3 },
        Kernel::Sigmoid { gamma: gamma * 0.1, coef0: -0.2 },
    ]
}
