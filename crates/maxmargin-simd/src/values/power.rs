//! Polynomials of slices of dot products: `(γ dot + c)^d`, the last step of every block of a
//! polynomial kernel.
//!
//! Powers are products of squares in `f64`, in the same order for slices and single values, so both
//! have the same bits.

use crate::dispatch::each::at_level;

/// Values that are raised together: they fit in the first-level cache with their squares.
const TOGETHER: usize = 64;

/// A number type of dot products: `f32` or `f64`.
pub trait Dot: Copy + Into<f64> {}
impl Dot for f32 {}
impl Dot for f64 {}

/// A number type of values: `f32` or `f64`.
pub trait Value: Copy {
    /// The nearest number of this type.
    fn nearest(value: f64) -> Self;
}

impl Value for f32 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value as Self
    }
}

impl Value for f64 {
    #[inline(always)]
    fn nearest(value: f64) -> Self {
        value
    }
}

/// `x ↦ (γ x + c)^d − base` for dot products `x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// The factor γ.
    pub gamma: f64,
    /// The constant c.
    pub coef0: f64,
    /// The exponent d.
    pub degree: u32,
    /// The number that is subtracted.
    pub base: f64,
}

impl Power {
    /// The value of one dot product.
    pub fn of(&self, dot: f64) -> f64 {
        let mut value = [self.gamma * dot + self.coef0];
        raise(&mut value, self.degree);
        value[0] - self.base
    }

    /// Computes the values of `dots`.
    ///
    /// # Panics
    ///
    /// When the slices differ in length.
    pub fn fill<D: Dot, V: Value>(&self, dots: &[D], out: &mut [V]) {
        assert_eq!(dots.len(), out.len(), "one length");
        let power = *self;
        at_level!(plain [D: Dot, V: Value] [D, V] (power: Power, dots: &[D], out: &mut [V]) -> ());
    }
}

#[inline(always)]
fn plain<D: Dot, V: Value>(power: Power, dots: &[D], out: &mut [V]) {
    let mut values = [0.0; TOGETHER];
    for (dots, out) in dots.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
        let values = &mut values[..dots.len()];
        values.iter_mut().zip(dots).for_each(|(value, &dot)| *value = power.gamma * dot.into() + power.coef0);
        raise(values, power.degree);
        out.iter_mut().zip(&*values).for_each(|(out, value)| *out = V::nearest(value - power.base));
    }
}

/// Raises each value to a power: the product of the squares of squares that are the bits of the
/// exponent, the smallest first.
#[inline(always)]
fn raise(values: &mut [f64], degree: u32) {
    let mut squares = [0.0; TOGETHER];
    let squares = &mut squares[..values.len()];
    squares.copy_from_slice(values);
    let mut rest = degree;
    if rest & 1 == 0 {
        values.fill(1.0);
    }
    while rest > 1 {
        rest >>= 1;
        squares.iter_mut().for_each(|square| *square *= *square);
        if rest & 1 == 1 {
            values.iter_mut().zip(&*squares).for_each(|(value, square)| *value *= square);
        }
    }
}
