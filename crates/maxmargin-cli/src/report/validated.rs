//! The results of a cross-validation, for `cv`, `loo` and every cell of `grid`.

use super::certificate::{CertifiedTraining, certificate_text};
use super::document::{Detail, MachineDocument, Seconds, Setup, SolutionDocument};
use super::levels::{crossing_text, level_scores, levels_table};
use super::page::{FoldScore, PageRow};
use super::table::{Align, columns, columns_without};
use super::text::{confusion_table, multiclass_text, status_text};
use crate::console::format;
use maxmargin::core::{Level, Status, TargetKind};
use maxmargin::cv::{CvReport, FoldReport, FullReport, MissingClass};
use maxmargin::metrics::{Confusion, FoldStatistics, LevelScores, Purpose, metrics_of};
use serde::Serialize;
use std::collections::BTreeMap;

/// Most folds that are shown one by one; of more, only those that need attention.
const SHOWN: usize = 100;

/// Scores by the names of their metrics.
pub(crate) type Scores = BTreeMap<&'static str, f64>;

/// One fold.
#[derive(Clone, Debug, Serialize)]
struct FoldDocument {
    #[serde(flatten)]
    report: FoldReport,
    /// Time of its seed and its solver.
    seconds: f64,
    scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Vec<MachineDocument>>,
}

/// A cross-validation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CvResults {
    #[serde(skip)]
    purpose: Purpose,
    seeding: &'static str,
    #[serde(flatten)]
    pub(crate) solved: SolutionDocument,
    folds: Vec<FoldDocument>,
    /// Classes that some training sets lack; the document has them in each fold.
    #[serde(skip)]
    pub(crate) missing_classes: Vec<MissingClass>,
    full: Option<FullReport>,
    pub(crate) scores: Scores,
    /// The scores of several levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<LevelScores>,
    spread: BTreeMap<&'static str, FoldStatistics>,
    /// The names of the metrics, in the order of tables.
    #[serde(skip)]
    order: Vec<&'static str>,
    pub(crate) rounds: usize,
    samples_tested: usize,
    #[serde(skip)]
    samples: usize,
    pub(crate) accuracy: Option<f64>,
    pub(crate) correct: usize,
    samples_counted: usize,
    folds_counted: usize,
    confusion: Confusion,
    seed_steps: u64,
    pub(crate) total_iterations: u64,
}

impl CvResults {
    /// Describes a report on data with these labels.
    pub(crate) fn new(report: &CvReport, labels: &[f64], setup: &Setup, detail: Detail) -> Self {
        let (classes, names) = (&setup.labels()[..], &setup.machine_names());
        let samples = report.predicted.len() / report.rounds.max(1);
        // A rung of a search has a part of the rows, and does not say which: it has no confusion.
        let is_whole = samples == labels.len();
        let (labels, predicted) = if is_whole { (labels, &report.predicted[..]) } else { (&[][..], &[][..]) };
        let levels = || level_scores(&setup.formulation, &labels.repeat(report.rounds), &report.decisions);
        let fold = |fold: &FoldReport| FoldDocument {
            report: fold.clone(),
            seconds: fold.seed_seconds + fold.solve_seconds,
            scores: fold.scores.iter().copied().collect(),
            machines: (detail == Detail::Machines).then(|| MachineDocument::of(names, &fold.machines)),
        };
        Self {
            purpose: setup.formulation.purpose,
            seeding: report.seeding,
            solved: SolutionDocument {
                status: report.status(),
                certificate: report.certificate(),
                machines: report.full.as_ref().map_or_else(Vec::new, |full| MachineDocument::of(names, &full.machines)),
                iterations: report.iterations,
                rows_computed: report.rows_computed,
                kernel_bytes: report.kernel_bytes,
                support_vectors: report.folds.iter().map(|fold| fold.support_vectors).sum(),
                work: report.counts.iter().copied().collect(),
            },
            folds: report.folds.iter().map(fold).collect(),
            missing_classes: report.missing_classes(),
            full: report.full.clone(),
            scores: report.scores.iter().copied().collect(),
            levels: is_whole.then(levels).flatten(),
            spread: report.spread.iter().copied().collect(),
            order: report.scores.iter().map(|score| score.0).collect(),
            rounds: report.rounds,
            samples_tested: report.samples_tested,
            samples,
            accuracy: report.accuracy,
            correct: report.correct,
            samples_counted: report.samples_counted,
            folds_counted: report.folds_counted,
            confusion: Confusion::of(classes, &labels.repeat(report.rounds), predicted),
            seed_steps: report.seed_steps,
            total_iterations: report.total_iterations,
        }
    }

    /// Returns the time of each phase of a cross-validation, summed over its threads.
    pub(crate) fn seconds(report: &CvReport) -> Seconds {
        let (seed, solve) = report.seed_and_solve_seconds();
        let (kernel, certify) = (Some(report.kernel_seconds), Some(report.certify_seconds));
        Seconds { read: 0.0, kernel, seed: Some(seed), solve: Some(solve), certify, total: report.total_seconds }
    }

    /// Returns the index of the class, if all predictions are the same.
    pub(crate) fn only_said(&self) -> Option<usize> {
        let is_said = |class: &usize| self.confusion.counts.iter().any(|row| row[*class] > 0);
        let mut said = (0..self.confusion.counts.len()).filter(is_said);
        said.next().filter(|_| said.next().is_none())
    }

    /// Returns the reports of all folds.
    pub(crate) fn reports(&self) -> impl Iterator<Item = &FoldReport> + Clone {
        self.folds.iter().map(|fold| &fold.report)
    }

    pub(crate) fn seeding(&self) -> &'static str {
        self.seeding
    }

    /// Returns the certificates of the folds, each with the number of its samples.
    fn certified(&self) -> Vec<CertifiedTraining> {
        let one = |fold: &FoldDocument| CertifiedTraining { certificate: fold.report.certificate, samples: fold.report.train };
        self.folds.iter().map(one).collect()
    }

    /// Returns a table of the folds: all of them if `all` and they are few, otherwise those that
    /// need attention.
    pub(crate) fn folds_table(&self, all: bool) -> String {
        let header = [
            ("fold", Align::Right),
            ("train", Align::Right),
            ("test", Align::Right),
            (self.column(), Align::Right),
            ("iterations", Align::Right),
            ("SV", Align::Right),
            ("bounded SV", Align::Right),
            ("objective", Align::Right),
            ("duality gap", Align::Right),
            ("KKT", Align::Right),
            ("status", Align::Left),
        ];
        let all = all && self.folds.len() <= SHOWN;
        let row = |fold: &FoldDocument| {
            let f = &fold.report;
            vec![
                f.fold.to_string(),
                f.train.to_string(),
                f.test.to_string(),
                self.score_text(&fold.scores),
                f.iterations.to_string(),
                f.support_vectors.to_string(),
                f.bounded.to_string(),
                format::long(f.objective),
                format::known_bound(f.certificate.relative_gap),
                format::bound(f.certificate.kkt),
                status_text(f.status).to_owned(),
            ]
        };
        let shown = self.folds.iter().filter(|f| all || f.report.status != Status::Converged).take(SHOWN);
        let rows: Vec<Vec<String>> = shown.map(row).collect();
        let spare = ["objective", "bounded SV", "train"];
        if rows.is_empty() { String::new() } else { columns_without(&header, &rows, &spare) + "\n" }
    }

    /// Returns a table of every metric over all predictions, with its mean, deviation and interval
    /// over the folds.
    pub(crate) fn spread_table(&self) -> String {
        let header = [
            ("metric", Align::Left),
            ("overall", Align::Right),
            ("mean", Align::Right),
            ("deviation", Align::Right),
            ("95 % interval", Align::Left),
            ("folds", Align::Right),
        ];
        let number = |value: f64| if value.is_nan() { "none".to_owned() } else { format::short(value) };
        let row = |name: &&'static str| {
            let FoldStatistics { mean, deviation, low, high, folds } = self.spread[name];
            let interval = if low.is_nan() { "none".to_owned() } else { format!("{} to {}", number(low), number(high)) };
            vec![(*name).to_owned(), number(self.scores[name]), number(mean), number(deviation), interval, folds.to_string()]
        };
        let rows: Vec<Vec<String>> = self.order.iter().map(row).collect();
        if self.folds_counted == 0 { String::new() } else { columns(&header, &rows) + "\n" }
    }

    /// Returns the statistics of a metric over the folds.
    pub(crate) fn spread_of(&self, metric: &str) -> Option<&FoldStatistics> {
        self.spread.get(metric)
    }

    /// Returns the confusion matrix; empty without classes.
    pub(crate) fn confusion(&self) -> &Confusion {
        &self.confusion
    }

    /// Returns the score of each fold with its standard error, if it is a share of the samples, and
    /// the score of all.
    pub(crate) fn fold_scores(&self) -> (Vec<FoldScore>, Option<f64>) {
        let is_share = self.purpose.target_kind != TargetKind::Values;
        let error = |score: f64, samples: usize| is_share.then(|| (score * (1.0 - score) / samples as f64).sqrt());
        let of = |fold: &FoldDocument| {
            let score = self.score_of(&fold.scores)?;
            Some(FoldScore { fold: fold.report.fold, score, error: error(score, fold.report.test) })
        };
        (self.folds.iter().filter_map(of).collect(), self.score_of(&self.scores))
    }

    /// Returns the heads and the rows of the folds for a page.
    pub(crate) fn fold_rows(&self) -> (Vec<String>, Vec<PageRow>) {
        let heads = ["fold", "train", "test", self.column(), "iterations", "support vectors", "duality gap", "KKT", "status"];
        let row = |fold: &FoldDocument| {
            let f = &fold.report;
            let counts = [f.fold, f.train, f.test].map(|count| count.to_string());
            let score = match self.purpose.target_kind {
                TargetKind::Values => self.score_text(&fold.scores),
                _ => self.score_of(&fold.scores).map_or_else(|| "none".to_owned(), format::share),
            };
            let solved = [
                score,
                format::count(f.iterations),
                format::count(f.support_vectors as u64),
                format::known_bound(f.certificate.relative_gap),
                format::bound(f.certificate.kkt),
                status_text(f.status).to_owned(),
            ];
            PageRow { class: "", cells: counts.into_iter().chain(solved).collect() }
        };
        (heads.map(str::to_owned).to_vec(), self.folds.iter().map(row).collect())
    }

    /// Returns the table of several levels.
    pub(crate) fn levels_table(&self) -> String {
        self.levels.as_ref().map_or_else(String::new, |levels| levels_table(levels) + "\n")
    }

    /// Returns the per-class table, where there are classes.
    pub(crate) fn confusion_table(&self, classes: &[f64]) -> String {
        if classes.is_empty() { String::new() } else { confusion_table(&self.confusion, classes) }
    }

    /// Returns the header of the column of scores.
    pub(crate) fn column(&self) -> &'static str {
        match (self.purpose.target_kind, self.purpose.level) {
            (TargetKind::Classes, _) => "accuracy",
            (TargetKind::Values, None) => "MSE",
            (TargetKind::Values, Some(Level::Quantile(_))) => "pinball loss",
            (TargetKind::Values, Some(Level::Expectile(_))) => "expectile loss",
            (TargetKind::Nothing, _) => "inliers",
        }
    }

    /// The score of [`Self::column`], for people.
    fn score_text(&self, scores: &Scores) -> String {
        let text = |score| match self.purpose.target_kind {
            TargetKind::Values => format::short(score),
            TargetKind::Classes | TargetKind::Nothing => format::percent(score),
        };
        self.score_of(scores).map_or_else(|| "none".to_owned(), text)
    }

    fn score_of(&self, scores: &Scores) -> Option<f64> {
        let metric = metrics_of(self.purpose)[0];
        scores.get(metric.name()).copied().filter(|score| !score.is_nan())
    }

    /// Lines about scores, certificates and iterations. `percent` writes a share.
    pub(crate) fn summary(&self, setup: &Setup, verbose: bool, percent: fn(f64) -> String) -> Vec<(&'static str, String)> {
        let full = match &self.full {
            Some(full) if full.iterations > 0 => format!(" (and {} for the model of all data)", format::count(full.iterations)),
            _ => String::new(),
        };
        let seeds = match self.seed_steps {
            steps if steps == 0 || !verbose => String::new(),
            steps => format!("; seeds read {} kernel rows", format::count(steps)),
        };
        let score = |name: &str| self.scores.get(name).map_or_else(|| "none".to_owned(), |score| format::short(*score));
        let mut lines = match self.purpose.target_kind {
            TargetKind::Classes => vec![("accuracy", self.accuracy_text(percent))],
            TargetKind::Values => {
                let own = match self.purpose.level {
                    None => vec![("mean squared error", score("mean_squared_error"))],
                    Some(Level::Quantile(_)) => {
                        let coverage = self.levels.is_none().then(|| ("coverage", self.coverage_text(percent)));
                        [("pinball loss", score("pinball_loss"))].into_iter().chain(coverage).collect()
                    }
                    Some(Level::Expectile(_)) => vec![("expectile loss", score("expectile_loss"))],
                };
                let others = [
                    ("mean absolute error", score("mean_absolute_error")),
                    ("R², correlation²", format!("{}, {}", score("r2"), score("squared_correlation"))),
                ];
                let mut lines: Vec<(&str, String)> = own.into_iter().chain(others).collect();
                lines[0].1 += &self.counted_text();
                lines.extend(self.levels.as_ref().map(|levels| ("crossing", crossing_text(levels))));
                lines
            }
            TargetKind::Nothing => vec![("inliers", format!("{}{}", self.score_text(&self.scores), self.counted_text()))],
        };
        if self.purpose.target_kind == TargetKind::Nothing && self.accuracy.is_some() {
            lines.push(("accuracy", self.accuracy_text(percent)));
        }
        let classes = setup.labels().len();
        if classes > 2 && !setup.formulation.is_of_all_classes() {
            lines.push((
                "machines",
                format!(
                    "{} in each fold, {}",
                    setup.multiclass.unwrap_or_default().machines(classes),
                    multiclass_text(setup.multiclass.unwrap_or_default(), Some(classes))
                ),
            ));
        }
        lines.push(("certificate", certificate_text(&self.certified(), &setup.formulation, setup.eps, setup.gap, "fold")));
        lines.push(("iterations", format!("{}{full}{seeds}", format::count(self.solved.iterations))));
        lines
    }

    /// Returns the share of targets at or below the predicted quantile, and its level.
    fn coverage_text(&self, percent: fn(f64) -> String) -> String {
        let level = self.purpose.level.map_or_else(String::new, |level| format!(" (tau {})", format::exact(level.tau())));
        self.scores.get("coverage").map_or_else(|| "none".to_owned(), |share| percent(*share) + &level)
    }

    /// Returns the accuracy and the folds that it covers: those that were stopped before they had a
    /// solution do not count.
    fn accuracy_text(&self, percent: fn(f64) -> String) -> String {
        let all = self.folds.len();
        let Some(accuracy) = self.accuracy else {
            return format!("none: the run was stopped before any of {all} folds had a solution");
        };
        let (correct, samples) = (format::count(self.correct as u64), format::count(self.samples_counted as u64));
        format!("{} ({correct} of {samples}{})", percent(accuracy), self.reservation())
    }

    /// ` (of 500 samples)`
    fn counted_text(&self) -> String {
        format!(" (of {} samples{})", format::count(self.samples_counted as u64), self.reservation())
    }

    /// Returns remarks on unfinished folds and untested rows.
    fn reservation(&self) -> String {
        let all = self.folds.len();
        let untested = match self.samples - self.samples_tested {
            0 => String::new(),
            rows => format!("; {} rows are in no test set", format::count(rows as u64)),
        };
        let unfinished = match self.folds_counted {
            folds if folds < all => format!(", the samples of {folds} of {all} folds; the others have no solution yet"),
            _ if self.solved.status == Status::Converged => String::new(),
            _ => "; folds that did not converge are counted too".to_owned(),
        };
        unfinished + &untested
    }

    /// Returns the number of folds that needed a training.
    pub(crate) fn moved(&self) -> usize {
        self.folds.iter().filter(|fold| fold.report.iterations > 1).count()
    }
}
