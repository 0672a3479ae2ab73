//! A cross-validation as one HTML file.

use super::document::{CvDocument, folds_text};
use crate::console::format;
use crate::report::cost_text;
use crate::report::page::{Page, fold_scores, precision_recall, roc, run_facts};
use maxmargin::cv::CvReport;
use maxmargin::metrics::RankingCurves;
use maxmargin_plot::Svg;

/// Returns the page of a cross-validation of data with these labels.
pub(super) fn html(d: &CvDocument, report: &CvReport, labels: &[f64]) -> String {
    let mut page = Page::new(format!("Cross-validation of {}", d.setup.data.name));
    let summary = d.found.summary(&d.setup, false, format::share);
    page.facts(&summary);
    page.warnings(&d.end.warnings);
    let classes = d.setup.labels();
    if !classes.is_empty() {
        page.heading("Confusion matrix");
        page.note(
            "Rows are classes, columns predictions by models that were not trained on the sample; shares are of the class.",
        );
        page.confusion(d.found.confusion(), &classes);
    }
    let pictures = pictures(d, report, labels, &classes);
    if !pictures.is_empty() {
        page.heading("Pictures");
        page.pictures(&pictures);
    }
    let (heads, rows) = d.found.fold_rows();
    page.heading("Folds");
    page.table(&heads, &rows);
    page.heading("What was run");
    let mut facts = run_facts(&d.setup);
    facts.extend(d.setup.formulation.c.map(|_| ("C", cost_text(&d.setup))));
    facts.push(("folds", folds_text(d.k, &d.fold_plan, d.found.rounds)));
    facts.push(("time", format::seconds(d.seconds.total)));
    page.facts(&facts);
    page.html()
}

/// Draws the scores of the folds and, for two classes, the curves of the ranking.
fn pictures(d: &CvDocument, report: &CvReport, labels: &[f64], classes: &[f64]) -> Vec<(Svg, String)> {
    let mut drawn = Vec::new();
    let (folds, overall) = d.found.fold_scores();
    // Folds of one sample have no error, and there are as many as samples.
    let few = folds.len() > 1 && folds.len() < report.samples_tested;
    if let Some(overall) = overall.filter(|_| few) {
        let caption = "A dot for each fold, with one standard error of its samples; dashed: all samples together";
        drawn.push((fold_scores(d.found.column(), &folds, overall), caption.to_owned()));
    }
    if classes.len() == 2 && report.machines == 1 {
        let truth = labels.iter().cycle().zip(&report.decisions).filter(|(_, decision)| !decision.is_nan());
        let (truth, decisions): (Vec<f64>, Vec<f64>) = truth.unzip();
        if let Some(curves) = RankingCurves::of(&truth, &decisions) {
            let area = |metric: &str| d.found.scores.get(metric).map_or_else(String::new, |area| format!("{area:.3}"));
            drawn.push((roc(&curves), format!("Area {}; decision values out of fold", area("roc_auc"))));
            let precision = format!("Average precision {}; decision values out of fold", area("average_precision"));
            drawn.push((precision_recall(&curves), precision));
        }
    }
    drawn
}
