//! Scores of class probabilities whose sets adapt to the difficulty of a row.

use serde::{Deserialize, Serialize};

/// The penalty of RAPS for classes of a low rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    /// The penalty λ for each rank beyond `free`.
    pub weight: f64,
    /// The number of most probable classes without a penalty.
    pub free: usize,
}

impl Penalty {
    /// No penalty, which makes RAPS the same as APS.
    pub const NONE: Self = Self { weight: 0.0, free: 0 };

    /// The penalty of `raps` without numbers: a second class costs as much as a tenth of all
    /// probability.
    pub const USUAL: Self = Self { weight: 0.1, free: 1 };

    /// Returns true if the weight is a number of at least 0.
    pub fn is_valid(self) -> bool {
        self.weight.is_finite() && self.weight >= 0.0
    }
}

/// The score APS of a class (Romano, Sesia, Candès 2020, equation 8): the sum of the probabilities
/// of the classes before it, and a share of its own. RAPS (Angelopoulos et al. 2021, equation 4)
/// adds a penalty for the rank of the class.
///
/// With a share that is uniform in [0, 1], the score of the true class is uniform too if the
/// probabilities are right. With the share 1 no score depends on chance, and sets are larger than
/// needed: the last of the classes always has the score 1.
///
/// # Panics
///
/// When there is no such class.
pub fn adaptive_score(probabilities: &[f64], class: usize, penalty: Penalty, share: f64) -> f64 {
    let own = probabilities[class];
    // The earlier of equal classes come first, so that each has a rank of its own.
    let is_before = |at: usize| probabilities[at] > own || (probabilities[at] == own && at < class);
    let before = (0..probabilities.len()).filter(|at| is_before(*at));
    let (rank, sum) = before.fold((1_usize, 0.0), |(rank, sum), at| (rank + 1, sum + probabilities[at]));
    sum + share * own + penalty.weight * rank.saturating_sub(penalty.free) as f64
}

/// Returns the share for [`adaptive_score`] in [0, 1) of a row, given by its columns and values: a
/// hash of these and of a seed. Zeros do not count.
///
/// A row thus has the same set in every file and at every call. The score is a fixed function of a
/// row and its class, which is all that the promise of conformal prediction needs.
pub fn share_of_row(seed: u64, row: impl IntoIterator<Item = (usize, f64)>) -> f64 {
    // One step of SplitMix64 (Steele, Lea, Flood 2014).
    let mix = |state: u64, word: u64| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let values = row.into_iter().filter(|(_, value)| *value != 0.0);
    // Every missing value is the same, whatever its bits.
    let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    let hash = values.fold(mix(0, seed), |hash, (column, value)| mix(mix(hash, column as u64), bits(value)));
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_classes_up_to_a_class() {
        let p = [0.25, 0.5, 0.125, 0.125];
        let scores = |penalty, share| [0, 1, 2, 3].map(|class| adaptive_score(&p, class, penalty, share));
        assert_eq!(scores(Penalty::NONE, 1.0), [0.75, 0.5, 0.875, 1.0]);
        assert_eq!(scores(Penalty::NONE, 0.0), [0.5, 0.0, 0.75, 0.875]);
        assert_eq!(scores(Penalty { weight: 0.5, free: 2 }, 1.0), [0.75, 0.5, 1.375, 2.0]);
    }

    #[test]
    fn shares_depend_on_values_and_seed_alone() {
        let row = [(0, 1.5), (3, -2.0)];
        let share = share_of_row(1, row);
        assert_eq!(share, share_of_row(1, [(0, 1.5), (1, 0.0), (2, -0.0), (3, -2.0)]));
        for other in [share_of_row(2, row), share_of_row(1, [(0, 1.5), (2, -2.0)]), share_of_row(1, [(0, -2.0), (3, 1.5)])] {
            assert_ne!(share, other);
        }
        // The mean of 4,096 uniform numbers is within four standard deviations of a half.
        let mean = (0..4096).map(|i| share_of_row(7, [(0, f64::from(i))])).sum::<f64>() / 4096.0;
        assert!((mean - 0.5).abs() < 4.0 * (1.0_f64 / 12.0 / 4096.0).sqrt(), "{mean}");
    }
}
