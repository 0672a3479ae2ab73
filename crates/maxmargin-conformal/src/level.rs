//! The level of conformal predictions, and the ranks that it means.

use crate::error::ConformalError;
use serde::{Deserialize, Serialize};

/// The share α of predictions that may miss the truth, in (0, 1).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Level(f64);

impl Level {
    /// Returns the level α.
    ///
    /// # Errors
    ///
    /// When α is not above 0 and below 1.
    pub fn new(alpha: f64) -> Result<Self, ConformalError> {
        if alpha > 0.0 && alpha < 1.0 { Ok(Self(alpha)) } else { Err(ConformalError::Level(alpha)) }
    }

    /// The share α.
    pub fn alpha(self) -> f64 {
        self.0
    }

    /// Returns `⌊α (n + 1)⌋` for `n` scores: the rank of the lower bound of an interval, from 1.
    /// The rank of its upper bound is `⌈(1 − α)(n + 1)⌉`, which is `n + 1` less this number.
    ///
    /// Products that differ from a whole number by rounding only are this number: 0.29 of 100 is
    /// 29.
    pub fn rank(self, n: usize) -> usize {
        let product = self.0 * (n as f64 + 1.0);
        let whole = product.round();
        let is_whole = (product - whole).abs() <= 4.0 * f64::EPSILON * product;
        // α is below 1, if only by rounding.
        ((if is_whole { whole } else { product.floor() }) as usize).min(n)
    }
}

impl TryFrom<f64> for Level {
    type Error = ConformalError;

    fn try_from(alpha: f64) -> Result<Self, ConformalError> {
        Self::new(alpha)
    }
}

impl From<Level> for f64 {
    fn from(level: Level) -> Self {
        level.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_between_0_and_1() {
        for alpha in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(Level::new(alpha).is_err(), "{alpha}");
        }
        assert_eq!(Level::new(0.1).map(Level::alpha), Ok(0.1));
    }

    #[test]
    fn no_rank_is_above_the_number_of_scores() {
        for n in [0, 1, 60, 1_000_000] {
            assert_eq!(Level::new(1.0 - f64::EPSILON / 2.0).expect("a level").rank(n), n);
        }
    }

    #[test]
    fn ranks_are_those_of_decimal_levels() {
        for hundredths in 1..100_usize {
            let level = Level::new(hundredths as f64 / 100.0).expect("a level");
            for n in 0..3000 {
                assert_eq!(level.rank(n), hundredths * (n + 1) / 100, "{hundredths} {n}");
            }
        }
    }
}
