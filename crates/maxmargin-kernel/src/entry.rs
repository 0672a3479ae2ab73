//! From dot products to kernel values: the last step of every block, run while the block is in cache.
//!
//! Forms that leave a constant out in `f32` are worth as much as the distances or products that they are given: those come in `f64`, or are exact.

use crate::Kernel;
use maxmargin_simd::exp::Gaussian;

/// A kernel function over slices of dot products.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// The dot product itself.
    Linear,
    /// `exp(−γ d²)`.
    Rbf(Gaussian),
    /// Any function of dot product and squared norms, one value at a time.
    Other(Kernel),
    /// `exp(−γ d²)`, in `f32` less 1.
    RbfLess(Gaussian),
    /// Any function, in `f32` less a constant.
    OtherLess(Kernel, f64),
}

impl Entry {
    /// The slice form of `kernel`.
    pub(crate) fn new(kernel: &Kernel) -> Self {
        match kernel {
            Kernel::Linear => Entry::Linear,
            Kernel::Rbf { gamma } => Entry::Rbf(Gaussian::new(*gamma)),
            other => Entry::Other(other.clone()),
        }
    }

    /// The same function, in `f32` less `base`, which is 1 for one of distances.
    pub(crate) fn less(kernel: &Kernel, base: f64) -> Self {
        match kernel {
            Kernel::Rbf { gamma } => Entry::RbfLess(Gaussian::new(*gamma).less_one()),
            other => Entry::OtherLess(other.clone(), base),
        }
    }

    /// What values in `f32` are less than those in `f64`.
    pub(crate) fn base(&self) -> f64 {
        match self {
            Entry::Linear | Entry::Rbf(_) | Entry::Other(_) => 0.0,
            Entry::RbfLess(_) => 1.0,
            Entry::OtherLess(_, base) => *base,
        }
    }

    /// `exp(−γ d²)`, where it is that.
    pub(crate) fn gaussian(&self) -> Option<&Gaussian> {
        match self {
            Entry::Rbf(g) | Entry::RbfLess(g) => Some(g),
            _ => None,
        }
    }

    /// `f32` values from `f32` dot products of one sample (squared norm `norm`) with others (`norms`).
    pub(crate) fn fill32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
        match self {
            Entry::Linear => out.copy_from_slice(dots),
            Entry::Rbf(g) | Entry::RbfLess(g) => g.fill32(norm, norms, dots, out),
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
            Entry::Rbf(g) | Entry::RbfLess(g) => g.fill32_from64(norm, norms, dots, out),
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
            Entry::Rbf(g) | Entry::RbfLess(g) => g.fill64(norm, norms, dots, out),
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
            Entry::Rbf(g) | Entry::RbfLess(g) => g.fill64_from32(norm, norms, dots, out),
            Entry::Other(kernel) | Entry::OtherLess(kernel, _) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other));
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }
}
