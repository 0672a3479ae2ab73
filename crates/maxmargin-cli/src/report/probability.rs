//! Probabilities and thresholds in reports.

use super::table::{Align, columns};
use crate::console::format;
use crate::console::label_names;
use maxmargin::cv::{CalibrationReport, OutOfFold, ThresholdReport};
use maxmargin::metrics::Reliability;

/// `platt, from 5 folds, 1,234 iterations, 0.52 s; log loss 0.33, Brier score 0.1, expected
/// calibration error 0.01 …`
pub(crate) fn calibration_text(report: &CalibrationReport) -> String {
    let what = match (&report.missing, report.scale, &report.reliability) {
        (Some(why), ..) => format!("none: {why}"),
        (None, Some(scale), _) => format!("Laplace scale of the errors {}", format::short(scale)),
        (None, None, Some(reliability)) => format!("{} (on held-out samples)", reliability_text(reliability)),
        (None, None, None) if report.method == "marks" => "of being an inlier".to_owned(),
        (None, None, None) => "not judged: classes have too few rows for a calibration without those of a fold".to_owned(),
    };
    format!("{}, from {}; {what}", report.method, run_text(&report.run))
}

/// `5 folds, 1,234 iterations, 0.52 s`
fn run_text(run: &OutOfFold) -> String {
    let (iterations, seconds) = (format::count(run.iterations), format::seconds(run.seconds));
    format!("{} folds, {iterations} iterations, {seconds}", run.folds)
}

/// `class 1 from -0.8 on, from 5 folds, 1,234 iterations, 0.52 s; balanced accuracy on held-out
/// samples: 0.71 at threshold 0, 0.85 at this one, …`
pub(crate) fn threshold_text(report: &ThresholdReport, classes: &[f64]) -> String {
    let score = |score: Option<f64>| score.map_or_else(|| "none".to_owned(), format::short);
    let [before, after, crossed] = [report.before, report.after, report.cross_fitted].map(score);
    let (Some(value), [_, second]) = (report.value, classes) else {
        return format!("0: {}; from {}", report.missing.unwrap_or("none was found"), run_text(&report.run));
    };
    format!(
        "class {} from {} on, from {}; {} on held-out samples: {before} at threshold 0, {after} at this one, {crossed} with the threshold cross-fitted",
        label_names::display(*second),
        format::short(value),
        run_text(&report.run),
        report.metric.replace('_', " "),
    )
}

/// `log loss 0.33, Brier score 0.1, expected calibration error 0.01`
pub(crate) fn reliability_text(reliability: &Reliability) -> String {
    let Reliability { log_loss, brier, expected_calibration_error, .. } = reliability;
    let [log_loss, brier, off] = [log_loss, brier, expected_calibration_error].map(|score| format::short(*score));
    format!("log loss {log_loss}, Brier score {brier}, expected calibration error {off}")
}

/// A reliability diagram in ten bins: predicted probabilities and observed frequencies.
pub(crate) fn reliability_table(reliability: &Reliability, classes: &[f64]) -> String {
    let said = match classes {
        [_, second] => format!("probability of class {}", label_names::display(*second)),
        _ => "probability of the prediction".to_owned(),
    };
    let header = [(&said[..], Align::Left), ("rows", Align::Right), ("mean", Align::Right), ("observed", Align::Right)];
    let percent = |share: Option<f64>| share.map_or_else(String::new, format::percent);
    let row = |bin: &maxmargin::metrics::Bin| {
        vec![
            format!("{:.0} to {:.0} %", 100.0 * bin.from, 100.0 * bin.to),
            bin.count.to_string(),
            percent(bin.mean_probability),
            percent(bin.fraction),
        ]
    };
    columns(&header, &reliability.bins.iter().filter(|bin| bin.count > 0).map(row).collect::<Vec<_>>())
}
