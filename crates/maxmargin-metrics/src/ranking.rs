//! Scores of decision values: whether samples of the greater label come before those of the other.

use crate::metric::{Metric, assert_one_each, greatest_label};

/// The area under the receiver operating characteristic: the share of pairs of one sample of each
/// label in which the sample of the greater label has the larger decision value; equal values count
/// one half. NaN where there is one label.
pub static ROC_AUC: Metric = Metric { ranks: true, ..Metric::new("roc_auc", roc_auc) };

/// The mean over the samples of the greater label of the precision among those with a decision
/// value at least as large. NaN where there is none.
pub static AVERAGE_PRECISION: Metric = Metric { ranks: true, ..Metric::new("average_precision", average_precision) };

/// Samples by falling decision value in runs of equal values: the count of the greater label and
/// the count of all in each run.
fn runs(truth: &[f64], decisions: &[f64]) -> Vec<[f64; 2]> {
    let greater = greatest_label(truth);
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|&a, &b| decisions[b].total_cmp(&decisions[a]));
    let run = |places: &[usize]| [places.iter().filter(|&&i| truth[i] == greater).count() as f64, places.len() as f64];
    order.chunk_by(|&a, &b| decisions[a] == decisions[b]).map(run).collect()
}

/// The curves of a ranking by decision values.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingCurves {
    /// False and true positive rates at every threshold, from (0, 0) to (1, 1).
    pub roc: Vec<(f64, f64)>,
    /// Recall and precision at every threshold, from the greatest one.
    pub precision_recall: Vec<(f64, f64)>,
    /// The share of samples with the greater label: the precision of a guess.
    pub positive_share: f64,
}

impl RankingCurves {
    /// Returns the curves of samples with two labels; None where there is one label.
    ///
    /// # Panics
    ///
    /// When `truth` and `decisions` have different lengths.
    pub fn of(truth: &[f64], decisions: &[f64]) -> Option<Self> {
        assert_one_each("decision values", decisions.len(), truth.len());
        let runs = runs(truth, decisions);
        let (positives, all) = runs.iter().fold((0.0, 0.0), |(positives, all), run| (positives + run[0], all + run[1]));
        if positives == 0.0 || positives == all {
            return None;
        }
        let (mut roc, mut precision_recall) = (vec![(0.0, 0.0)], Vec::new());
        let (mut above, mut seen) = (0.0, 0.0);
        for [positive, count] in runs {
            above += positive;
            seen += count;
            roc.push(((seen - above) / (all - positives), above / positives));
            precision_recall.push((above / positives, above / seen));
        }
        Some(Self { roc, precision_recall, positive_share: positives / all })
    }
}

fn roc_auc(truth: &[f64], decisions: &[f64]) -> f64 {
    let (mut above, mut won, mut others) = (0.0, 0.0, 0.0);
    for [positive, all] in runs(truth, decisions) {
        let negative = all - positive;
        won += negative * (above + 0.5 * positive);
        above += positive;
        others += negative;
    }
    won / (above * others)
}

fn average_precision(truth: &[f64], decisions: &[f64]) -> f64 {
    let (mut above, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for [positive, all] in runs(truth, decisions) {
        above += positive;
        seen += all;
        sum += positive * above / seen;
    }
    sum / above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_by_hand() {
        let truth = [1.0, -1.0, 1.0, -1.0];
        let curves = RankingCurves::of(&truth, &[0.9, 0.8, 0.7, 0.7]).expect("two labels");
        assert_eq!(curves.roc, [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (1.0, 1.0)]);
        assert_eq!(curves.precision_recall, [(0.5, 1.0), (0.5, 0.5), (1.0, 0.5)]);
        assert_eq!((curves.positive_share, RankingCurves::of(&[1.0; 2], &[0.0, 1.0])), (0.5, None));
        // The area below the first is the score of the same name.
        let area: f64 = curves.roc.windows(2).map(|pair| (pair[1].0 - pair[0].0) * f64::midpoint(pair[0].1, pair[1].1)).sum();
        assert_eq!(area, ROC_AUC.score(&truth, &[0.9, 0.8, 0.7, 0.7]));
    }

    #[test]
    fn ranks_by_hand() {
        let truth = [1.0, -1.0, 1.0, -1.0];
        // The better positive beats both, the other one beats one of two.
        assert_eq!(ROC_AUC.score(&truth, &[0.9, 0.8, 0.7, 0.1]), 0.75);
        assert_eq!(AVERAGE_PRECISION.score(&truth, &[0.9, 0.8, 0.7, 0.1]), f64::midpoint(1.0, 2.0 / 3.0));
        assert_eq!((ROC_AUC.score(&truth, &[1.0; 4]), AVERAGE_PRECISION.score(&truth, &[1.0; 4])), (0.5, 0.5));
        assert_eq!(ROC_AUC.score(&truth, &[1.0, 0.0, 1.0, 0.0]), 1.0);
        assert!(ROC_AUC.score(&[1.0; 3], &[1.0; 3]).is_nan() && AVERAGE_PRECISION.score(&[], &[]).is_nan());
    }
}
