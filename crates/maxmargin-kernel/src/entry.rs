//! From dot products to kernel values: the last step of every block, run while the block is in cache.

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

    /// `f32` values from `f32` dot products of one sample (squared norm `norm`) with others (`norms`).
    pub(crate) fn fill32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
        match self {
            Entry::Linear => out.copy_from_slice(dots),
            Entry::Rbf(g) => g.fill32(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other)) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f32` values from `f64` dot products.
    pub(crate) fn fill32_from64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f32]) {
        match self {
            Entry::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = dot as f32),
            Entry::Rbf(g) => g.fill32_from64(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f64` values from `f64` dot products.
    pub(crate) fn fill64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f64]) {
        match self {
            Entry::Linear => out.copy_from_slice(dots),
            Entry::Rbf(g) => g.fill64(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other);
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// `f64` values from `f32` dot products that are exact.
    pub(crate) fn fill64_from32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f64]) {
        match self {
            Entry::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = f64::from(dot)),
            Entry::Rbf(g) => g.fill64_from32(norm, norms, dots, out),
            Entry::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other));
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }
}
