//! Losses and their derivatives at many margins, in chunks whose size does not depend on the
//! threads.

use maxmargin_core::{MarginLoss, balance_classes};
use maxmargin_data::Par;
use maxmargin_simd::exp::Gaussian;

/// Margins per task.
const CHUNK: usize = 4096;

/// Numbers per call of the vectorised exponential.
const BLOCK: usize = 256;

/// The rows of a problem that take part: their classes and costs.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    pub(crate) loss: MarginLoss,
    pub(crate) sign: Vec<f64>,
    pub(crate) cost: Vec<f64>,
}

impl Targets {
    /// Returns the dual variables `α_i = −C_i ℓ'(z_i + t q_i)`.
    pub(crate) fn alpha(&self, z: &[f64], q: &[f64], t: f64, alpha: &mut [f64], par: Par) {
        let gaussian = Gaussian::new(1.0);
        par.for_chunks(alpha, CHUNK, |chunk, alpha| {
            for (block, alpha) in alpha.chunks_mut(BLOCK).enumerate() {
                let from = chunk * CHUNK + block * BLOCK;
                let of = from..from + alpha.len();
                self.block(&gaussian, &z[of.clone()], &q[of.clone()], t, &self.cost[of], alpha);
            }
        });
    }

    fn block(&self, gaussian: &Gaussian, z: &[f64], q: &[f64], t: f64, cost: &[f64], alpha: &mut [f64]) {
        let mut at = [0.0; BLOCK];
        let at = &mut at[..alpha.len()];
        if t == 0.0 {
            at.copy_from_slice(z);
        } else {
            at.iter_mut().zip(z).zip(q).for_each(|((at, z), q)| *at = z + t * q);
        }
        if self.loss == MarginLoss::SquaredHinge {
            alpha.iter_mut().zip(&*at).zip(cost).for_each(|((a, z), c)| *a = 2.0 * c * (1.0 - z).max(0.0));
            return;
        }
        let (mut sizes, zeros) = ([0.0; BLOCK], [0.0; BLOCK]);
        let sizes = &mut sizes[..alpha.len()];
        sizes.iter_mut().zip(&*at).for_each(|(size, z)| *size = z.abs());
        gaussian.fill64(0.0, sizes, &zeros[..alpha.len()], alpha);
        for ((a, z), c) in alpha.iter_mut().zip(&*at).zip(cost) {
            let numerator = if *z >= 0.0 { *a } else { 1.0 };
            *a = c * numerator / (1.0 + *a);
        }
    }

    /// Returns `C_i ℓ''` from the dual variables of the same margins. A misclassified row of
    /// logistic regression has at least the share `least` of its α.
    pub(crate) fn curvature(&self, alpha: &[f64], least: f64) -> Vec<f64> {
        let of = |(a, c): (&f64, &f64)| match self.loss {
            MarginLoss::Logistic if *c > 0.0 => a * (1.0 - a / c).max(least),
            MarginLoss::SquaredHinge if *a > 0.0 => 2.0 * c,
            _ => 0.0,
        };
        alpha.iter().zip(&self.cost).map(of).collect()
    }

    /// Returns `Σ C_i ℓ(z_i)`.
    pub(crate) fn losses(&self, z: &[f64], par: Par) -> f64 {
        let part = |chunk: usize| -> f64 {
            let of = chunk * CHUNK..z.len().min((chunk + 1) * CHUNK);
            z[of.clone()].iter().zip(&self.cost[of]).map(|(z, c)| if *c > 0.0 { c * self.loss.at(*z).value } else { 0.0 }).sum()
        };
        par.map(z.len().div_ceil(CHUNK), part).into_iter().sum()
    }

    /// Returns the dual variables of a problem with a free bias whose classes have the same sum, as
    /// the certificate makes them, and the part that one class lost.
    pub(crate) fn balanced(&self, alpha: &[f64]) -> (Vec<f64>, f64) {
        let mut balanced = alpha.to_vec();
        let lost = balance_classes(&mut balanced, &self.sign, |_| 1.0);
        (balanced, lost)
    }

    /// Returns `y_i α_i`.
    pub(crate) fn signed(&self, alpha: &[f64]) -> Vec<f64> {
        alpha.iter().zip(&self.sign).map(|(a, y)| a * y).collect()
    }

    /// Returns `Σ C_i g(scale α_i / C_i)`: the dual objective of the losses.
    pub(crate) fn conjugates(&self, alpha: &[f64], scale: f64, par: Par) -> f64 {
        let part = |chunk: usize| -> f64 {
            let of = chunk * CHUNK..alpha.len().min((chunk + 1) * CHUNK);
            let one = |(a, c): (&f64, &f64)| if *c > 0.0 { c * self.loss.conjugate(scale * (a / c)) } else { 0.0 };
            alpha[of.clone()].iter().zip(&self.cost[of]).map(one).sum()
        };
        par.map(alpha.len().div_ceil(CHUNK), part).into_iter().sum()
    }
}

/// Returns `aᵀb` in partial sums that do not depend on the threads.
pub(crate) fn inner(a: &[f64], b: &[f64], par: Par) -> f64 {
    let part = |chunk: usize| {
        let of = chunk * CHUNK..a.len().min((chunk + 1) * CHUNK);
        maxmargin_simd::sums::dot(&a[of.clone()], &b[of])
    };
    par.map(a.len().div_ceil(CHUNK), part).into_iter().sum()
}
