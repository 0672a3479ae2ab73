//! From dot products to kernel values: the last step of every block, run while the block is in
//! cache.
//!
//! Forms that leave a constant out in `f32` are worth as much as the distances or products that
//! they are given: those come in `f64`, or are exact.

use crate::Kernel;
use maxmargin_simd::exp::Gaussian;
use std::ops::Range;

/// Squared norms of so many times the mean squared distance leave it nearly all its digits in
/// `f32`: those of centred samples are half of it.
const NEAR_NORM: f64 = 8.0;

/// gamma of which `f32` holds all digits and the rest of them. Squared distances it must hold as
/// well.
const SINGLES: Range<f64> = 1e-30..1e30;

/// A kernel function over slices of dot products.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// The dot product itself.
    Linear,
    /// `exp(−γ d²)`.
    Rbf(Gaussian),
    /// Any function of dot product and squared norms, one value at a time.
    Other(Kernel),
    /// `exp(−γ d²)`, in `f32` less 1, and what it differs from 1 by on average.
    RbfLess(Gaussian, f64),
    /// Any function, in `f32` less a constant.
    OtherLess(Kernel, f64),
}

impl Entry {
    /// The slice form of `kernel`, for samples of squared norms up to `norm`.
    pub(crate) fn new(kernel: &Kernel, norm: f64) -> Self {
        match kernel {
            Kernel::Linear => Entry::Linear,
            Kernel::Rbf { gamma } if SINGLES.contains(gamma) && 4.0 * norm < f64::from(f32::MAX) => {
                Entry::Rbf(Gaussian::new(*gamma))
            }
            other => Entry::Other(other.clone()),
        }
    }

    /// The same function, in `f32` less `base`, which is 1 for one of distances; values differ from
    /// it by `spread` on average.
    #[must_use]
    pub(crate) fn less(&self, kernel: &Kernel, base: f64, spread: f64) -> Self {
        match self {
            Entry::Rbf(g) => Entry::RbfLess(g.less_one(), spread),
            _ => Entry::OtherLess(kernel.clone(), base),
        }
    }

    /// What values in `f32` are less than those in `f64`.
    pub(crate) fn base(&self) -> f64 {
        match self {
            Entry::Linear | Entry::Rbf(_) | Entry::Other(_) => 0.0,
            Entry::RbfLess(..) => 1.0,
            Entry::OtherLess(_, base) => *base,
        }
    }

    /// Whether dot products in `f32` are good enough that may be wrong by the rounding of squared
    /// norms up to `norm`, each of which the kernel multiplies by `gamma`: where a constant is left
    /// out, the rounding must be small beside what is left.
    pub(crate) fn takes_singles(&self, gamma: Option<f64>, norm: f64) -> bool {
        match self {
            Entry::Linear | Entry::Rbf(_) | Entry::Other(_) => true,
            Entry::RbfLess(_, spread) => gamma.is_some_and(|g| g * norm <= NEAR_NORM * spread),
            Entry::OtherLess(..) => false,
        }
    }

    /// `exp(−γ d²)`, where it is that.
    pub(crate) fn gaussian(&self) -> Option<&Gaussian> {
        match self {
            Entry::Rbf(g) | Entry::RbfLess(g, _) => Some(g),
            _ => None,
        }
    }

    /// `f32` values from `f32` dot products of one sample (squared norm `norm`) with others
    /// (`norms`).
    pub(crate) fn fill32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
        match self {
            Entry::Linear => out.copy_from_slice(dots),
            Entry::Rbf(g) | Entry::RbfLess(g, _) => g.fill32(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other)) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
            Entry::OtherLess(kernel, base) => {
                let value = |dot, other| (kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other)) - base) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f32` values from `f64` dot products.
    pub(crate) fn fill32_from64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f32]) {
        match self {
            Entry::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = dot as f32),
            Entry::Rbf(g) | Entry::RbfLess(g, _) => g.fill32_from64(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
            Entry::OtherLess(kernel, base) => {
                let value = |dot, other| (kernel.of_dot(dot, norm, other) - base) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f64` values from `f64` dot products.
    pub(crate) fn fill64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f64]) {
        match self {
            Entry::Linear => out.copy_from_slice(dots),
            Entry::Rbf(g) | Entry::RbfLess(g, _) => g.fill64(norm, norms, dots, out),
            Entry::Other(kernel) | Entry::OtherLess(kernel, _) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other);
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f64` values from `f32` dot products that are exact.
    pub(crate) fn fill64_from32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f64]) {
        match self {
            Entry::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = f64::from(dot)),
            Entry::Rbf(g) | Entry::RbfLess(g, _) => g.fill64_from32(norm, norms, dots, out),
            Entry::Other(kernel) | Entry::OtherLess(kernel, _) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other));
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }
}
