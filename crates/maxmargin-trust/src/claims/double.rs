//! Numbers of twice the precision of `f64`: unevaluated sums of two (Dekker 1971; Hida, Li and
//! Bailey 2001).

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// `high + low`, `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Double {
    high: f64,
    low: f64,
}

/// The natural logarithm of 2.
const LN_2: Double = Double { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

/// Halvings of the argument of the exponential, and terms of its series.
const HALVINGS: i32 = 9;
const TERMS: u32 = 12;

impl Double {
    /// Returns the exact sum of two numbers.
    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// Returns the nearest `f64`.
    pub(super) fn value(self) -> f64 {
        self.high
    }

    /// Returns the larger of two.
    pub(super) fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// Returns the smaller of two.
    pub(super) fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Returns `self` divided by an `f64`.
    fn over(self, by: f64) -> Self {
        let first = self.high / by;
        let rest = self - Self::from(first) * Self::from(by);
        Self::sum(first, rest.high / by)
    }

    /// Returns `1 / self`.
    pub(super) fn inverse(self) -> Self {
        let first = Self::from(1.0 / self.high);
        first + first * (Self::from(1.0) - first * self)
    }

    /// Returns a power.
    pub(super) fn power(self, exponent: u32) -> Self {
        (0..exponent).fold(Self::from(1.0), |product, _| product * self)
    }

    /// Returns the exponential.
    pub(super) fn exp(self) -> Self {
        if self.high < -700.0 {
            return Self::default();
        }
        let twos = (self.high / std::f64::consts::LN_2).round();
        let rest = (self - LN_2 * Self::from(twos)).over(2.0_f64.powi(HALVINGS));
        // exp(r) − 1 keeps its digits for small r.
        let mut less_one = Self::default();
        for term in (1..=TERMS).rev() {
            less_one = (rest + rest * less_one).over(f64::from(term));
        }
        for _ in 0..HALVINGS {
            less_one = less_one + less_one + less_one * less_one;
        }
        (less_one + Self::from(1.0)) * Self::from(2.0_f64.powi(twos as i32))
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (high, low) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let first = Self::sum(high.high, high.low + low.high);
        Self::sum(first.high, first.low + low.low)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let low = self.high.mul_add(other.high, -high) + (self.high * other.low + self.low * other.high);
        Self::sum(high, low)
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            unequal => unequal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Double;

    #[test]
    fn numbers_have_twice_the_digits() {
        let third = Double::from(3.0).inverse();
        assert!((third * Double::from(3.0) - Double::from(1.0)).value().abs() < 1e-31);
        let large = Double::from(1e16) + Double::from(1.0);
        assert_eq!((large * large - Double::from(1e16) * Double::from(1e16)).value(), 2e16);
        for x in [-600.0, -3.25, -1e-9, 0.0, 0.7, 30.0] {
            // exp(x) exp(−x) = 1 and exp(x) = exp(x/2)², to more digits than an f64 has.
            let (there, back, half) = (Double::from(x).exp(), Double::from(-x).exp(), Double::from(0.5 * x).exp());
            assert!((there * back - Double::from(1.0)).value().abs() < 1e-26, "{x}");
            assert!((half * half - there).value().abs() < 1e-26 * there.value(), "{x}");
            assert!((there.value() / x.exp() - 1.0).abs() < 1e-15, "{x}");
        }
    }
}
