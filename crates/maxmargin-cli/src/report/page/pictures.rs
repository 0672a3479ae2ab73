//! Pictures of a cross-validation: scores of folds, curves of rankings, reliability.

use maxmargin::metrics::{RankingCurves, Reliability};
use maxmargin_plot::{AxisStyle, ChartStyle, Panel, Svg, chart};

/// Most points of a curve; of more, some are left out.
const POINTS: usize = 400;

/// The score of a fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldScore {
    pub(crate) fold: usize,
    pub(crate) score: f64,
    /// The standard error of a share of samples.
    pub(crate) error: Option<f64>,
}

fn style(x: &str, y: &str) -> ChartStyle {
    let axis = |label: &str| AxisStyle { label: label.to_owned(), logarithmic: false };
    ChartStyle { x: axis(x), y: axis(y), points: false }
}

fn panel() -> Panel {
    Panel { title: String::new(), lines: Vec::new() }
}

/// Returns at most [`POINTS`] points with the first and the last.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(POINTS).max(1);
    let last = points.last().filter(|_| !(points.len() - 1).is_multiple_of(step));
    points.iter().step_by(step).chain(last).copied().collect()
}

/// Draws the receiver operating characteristic, beside that of a guess.
pub(crate) fn roc(curves: &RankingCurves) -> Svg {
    let mut panel = panel();
    panel.curve("out of fold", false, &thinned(&curves.roc));
    panel.curve("a guess", true, &[(0.0, 0.0), (1.0, 1.0)]);
    chart("ROC curve", &style("false positive rate", "true positive rate"), &[panel])
}

/// Draws precision over recall, beside the precision of a guess.
pub(crate) fn precision_recall(curves: &RankingCurves) -> Svg {
    let mut panel = panel();
    panel.curve("out of fold", false, &thinned(&curves.precision_recall));
    panel.curve("a guess", true, &[(0.0, curves.positive_share), (1.0, curves.positive_share)]);
    chart("precision and recall", &style("recall", "precision"), &[panel])
}

/// Draws the observed frequencies over the predicted probabilities.
pub(crate) fn reliability(reliability: &Reliability) -> Svg {
    let mut panel = panel();
    for bin in &reliability.bins {
        if let (Some(mean), Some(fraction)) = (bin.mean_probability, bin.fraction) {
            let error = (fraction * (1.0 - fraction) / bin.count as f64).sqrt();
            let interval = ((fraction - error).max(0.0), (fraction + error).min(1.0));
            panel.put_with("held out", false, (mean, fraction), "", Some(interval));
        }
    }
    panel.curve("perfect", true, &[(0.0, 0.0), (1.0, 1.0)]);
    chart("reliability", &style("predicted probability", "observed share"), &[panel])
}

/// Draws the score of each fold with its error bar, and the score of all samples.
pub(crate) fn fold_scores(metric: &str, folds: &[FoldScore], overall: f64) -> Svg {
    let mut panel = panel();
    for FoldScore { fold, score, error } in folds {
        let interval = error.map(|error| (score - error, score + error));
        panel.put_with("folds", false, (*fold as f64, *score), "", interval);
    }
    // Neighbouring folds have nothing in common.
    panel.lines.iter_mut().for_each(|line| line.joined = false);
    let [first, last] = [folds.first(), folds.last()].map(|fold| fold.map_or(0.0, |fold| fold.fold as f64));
    panel.curve("overall", true, &[(first - 0.5, overall), (last + 0.5, overall)]);
    chart(&format!("{metric} of the folds"), &style("fold", metric), &[panel])
}
