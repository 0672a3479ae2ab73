//! Scores of class probabilities whose sets adapt to the difficulty of a row.

/// The penalty of RAPS for classes of a low rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// The penalty λ for each rank beyond `free`.
    pub weight: f64,
    /// The number of most probable classes without a penalty.
    pub free: usize,
}

impl Penalty {
    /// No penalty, which makes RAPS the same as APS.
    pub const NONE: Self = Self { weight: 0.0, free: 0 };
}

/// The score APS of a class (Romano, Sesia, Candès 2020, without randomisation): the sum of the
/// probabilities that are at least its own. RAPS (Angelopoulos et al. 2021) adds a penalty for the
/// rank of the class.
///
/// # Panics
///
/// When there is no such class.
pub fn adaptive_score(probabilities: &[f64], class: usize, penalty: Penalty) -> f64 {
    let own = probabilities[class];
    // The earlier of equal classes come first, so that each has a rank of its own.
    let is_before = |at: usize| probabilities[at] > own || (probabilities[at] == own && at <= class);
    let before = (0..probabilities.len()).filter(|at| is_before(*at));
    let (rank, sum) = before.fold((0_usize, 0.0), |(rank, sum), at| (rank + 1, sum + probabilities[at]));
    sum + penalty.weight * rank.saturating_sub(penalty.free) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_classes_up_to_a_class() {
        let p = [0.25, 0.5, 0.125, 0.125];
        assert_eq!([0, 1, 2, 3].map(|class| adaptive_score(&p, class, Penalty::NONE)), [0.75, 0.5, 0.875, 1.0]);
        let penalty = Penalty { weight: 0.5, free: 2 };
        assert_eq!([0, 1, 2, 3].map(|class| adaptive_score(&p, class, penalty)), [0.75, 0.5, 1.375, 2.0]);
    }
}
