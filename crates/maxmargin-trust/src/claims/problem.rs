//! Random small problems of two classes with numbers at the limits of precision.

use crate::draws::Draws;
use maxmargin::prelude::Kernel;

/// One problem: its rows, labels, kernel and C.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The rows.
    pub rows: Vec<Vec<f64>>,
    /// The labels, −1 and 1; both occur.
    pub labels: Vec<f64>,
    /// The kernel.
    pub kernel: Kernel,
    /// C.
    pub c: f64,
    /// The requested tolerance.
    pub eps: f64,
    /// True to solve over features, without a kernel matrix.
    pub linear: bool,
}

/// Offsets that cancel: none, tens to ten thousands, time stamps, 31 bits, 53 bits.
const OFFSETS: [f64; 8] = [0.0, 0.0, 30.0, 1e3, 1e4, 1.7e9, 2_147_483_647.0, 9_007_199_254_740_992.0];

impl Problem {
    /// Returns problem `number` of a seed.
    pub fn draw(seed: u64, number: u64) -> Self {
        let r = &mut Draws::new(seed, number);
        let (n, d) = (4 + r.below(20), 1 + r.below(3));
        let bias_term = r.pick(&OFFSETS);
        // Integers, or values of any size.
        let scale = if bias_term > 0.0 || r.once_in(3) { 1.0 } else { 10.0_f64.powi(r.below(301) as i32 - 150) };
        let whole = bias_term > 0.0 || r.once_in(3);
        let groups = r.once_in(2);
        let value = |r: &mut Draws| {
            let own = if whole { r.below(7) as f64 - 3.0 } else { 4.0 * r.unit() };
            let apart = if groups && r.once_in(2) { 0.0 } else { bias_term };
            apart + scale * own
        };
        let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| value(r)).collect()).collect();
        if r.once_in(4) {
            // Equal rows with different labels.
            let different = 1 + n / 4;
            rows = (0..n).map(|i| rows[i % different].clone()).collect();
        }
        let mut labels: Vec<f64> = (0..n).map(|_| r.pick(&[-1.0, 1.0])).collect();
        (labels[0], labels[1]) = (-1.0, 1.0);
        // A width that fits the data, or any.
        let size = rows.iter().flatten().fold(1e-300_f64, |most, v| most.max(v.abs()));
        let gamma = match r.below(3) {
            0 => r.pick(&[0.05, 0.5, 2.0]) / scale.max(1e-150).powi(2).clamp(1e-280, 1e280),
            1 => r.pick(&[0.1, 1.0, 10.0]) / size.powi(2).clamp(1e-280, 1e280),
            _ => 10.0_f64.powi(r.below(9) as i32 - 4),
        };
        let kernel = match r.below(8) {
            0..=2 => Kernel::Linear,
            3..=5 => Kernel::rbf(gamma),
            6 => Kernel::poly(gamma, r.pick(&[0.0, 1.0, -1.0]), 1 + r.below(3) as u32),
            _ => Kernel::sigmoid(gamma, r.pick(&[0.0, 1.0, -1.0])),
        };
        let c = 10.0_f64.powi(r.below(21) as i32 - 10);
        let eps = r.pick(&[1e-3, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11]);
        let linear = kernel == Kernel::Linear && r.once_in(2);
        Self { rows, labels, kernel, c, eps, linear }
    }
}
