//! The decision threshold between two classes, chosen by out-of-fold decision values.

use crate::calibrate::out_of_fold::OutOfFold;
use crate::plan::FoldPlan;
use crate::run::error::CvError;
use crate::run::refusal::ThresholdProblem;
use maxmargin_core::TargetKind;
use maxmargin_data::ClassLabels;
use maxmargin_metrics::{Metric, all_metrics};
use serde::Serialize;

/// Scores that differ by less count as equal. Rounding makes the difference: a score is some ten
/// operations on whole numbers. Really different scores of fewer than ten million samples differ by
/// more.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The choice of a threshold, and its effect. All scores are those of out-of-fold decision values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdReport {
    /// The name of the metric.
    pub metric: &'static str,
    /// The reason why there is no threshold, if it is missing.
    pub missing: Option<&'static str>,
    /// The threshold. Decision values of at least this value mean the second class.
    pub value: Option<f64>,
    /// The score with the threshold 0; `None` if it is NaN.
    pub before: Option<f64>,
    /// The score with this threshold on the decision values that chose it: the largest possible
    /// score.
    pub after: Option<f64>,
    /// The score if each fold uses the threshold that the other folds choose. No sample takes part
    /// in the choice of the threshold that decides its own label.
    pub cross_fitted: Option<f64>,
    /// The cross-validation, with its cost.
    #[serde(flatten)]
    pub run: OutOfFold,
}

/// Returns true if a threshold can be chosen by a metric ([`Metric::of_table`]).
pub fn is_tunable(metric: &Metric) -> bool {
    metric.of_table([[1, 0], [0, 1]]).is_some()
}

/// The threshold with the best score. Samples with a decision value of at least the threshold are
/// predicted as the second class; `later` is true for samples of that class.
///
/// Candidates between two neighbouring decision values are 0, if it lies between them, or their
/// midpoint. Of equally good thresholds the one nearest to 0 is chosen, of two such the lower.
/// Returns `None` if the metric has no score for any threshold, or cannot choose one
/// ([`is_tunable`]).
///
/// ```
/// use maxmargin_cv::best_threshold;
/// use maxmargin_metrics::BALANCED_ACCURACY;
///
/// let (decisions, later) = ([-2.0, -1.0, -0.8, -0.4, 0.5], [false, false, true, true, true]);
/// assert_eq!(best_threshold(&decisions, &later, &BALANCED_ACCURACY), Some(-0.9));
/// ```
///
/// # Panics
///
/// When `decisions` and `later` have different lengths.
pub fn best_threshold(decisions: &[f64], later: &[bool], metric: &Metric) -> Option<f64> {
    assert_eq!(decisions.len(), later.len(), "a decision value for each sample");
    let mut order: Vec<usize> = (0..decisions.len()).collect();
    order.sort_by(|&a, &b| decisions[a].total_cmp(&decisions[b]));
    // All samples begin as the second class; then one run of equal values after the other changes
    // to the first.
    let mut table = [[0; 2]; 2];
    later.iter().for_each(|&later| table[usize::from(later)][1] += 1);
    let mut scored = Vec::new();
    let mut below = None;
    for run in order.chunk_by(|&a, &b| decisions[a] == decisions[b]) {
        let above = decisions[run[0]];
        scored.push((between(below, Some(above)), metric.of_table(table)?));
        for &i in run {
            table[usize::from(later[i])][1] -= 1;
            table[usize::from(later[i])][0] += 1;
        }
        below = Some(above);
    }
    scored.push((between(below, None), metric.of_table(table)?));
    let scored = scored.into_iter().filter(|(threshold, score)| threshold.is_finite() && !score.is_nan());
    let scored: Vec<(f64, f64)> = scored.collect();
    let best = scored.iter().map(|one| one.1).max_by(f64::total_cmp)?;
    // Of equals the first wins.
    scored.iter().filter(|one| one.1 >= best - ROUNDING).map(|one| one.0).min_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// The threshold between two neighbours: 0 if it lies between them, otherwise their midpoint.
/// Beyond the outermost value, the threshold nearest to it.
fn between(below: Option<f64>, above: Option<f64>) -> f64 {
    match (below, above) {
        _ if below.is_none_or(|below| below < 0.0) && above.is_none_or(|above| above >= 0.0) => 0.0,
        (Some(below), Some(above)) => {
            let middle = f64::midpoint(below, above);
            if middle > below { middle } else { above }
        }
        (None, Some(above)) => above,
        (Some(below), None) => below.next_up(),
        (None, None) => 0.0,
    }
}

/// The confusion matrix: number of samples by class and predicted class.
fn table(later: &[bool], said: impl Iterator<Item = bool>) -> [[usize; 2]; 2] {
    let mut table = [[0; 2]; 2];
    later.iter().zip(said).for_each(|(&later, said)| table[usize::from(later)][usize::from(said)] += 1);
    table
}

/// Checks that there are two classes of two samples or more, and that the metric can choose.
///
/// # Errors
///
/// When the data or the metric does not allow a threshold, with the alternatives.
pub(crate) fn check(metric: &Metric, classes: Option<&ClassLabels>) -> Result<(), CvError> {
    if !is_tunable(metric) {
        let tunable = all_metrics(TargetKind::Classes).filter(|metric| is_tunable(metric));
        let alternatives = tunable.map(Metric::name).collect();
        return Err(ThresholdProblem::Metric { metric: metric.name(), alternatives }.into());
    }
    let alone = classes.and_then(|classes| classes.sizes().iter().position(|size| *size < 2).map(|at| classes.labels()[at]));
    match classes.map(ClassLabels::count) {
        Some(2) => alone.map_or(Ok(()), |label| Err(CvError::Alone { label })),
        Some(classes) => Err(ThresholdProblem::Classes { classes }.into()),
        None => Err(ThresholdProblem::NoClasses.into()),
    }
}

/// Chooses a threshold by the decision values of a cross-validation, round after round. NaN values
/// are left out.
pub(crate) fn choose(
    metric: &Metric,
    decisions: &[f64],
    plan: &FoldPlan,
    classes: &ClassLabels,
    run: OutOfFold,
) -> ThresholdReport {
    let of = classes.of();
    let known: Vec<usize> = (0..decisions.len()).filter(|&at| !decisions[at].is_nan()).collect();
    let sides = |places: &[usize]| -> Vec<bool> { places.iter().map(|at| of[at % of.len()] == 1).collect() };
    let values = |places: &[usize]| -> Vec<f64> { places.iter().map(|&at| decisions[at]).collect() };
    let best = |places: &[usize]| best_threshold(&values(places), &sides(places), metric);
    let truth = sides(&known);
    let score = |said: &mut dyn Iterator<Item = bool>| metric.of_table(table(&truth, said)).filter(|score| !score.is_nan());
    let value = best(&known);
    let at = |threshold: f64| score(&mut known.iter().map(|&at| decisions[at] >= threshold));
    let mut said = vec![None; decisions.len()];
    for fold in 0..plan.folds() {
        let mut others = vec![true; plan.len()];
        plan.test(fold).iter().for_each(|&i| others[i] = false);
        let others: Vec<usize> = known.iter().copied().filter(|at| others[at % of.len()]).collect();
        let threshold = best(&others);
        let before = plan.round(fold) * plan.len();
        plan.test(fold).iter().for_each(|i| said[before + i] = threshold.map(|threshold| decisions[before + i] >= threshold));
    }
    let crossed: Option<Vec<bool>> = known.iter().map(|&at| said[at]).collect();
    ThresholdReport {
        metric: metric.name(),
        missing: value.is_none().then_some("no threshold has a score"),
        value,
        before: at(0.0),
        after: value.and_then(at),
        cross_fitted: crossed.and_then(|said| score(&mut said.into_iter())),
        run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_metrics::BALANCED_ACCURACY;
    use maxmargin_metrics::{CLASS_METRICS, TWO_CLASS_METRICS};

    /// The metrics that can choose a threshold.
    fn tunable() -> Vec<&'static Metric> {
        CLASS_METRICS.iter().chain(TWO_CLASS_METRICS).copied().filter(|metric| is_tunable(metric)).collect()
    }

    fn said(decisions: &[f64], threshold: f64) -> Vec<f64> {
        decisions.iter().map(|f| if *f >= threshold { 2.0 } else { 1.0 }).collect()
    }

    /// Random decision values, few of them different, and classes of unequal size.
    fn drawn(seed: u64) -> (Vec<f64>, Vec<bool>) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        let (rows, values, share) = (2 + below(14), 1 + below(12), 1 + below(5));
        let decisions: Vec<f64> = (0..rows).map(|_| 0.25 * (below(values) as f64 - below(9) as f64)).collect();
        let mut later: Vec<bool> = decisions.iter().map(|f| below(6) < share || *f > 0.5).collect();
        (later[0], later[1]) = (true, false);
        (decisions, later)
    }

    #[test]
    fn names_of_what_can_choose() {
        let names: Vec<&str> = tunable().iter().map(|metric| metric.name()).collect();
        assert_eq!(names, ["accuracy", "balanced_accuracy", "f1_macro", "matthews", "f1"]);
    }

    #[test]
    fn no_other_threshold_is_better_and_no_equal_one_nearer_to_0() {
        for seed in 0..2000 {
            let (decisions, later) = drawn(seed);
            let truth: Vec<f64> = later.iter().map(|later| if *later { 2.0 } else { 1.0 }).collect();
            for metric in tunable() {
                let score = |threshold: f64| metric.score(&truth, &said(&decisions, threshold));
                let Some(found) = best_threshold(&decisions, &later, metric) else {
                    // All values are equal, so that every threshold predicts one class only.
                    assert!(candidates(&decisions).into_iter().all(|threshold| score(threshold).is_nan()), "{}", metric.name());
                    continue;
                };
                let what = format!("{} {seed}: {found} of {decisions:?} {later:?}", metric.name());
                // Every split of the values: at 0, at each value, midway to the next, and above
                // all.
                let mut all: Vec<f64> = decisions.iter().map(|f| f + 0.0).chain([0.0]).collect();
                all.sort_by(f64::total_cmp);
                all.dedup();
                let halves: Vec<f64> = all.windows(2).map(|pair| f64::midpoint(pair[0], pair[1])).collect();
                let greatest = all[all.len() - 1];
                all.extend(halves);
                all.extend([greatest.next_up(), greatest + 1.0]);
                for other in all {
                    assert!(score(other).is_nan() || score(other) <= score(found) + 1e-13, "{what}, {other}");
                    // Only midpoints and ends are candidates. Another threshold with the same split
                    // may be nearer to 0.
                    let parts_otherwise = said(&decisions, other) != said(&decisions, found);
                    let candidate = candidates(&decisions).contains(&other);
                    let equal = (score(other) - score(found)).abs() < 1e-13;
                    assert!(!(equal && candidate && parts_otherwise) || found.abs() <= other.abs(), "{what}, {other}");
                }
                assert!(candidates(&decisions).contains(&found), "{what}");
            }
        }
    }

    /// Candidates computed without the search: for every value, the midpoint to the greatest value
    /// below it.
    fn candidates(decisions: &[f64]) -> Vec<f64> {
        let least = decisions.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = decisions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut all = vec![0.0, least, greatest.next_up()];
        for &above in decisions {
            let below = decisions.iter().copied().filter(|other| *other < above).fold(f64::NEG_INFINITY, f64::max);
            if below.is_finite() && !(below < 0.0 && above >= 0.0) {
                all.push(f64::midpoint(below, above));
            }
        }
        all
    }

    #[test]
    fn tables_score_as_labels_do() {
        for seed in 0..300 {
            let (decisions, later) = drawn(seed);
            let truth: Vec<f64> = later.iter().map(|later| if *later { 2.0 } else { 1.0 }).collect();
            for threshold in [-1.0, 0.0, 0.25, 9.0] {
                let said = said(&decisions, threshold);
                let table = table(&later, said.iter().map(|said| *said == 2.0));
                for metric in tunable() {
                    let (of_table, score) = (metric.of_table(table).expect("tunable"), metric.score(&truth, &said));
                    assert_eq!(of_table.to_bits(), score.to_bits(), "{} {table:?}: {of_table} {score}", metric.name());
                }
            }
        }
    }

    #[test]
    fn neighbours_without_a_number_between_them_are_parted_by_the_greater() {
        let above = 1.0_f64.next_up();
        assert_eq!(best_threshold(&[1.0, above], &[false, true], &BALANCED_ACCURACY), Some(above));
        assert_eq!(best_threshold(&[-f64::MAX, f64::MAX], &[true, false], &maxmargin_metrics::F1), Some(-f64::MAX));
        assert_eq!(best_threshold(&[-0.0, 0.0], &[false, true], &maxmargin_metrics::F1), Some(0.0));
        assert_eq!(best_threshold(&[], &[], &BALANCED_ACCURACY), None);
    }
}
