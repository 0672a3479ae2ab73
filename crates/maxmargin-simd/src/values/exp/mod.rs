//! Gaussians of slices: `exp(−γ max(0, n + n_j − 2 dot_j))`, the last step of every block of an RBF
//! kernel.
//!
//! All dispatch levels perform the same correctly rounded operations in the same order, so they
//! return the same bits. The argument is reduced in base 2. `γ log₂e` is split into two numbers, so
//! that the product `γ d²` is not rounded. For the squared distance `d²` in the working precision,
//! the error is at most 1 unit in the last place of `exp(−γ d²)`. Results below 2⁻¹²⁵ (`f32`) or
//! 2⁻¹⁰²¹ (`f64`) become 0, because subnormal numbers would slow down every later pass.

use crate::dispatch::level::{Level, detect, level};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod vectors;

/// Coefficients of `(2^r − 1) / r` on |r| ≤ ½, Chebyshev fit, relative error 9e-9.
pub(crate) const C32: [f32; 6] = [0.693_147_2, 0.240_226_5, 0.055_503_57, 0.009_618_082, 0.001_339_097_9, 0.000_154_532_62];

/// The coefficients for `f64`, relative error 2e-17.
pub(crate) const C64: [f64; 11] = [
    0.693_147_180_559_945_3,
    0.240_226_506_959_100_97,
    0.055_504_108_664_821_6,
    0.009_618_129_107_606_715,
    0.001_333_355_814_641_684_2,
    0.000_154_035_304_420_270_6,
    1.525_273_382_999_124e-5,
    1.321_544_241_071_187_2e-6,
    1.017_806_235_138_810_3e-7,
    7.072_621_356_539_349e-9,
    4.454_979_471_176_061e-10,
];

/// Adding this number rounds to an integer and leaves the integer in the low bits.
pub(crate) const ROUND32: f32 = 12_582_912.0;

/// The number like [`ROUND32`] for `f64`.
pub(crate) const ROUND64: f64 = 6_755_399_441_055_744.0;

/// log₂ e, and the rounding error of its `f64` value.
const LOG2_E: [f64; 2] = [std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17];

/// Largest `γ log₂e` in `f32`. The quotient of the largest argument and this number is a normal
/// number.
const LARGEST32: f64 = 1e37;

/// Computes `norm + other − 2 dot`; intermediate results may wrap.
#[inline]
pub(crate) fn integer_distance(norm: i32, other: i32, dot: i32) -> i32 {
    norm.wrapping_add(other).wrapping_sub(dot.wrapping_mul(2))
}

/// `x ↦ exp(−γ x)` for squared distances `x ≥ 0`, prepared for slices.
#[derive(Clone, Copy, Debug)]
pub struct Gaussian {
    level: Level,
    /// `−γ log₂e` in two parts.
    pub(crate) hi32: f32,
    pub(crate) lo32: f32,
    /// The argument beyond which the result is 0.
    pub(crate) limit32: f32,
    pub(crate) hi64: f64,
    pub(crate) lo64: f64,
    pub(crate) limit64: f64,
    /// 1 is subtracted from results in `f32`.
    pub(crate) less_one: bool,
}

impl Gaussian {
    /// The function for `gamma > 0`, at the level in use.
    pub fn new(gamma: f64) -> Self {
        Self::at(gamma, level())
    }

    /// The function at `level`, or at the best lower level of the machine.
    pub fn at(gamma: f64, level: Level) -> Self {
        let gamma = gamma.min(1e300);
        let hi64 = -gamma * LOG2_E[0];
        let lo64 = (-gamma).mul_add(LOG2_E[0], -hi64) - gamma * LOG2_E[1];
        let within = hi64.max(-LARGEST32);
        let hi32 = within as f32;
        let lo32 = (within - f64::from(hi32)) as f32;
        let limit32 = 125.0 / -hi32;
        let limit64 = 1021.0 / -hi64;
        Self { level: level.min(detect()), hi32, lo32, limit32, hi64, lo64, limit64, less_one: false }
    }

    /// Subtracts 1 from every result in `f32`: `expm1(−γ x)` within 2 units in the last place.
    /// Small distances then keep their digits where `exp` is 1. Results in `f64` do not change.
    #[must_use]
    pub fn less_one(self) -> Self {
        Self { less_one: true, ..self }
    }

    /// Computes `exp(−γ max(0, squared))` in `f32`, minus 1 where that is selected.
    #[inline]
    pub fn one32(&self, squared: f32) -> f32 {
        let x = squared.max(0.0);
        let rounded = x.mul_add(self.hi32, ROUND32);
        let r = x.mul_add(self.lo32, x.mul_add(self.hi32, -(rounded - ROUND32)));
        let p = C32.iter().rev().copied().reduce(|p, c| p.mul_add(r, c)).unwrap_or(0.0);
        if self.less_one {
            let scale = f32::from_bits(1.0_f32.to_bits().wrapping_add(rounded.to_bits() << 23));
            return if x <= self.limit32 { (p * r).mul_add(scale, scale - 1.0) } else { -1.0 };
        }
        let p = p.mul_add(r, 1.0);
        let bits = p.to_bits().wrapping_add(rounded.to_bits() << 23);
        if x <= self.limit32 { f32::from_bits(bits) } else { 0.0 }
    }

    /// Computes `exp(−γ max(0, squared))` in `f64`.
    #[inline]
    pub fn one64(&self, squared: f64) -> f64 {
        let x = squared.max(0.0);
        let rounded = x.mul_add(self.hi64, ROUND64);
        let r = x.mul_add(self.lo64, x.mul_add(self.hi64, -(rounded - ROUND64)));
        // Even and odd powers form two chains of half the length.
        let r2 = r * r;
        let (mut even, mut odd) = (C64[10], C64[9]);
        for k in (0..4).rev() {
            even = even.mul_add(r2, C64[2 * k + 2]);
            odd = odd.mul_add(r2, C64[2 * k + 1]);
        }
        let p = odd.mul_add(r, even.mul_add(r2, C64[0])).mul_add(r, 1.0);
        let bits = p.to_bits().wrapping_add(rounded.to_bits() << 52);
        if x <= self.limit64 { f64::from_bits(bits) } else { 0.0 }
    }
}

/// Defines methods that fill slices. The plain expression is the definition; the levels have
/// functions of the same names.
macro_rules! fills {
    ($($(#[$doc:meta])* $name:ident / $rows:ident: $from:ty => $to:ty, |$g:ident, $norm:ident, $n:ident, $dot:ident| $plain:expr;)*) => {
        impl Gaussian {
            $($(#[$doc])*
            ///
            /// # Panics
            ///
            /// When the lengths differ.
            pub fn $name(&self, norm: $from, norms: &[$from], dots: &[$from], out: &mut [$to]) {
                let len = out.len();
                assert!(norms.len() == len && dots.len() == len, "lengths {} {} {len}", norms.len(), dots.len());
                match self.level {
                    // SAFETY: `Gaussian::at` keeps the level at or below what the machine has, and
                    // the lengths were compared above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { avx512::$name(self, norm, norms, dots, out) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { avx2::$name(self, norm, norms, dots, out) },
                    _ => {
                        let ($g, $norm) = (self, norm);
                        for ((out, &$n), &$dot) in out.iter_mut().zip(norms).zip(dots) {
                            *out = $plain;
                        }
                    }
                }
            }

            #[doc = concat!("[`Gaussian::", stringify!($name), "`] for each of several rows: row `r` has the norm `row_norms[r]`, and its dot products")]
            /// and results follow those of row `r − 1`.
            ///
            /// # Panics
            ///
            /// When the lengths differ.
            pub fn $rows(&self, row_norms: &[$from], norms: &[$from], dots: &[$from], out: &mut [$to]) {
                let (len, count) = (norms.len(), row_norms.len());
                assert!(count.checked_mul(len) == Some(dots.len()) && dots.len() == out.len(), "{count} rows of {len} values");
                match self.level {
                    // SAFETY: as above, with rows of equal length.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { avx512::$rows(self, row_norms, norms, dots, out) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { avx2::$rows(self, row_norms, norms, dots, out) },
                    _ => {
                        let rows = dots.chunks_exact(len.max(1)).zip(out.chunks_exact_mut(len.max(1)));
                        row_norms.iter().zip(rows).for_each(|(&norm, (dots, out))| self.$name(norm, norms, dots, out));
                    }
                }
            })*
        }
    };
}

fills! {
    /// Computes `out[j] = exp(−γ max(0, norm + norms[j] − 2 dots[j]))`, all in `f32`.
    fill32 / rows32: f32 => f32, |g, norm, n, dot| g.one32((-2.0f32).mul_add(dot, norm + n));

    /// [`Gaussian::fill32`] from `f64` norms and dot products: the distance is computed in `f64`,
    /// its exponential in `f32`.
    fill32_from64 / rows32_from64: f64 => f32, |g, norm, n, dot| g.one32((-2.0f64).mul_add(dot, norm + n) as f32);

    /// [`Gaussian::fill32`] with all numbers in `f64`.
    fill64 / rows64: f64 => f64, |g, norm, n, dot| g.one64((-2.0f64).mul_add(dot, norm + n));

    /// [`Gaussian::fill64`] from `f32` norms and dot products, with the distance in `f64`. It is
    /// meant for integer data, whose norms and dot products are exact in `f32` (the sum of two
    /// norms may not be).
    fill64_from32 / rows64_from32: f32 => f64, |g, norm, n, dot| g.one64((-2.0f64).mul_add(f64::from(dot), f64::from(norm) + f64::from(n)));

    /// Computes `out[j] = exp(−γ (norm + norms[j] − 2 dots[j]))` for integers. Intermediate results
    /// may wrap; the exact distance must lie in 0 … 2³¹ − 1.
    fill32_from_integers / rows32_from_integers: i32 => f32, |g, norm, n, dot| g.one32(integer_distance(norm, n, dot) as f32);

    /// [`Gaussian::fill32_from_integers`] in `f64`.
    fill64_from_integers / rows64_from_integers: i32 => f64, |g, norm, n, dot| g.one64(f64::from(integer_distance(norm, n, dot)));
}
