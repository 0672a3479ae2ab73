//! What came of a cross-validation: the same for `cv`, `loo` and every point of `grid`.

use super::document::{MachineDocument, Seconds, Setup, Solved};
use super::table::{Align, columns};
use super::text::{certificates, confusion_table, words};
use crate::args::Json;
use crate::format;
use maxmargin::core::Status;
use maxmargin::cv::{CertificateReport, Confusion, CvReport, FoldReport, FullReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// Folds shown one by one; of more, only those that need attention.
const SHOWN: usize = 100;

/// Scores by the names of their metrics.
type Scores = BTreeMap<&'static str, f64>;

/// One fold.
#[derive(Clone, Debug, Serialize)]
struct FoldDocument {
    #[serde(flatten)]
    report: FoldReport,
    /// Of its seeds and solvers together.
    seconds: f64,
    scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    machines: Option<Vec<MachineDocument>>,
}

/// A cross-validation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Validated {
    seeding: &'static str,
    #[serde(flatten)]
    pub(crate) solved: Solved,
    folds: Vec<FoldDocument>,
    full: Option<FullReport>,
    scores: Scores,
    pub(crate) accuracy: Option<f64>,
    pub(crate) correct: usize,
    samples_counted: usize,
    folds_counted: usize,
    confusion: Confusion,
    seed_steps: u64,
    pub(crate) total_iterations: u64,
}

impl Validated {
    /// What a report says of these labels.
    pub(crate) fn new(report: &CvReport, labels: &[f64], classes: &[f64], json: Option<Json>) -> Self {
        let fold = |fold: &FoldReport| FoldDocument {
            report: fold.clone(),
            seconds: fold.seed_seconds + fold.solve_seconds,
            scores: fold.scores.iter().copied().collect(),
            machines: (json == Some(Json::Full)).then(|| MachineDocument::of(classes, &fold.machines)),
        };
        Self {
            seeding: report.seeding,
            solved: Solved {
                status: report.status(),
                certificate: report.certificate(),
                machines: report.full.as_ref().map_or_else(Vec::new, |full| MachineDocument::of(classes, &full.machines)),
                iterations: report.iterations,
                rows_computed: report.rows_computed,
                kernel_bytes: report.kernel_bytes,
                support_vectors: report.folds.iter().map(|fold| fold.support_vectors).sum(),
                work: report.counts.iter().copied().collect(),
            },
            folds: report.folds.iter().map(fold).collect(),
            full: report.full.clone(),
            scores: report.scores.iter().copied().collect(),
            accuracy: report.accuracy,
            correct: report.correct,
            samples_counted: report.samples_counted,
            folds_counted: report.folds_counted,
            confusion: Confusion::of(classes, labels, &report.predicted),
            seed_steps: report.seed_steps,
            total_iterations: report.total_iterations,
        }
    }

    /// Where a cross-validation spent its time, summed over its threads.
    pub(crate) fn seconds(report: &CvReport) -> Seconds {
        let (seed, solve) = report.seed_and_solve_seconds();
        let (kernel, certify) = (Some(report.kernel_seconds), Some(report.certify_seconds));
        Seconds { read: 0.0, kernel, seed: Some(seed), solve: Some(solve), certify, total: report.total_seconds }
    }

    pub(crate) fn seeding(&self) -> &'static str {
        self.seeding
    }

    /// The certificates of the folds.
    pub(crate) fn certificates(&self) -> Vec<CertificateReport> {
        self.folds.iter().map(|fold| fold.report.certificate).collect()
    }

    /// The folds one by one; all of them, where that is wanted and they are not too many.
    pub(crate) fn folds_table(&self, all: bool) -> String {
        let header = [
            ("fold", Align::Right),
            ("train", Align::Right),
            ("test", Align::Right),
            ("accuracy", Align::Right),
            ("iterations", Align::Right),
            ("SV", Align::Right),
            ("at C", Align::Right),
            ("objective", Align::Right),
            ("relative gap", Align::Right),
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
                f.accuracy().map_or_else(|| "none".to_owned(), |accuracy| format!("{:.2} %", 100.0 * accuracy)),
                f.iterations.to_string(),
                f.support_vectors.to_string(),
                f.bounded.to_string(),
                format::long(f.objective),
                format::short(f.certificate.relative_gap),
                format::short(f.certificate.kkt),
                words(f.status).to_owned(),
            ]
        };
        let shown = self.folds.iter().filter(|f| all || f.report.status != Status::Converged).take(SHOWN);
        let rows: Vec<Vec<String>> = shown.map(row).collect();
        if rows.is_empty() { String::new() } else { columns(&header, &rows) + "\n" }
    }

    /// How labels and predictions agree.
    pub(crate) fn confusion_table(&self, classes: &[f64]) -> String {
        confusion_table(&self.confusion, classes)
    }

    /// Lines of what was reached and what it took.
    pub(crate) fn summary(&self, setup: &Setup) -> Vec<(&'static str, String)> {
        let full = match &self.full {
            Some(full) if full.iterations > 0 => format!(" (and {} for the model of all data)", format::count(full.iterations)),
            _ => String::new(),
        };
        let seeds = match self.seed_steps {
            0 => String::new(),
            steps => format!("; seeds read {} kernel rows", format::count(steps)),
        };
        let mut lines = vec![("accuracy", self.accuracy_text())];
        if setup.data.classes.len() > 2 {
            let classes = setup.data.classes.len();
            lines.push((
                "machines",
                format!("{} in each fold, one for each pair of {classes} classes", classes * (classes - 1) / 2),
            ));
        }
        lines.push(("certificates", certificates(&self.certificates(), setup, "folds")));
        lines.push(("iterations", format!("{}{full}{seeds}", format::count(self.solved.iterations))));
        lines
    }

    /// The accuracy, and over which folds it is: those that were stopped before they had a solution say nothing.
    fn accuracy_text(&self) -> String {
        let all = self.folds.len();
        let Some(accuracy) = self.accuracy else {
            return format!("none: the run was stopped before any of {all} folds had a solution");
        };
        let (correct, samples) = (format::count(self.correct as u64), format::count(self.samples_counted as u64));
        let of = match self.folds_counted {
            folds if folds < all => format!(", the samples of {folds} of {all} folds; the others have no solution yet"),
            _ if self.solved.status == Status::Converged => String::new(),
            _ => "; folds that did not converge are counted too".to_owned(),
        };
        format!("{:.4} % ({correct} of {samples}{of})", 100.0 * accuracy)
    }

    /// Trainings that were not there already.
    pub(crate) fn moved(&self) -> usize {
        self.folds.iter().filter(|fold| fold.report.iterations > 1).count()
    }
}
