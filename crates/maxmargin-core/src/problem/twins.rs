//! The two variables of a regression sample, one for each sign.

use crate::problem::dual::{Dual, EqualityConstraint};
use crate::problem::solution::Solution;

/// Returns the number of samples, if each has two variables: the first half of them above the
/// function, the second half below.
pub fn twins(dual: &Dual) -> Option<usize> {
    let n = dual.len() / 2;
    let twice = dual.len() == 2 * n && n > 0 && dual.ids()[..n] == dual.ids()[n..];
    (twice && dual.sign()[..n].iter().all(|s| *s > 0.0) && dual.sign()[n..].iter().all(|s| *s < 0.0)).then_some(n)
}

/// Removes the common part of the two variables of each regression sample: it cancels in the
/// decision function and only adds cost. With one sum per sign nothing changes, because the common
/// part belongs to these sums.
///
/// # Panics
///
/// When there is not one α and one gradient per variable.
pub fn settle_twins(dual: &Dual, solution: &mut Solution) {
    let len = dual.len();
    assert!(solution.alpha.len() == len && solution.gradient.len() == len, "one entry per variable");
    let Some(n) = twins(dual).filter(|_| !matches!(dual.balance(), EqualityConstraint::PerSign(..))) else { return };
    for k in 0..n {
        let common = solution.alpha[k].min(solution.alpha[n + k]);
        if common > 0.0 {
            for k in [k, n + k] {
                solution.alpha[k] -= common;
                solution.gradient[k] -= dual.ridge_of(k) * common;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::dual::SideCosts;
    use crate::problem::loss::{BiasTerm, Loss};
    use crate::problem::solution::{Status, Work};

    #[test]
    fn the_common_part_of_twins_is_removed() {
        let dual = Dual::svr(Loss::SquaredHinge, BiasTerm::Free, vec![0, 1], &[1.0, 2.0], SideCosts::equal(&[0.5; 2]), 0.0)
            .expect("a problem");
        let (alpha, gradient) = (vec![0.75, 0.0, 0.25, 0.5], vec![2.0; 4]);
        let mut found = Solution { alpha, gradient, bias: 0.5, status: Status::Converged, work: Work::default(), weights: None };
        settle_twins(&dual, &mut found);
        assert_eq!(found.alpha, [0.5, 0.0, 0.0, 0.5]);
        // The ridge is 1.
        assert_eq!(found.gradient, [1.75, 2.0, 1.75, 2.0]);
    }
}
