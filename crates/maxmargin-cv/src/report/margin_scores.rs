//! Scores of classes by decision values: how badly a class fits a row.

use maxmargin_data::classes::pairs;
use maxmargin_model::Multiclass;

/// Writes the score of each class: the negative margin of the class, which is the smallest decision
/// value in its favour. A machine of a pair speaks for one of its classes against the other; of
/// machines against the rest, the margin is the difference to the greatest other value.
pub(crate) fn margin_scores(multiclass: Multiclass, decisions: &[f64], scores: &mut [f64]) {
    match multiclass {
        Multiclass::OneVsOne => {
            scores.fill(f64::NEG_INFINITY);
            for ((a, b), f) in pairs(scores.len()).zip(decisions) {
                scores[a] = scores[a].max(*f);
                scores[b] = scores[b].max(-f);
            }
        }
        Multiclass::OneVsRest => {
            for (class, score) in scores.iter_mut().enumerate() {
                let others = decisions.iter().enumerate().filter(|other| other.0 != class);
                *score = others.map(|other| other.1).copied().fold(f64::NEG_INFINITY, f64::max) - decisions[class];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_worst_comparison() {
        let mut two = [0.0; 2];
        margin_scores(Multiclass::OneVsOne, &[0.75], &mut two);
        assert_eq!(two, [0.75, -0.75]);
        // (0,1): for 1; (0,2): for 0; (1,2): for 2.
        let mut three = [0.0; 3];
        margin_scores(Multiclass::OneVsOne, &[0.5, -2.0, 0.25], &mut three);
        assert_eq!(three, [0.5, 0.25, 2.0]);
        margin_scores(Multiclass::OneVsRest, &[0.5, -2.0, 0.25], &mut three);
        assert_eq!(three, [-0.25, 2.5, 0.25]);
    }
}
