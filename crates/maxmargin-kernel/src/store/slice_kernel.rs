//! Kernel values from slices of dot products: the last step of every block, while it is in the
//! cache.
//!
//! Variants that subtract a constant in `f32` are as accurate as their dot products or distances.
//! These are computed in `f64`, or are exact.

use crate::Kernel;
use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::power::Power;
use std::ops::Range;

/// Largest ratio of squared norms to the mean squared distance at which `f32` distances keep nearly
/// all digits. For centred samples the mean ratio is one half.
const NEAR_NORM: f64 = 8.0;

/// Range of gamma that two `f32` numbers (rounded value and remainder) represent with all digits.
/// Squared distances must fit in `f32` as well.
const SINGLES: Range<f64> = 1e-30..1e30;

/// A kernel function that is applied to slices of dot products.
#[derive(Clone, Debug)]
pub(crate) enum SliceKernel {
    /// `xᵀz`.
    Linear,
    /// `exp(−γ d²)`.
    Rbf(Gaussian),
    /// `(γ xᵀz + c)^d`, minus a constant in `f32`.
    Power(Power),
    /// Any function of the dot product and the squared norms, evaluated one value at a time.
    Other(Kernel),
    /// `exp(−γ d²)`, minus 1 in `f32`, and the mean difference of its values from 1.
    RbfMinusOne(Gaussian, f64),
    /// Any function, minus a constant in `f32`.
    OtherMinus(Kernel, f64),
}

impl SliceKernel {
    /// The slice form of `kernel` for samples with squared norms up to `norm`.
    pub(crate) fn new(kernel: &Kernel, norm: f64) -> Self {
        match kernel {
            Kernel::Linear => SliceKernel::Linear,
            Kernel::Rbf { gamma } if SINGLES.contains(gamma) && 4.0 * norm < f64::from(f32::MAX) => {
                SliceKernel::Rbf(Gaussian::new(*gamma))
            }
            Kernel::Poly { gamma, coef0, degree } => {
                SliceKernel::Power(Power { gamma: *gamma, coef0: *coef0, degree: *degree, base: 0.0 })
            }
            other => SliceKernel::Other(other.clone()),
        }
    }

    /// The same function, minus `base` in `f32`. The base is 1 for a kernel of distances; values
    /// differ from it by `spread` on average.
    #[must_use]
    pub(crate) fn minus_base(&self, kernel: &Kernel, base: f64, spread: f64) -> Self {
        match self {
            SliceKernel::Rbf(g) => SliceKernel::RbfMinusOne(g.less_one(), spread),
            SliceKernel::Power(power) => SliceKernel::Power(Power { base, ..*power }),
            _ => SliceKernel::OtherMinus(kernel.clone(), base),
        }
    }

    /// The constant that is subtracted from values in `f32`.
    pub(crate) fn base(&self) -> f64 {
        match self {
            SliceKernel::Linear | SliceKernel::Rbf(_) | SliceKernel::Other(_) => 0.0,
            SliceKernel::RbfMinusOne(..) => 1.0,
            SliceKernel::Power(power) => power.base,
            SliceKernel::OtherMinus(_, base) => *base,
        }
    }

    /// Returns whether dot products in `f32` are accurate enough. Their error is the rounding of
    /// squared norms up to `norm`, which the kernel multiplies by `gamma`. Where a constant is
    /// subtracted, this error must be small compared with the remaining values.
    pub(crate) fn accepts_f32_dots(&self, gamma: Option<f64>, norm: f64) -> bool {
        match self {
            SliceKernel::Linear | SliceKernel::Rbf(_) | SliceKernel::Other(_) => true,
            SliceKernel::Power(power) => power.base == 0.0,
            SliceKernel::RbfMinusOne(_, spread) => gamma.is_some_and(|g| g * norm <= NEAR_NORM * spread),
            SliceKernel::OtherMinus(..) => false,
        }
    }

    /// The Gaussian function, if the kernel is `exp(−γ d²)`.
    pub(crate) fn gaussian(&self) -> Option<&Gaussian> {
        match self {
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => Some(g),
            _ => None,
        }
    }

    /// Computes `f32` values from `f32` dot products of one sample (squared norm `norm`) with
    /// others (squared norms `norms`).
    pub(crate) fn fill32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f32]) {
        match self {
            SliceKernel::Linear => out.copy_from_slice(dots),
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => g.fill32(norm, norms, dots, out),
            SliceKernel::Power(power) => power.fill(dots, out),
            SliceKernel::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other)) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
            SliceKernel::OtherMinus(kernel, base) => {
                let value = |dot, other| (kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other)) - base) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// Computes `f32` values from `f64` dot products.
    pub(crate) fn fill32_from64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f32]) {
        match self {
            SliceKernel::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = dot as f32),
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => g.fill32_from64(norm, norms, dots, out),
            SliceKernel::Power(power) => power.fill(dots, out),
            SliceKernel::Other(kernel) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
            SliceKernel::OtherMinus(kernel, base) => {
                let value = |dot, other| (kernel.of_dot(dot, norm, other) - base) as f32;
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// Computes `f64` values from `f64` dot products.
    pub(crate) fn fill64(&self, norm: f64, norms: &[f64], dots: &[f64], out: &mut [f64]) {
        match self {
            SliceKernel::Linear => out.copy_from_slice(dots),
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => g.fill64(norm, norms, dots, out),
            SliceKernel::Power(power) => Power { base: 0.0, ..*power }.fill(dots, out),
            SliceKernel::Other(kernel) | SliceKernel::OtherMinus(kernel, _) => {
                let value = |dot, other| kernel.of_dot(dot, norm, other);
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }

    /// [`SliceKernel::fill64`] for several rows: row `r` has the norm `row_norms[r]`, and its dot
    /// products and values follow those of row `r − 1`.
    pub(crate) fn fill_rows64(&self, row_norms: &[f64], norms: &[f64], dots: &[f64], out: &mut [f64]) {
        match self {
            // A single column is one row of the transpose, whose values have the same bits.
            _ if norms.len() == 1 => self.fill64(norms[0], row_norms, dots, out),
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => g.rows64(row_norms, norms, dots, out),
            SliceKernel::Linear | SliceKernel::Power(_) | SliceKernel::Other(_) | SliceKernel::OtherMinus(..) => {
                let rows = dots.chunks_exact(norms.len()).zip(out.chunks_exact_mut(norms.len()));
                row_norms.iter().zip(rows).for_each(|(&norm, (dots, out))| self.fill64(norm, norms, dots, out));
            }
        }
    }

    /// Computes `f64` values from exact `f32` dot products.
    pub(crate) fn fill64_from32(&self, norm: f32, norms: &[f32], dots: &[f32], out: &mut [f64]) {
        match self {
            SliceKernel::Linear => out.iter_mut().zip(dots).for_each(|(o, &dot)| *o = f64::from(dot)),
            SliceKernel::Rbf(g) | SliceKernel::RbfMinusOne(g, _) => g.fill64_from32(norm, norms, dots, out),
            SliceKernel::Power(power) => Power { base: 0.0, ..*power }.fill(dots, out),
            SliceKernel::Other(kernel) | SliceKernel::OtherMinus(kernel, _) => {
                let value = |dot, other| kernel.of_dot(f64::from(dot), f64::from(norm), f64::from(other));
                out.iter_mut().zip(dots.iter().zip(norms)).for_each(|(o, (&dot, &other))| *o = value(dot, other));
            }
        }
    }
}
