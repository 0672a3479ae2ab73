//! One cell of a search: its parameters and its cross-validation.

use super::choice::Choice;
use crate::console::format;
use crate::report::{CvResults, Detail, Seconds, Setup, status_text};
use maxmargin::Svm;
use maxmargin::core::Status;
use maxmargin::cv::CvReport;
use serde::Serialize;

/// One cell.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CellDocument {
    pub(super) kernel: &'static str,
    pub(super) c: Option<f64>,
    pub(super) gamma: Option<f64>,
    pub(super) degree: Option<u32>,
    /// The score by the metric of the search.
    pub(super) score: Option<f64>,
    /// The tolerance of its trainings.
    eps: Option<f64>,
    gap: Option<f64>,
    /// True if that is the tolerance of the search.
    pub(super) exact: bool,
    /// The number of errors at which the cell was pruned.
    pub(super) at_least_errors: Option<usize>,
    #[serde(flatten)]
    pub(super) found: CvResults,
    /// Time summed over all threads.
    pub(super) seconds: f64,
    #[serde(skip)]
    pub(super) parts: Seconds,
}

/// The parameters of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Parameters {
    kernel: &'static str,
    pub(super) c: Option<f64>,
    gamma: Option<f64>,
    degree: Option<u32>,
    pub(super) score: Option<f64>,
}

/// `rbf, C = 2^3, gamma = 2^-1`
fn named(kernel: &str, c: Option<f64>, gamma: Option<f64>, degree: Option<u32>) -> String {
    let degree = degree.map(|degree| format!("degree = {degree}"));
    let number = |name: &str, value: Option<f64>| value.map(|value| format!("{name} = {}", format::power(value)));
    let all = [Some(kernel.to_owned()), degree, number("C", c), number("gamma", gamma)];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the parameters of an estimator without its C.
pub(super) fn parameters(svm: &Svm) -> String {
    let kernel = svm.kernel_given();
    named(kernel.name(), None, kernel.gamma(), degree(&kernel))
}

fn degree(kernel: &maxmargin::kernel::Kernel) -> Option<u32> {
    kernel.parameter("degree").map(|degree| degree as u32)
}

impl Parameters {
    /// Returns the parameters of an estimator whose gamma is a number.
    pub(super) fn of(svm: &Svm, score: Option<f64>) -> Self {
        let kernel = svm.kernel_given();
        Self { kernel: kernel.name(), c: svm.formulation().c(), gamma: kernel.gamma(), degree: degree(&kernel), score }
    }

    pub(super) fn text(&self) -> String {
        named(self.kernel, self.c, self.gamma, self.degree)
    }
}

impl CellDocument {
    pub(super) fn new(svm: &Svm, report: &CvReport, choice: &Choice, labels: &[f64], setup: &Setup, detail: Detail) -> Self {
        let kernel = svm.kernel_given();
        let found = CvResults::new(report, labels, setup, detail);
        let parts = CvResults::seconds(report);
        Self {
            kernel: kernel.name(),
            c: svm.formulation().c(),
            gamma: kernel.gamma().map(|gamma| setup.kernel.gamma_of_rule().unwrap_or(gamma)),
            degree: degree(&kernel),
            score: found.scores.get(choice.name()).copied().filter(|score| !score.is_nan()),
            eps: svm.resolved_goal().kkt(),
            gap: svm.resolved_goal().gap(),
            exact: (setup.eps, setup.gap) == (svm.resolved_goal().kkt(), svm.resolved_goal().gap()),
            at_least_errors: report.pruned,
            seconds: [parts.seed, parts.solve, parts.certify].into_iter().flatten().sum(),
            found,
            parts,
        }
    }

    pub(super) fn parameters(&self) -> Parameters {
        Parameters { kernel: self.kernel, c: self.c, gamma: self.gamma, degree: self.degree, score: self.score }
    }

    pub(super) fn converged(&self) -> bool {
        self.found.solved.status == Status::Converged
    }

    /// Returns the score for tables; `~` marks a looser tolerance.
    pub(super) fn score_text(&self, choice: &Choice) -> String {
        self.marked(choice.number(self.score))
    }

    /// Returns [`Self::score_text`] with fewer digits.
    pub(super) fn short_score_text(&self, choice: &Choice) -> String {
        self.marked(choice.short(self.score))
    }

    fn marked(&self, score: String) -> String {
        match self.at_least_errors {
            Some(_) => "pruned".to_owned(),
            None if self.exact => score,
            None => format!("~{score}"),
        }
    }

    /// Returns the status in words.
    pub(super) fn status_text(&self) -> String {
        let status = status_text(self.found.solved.status);
        match (self.at_least_errors, self.gap) {
            (Some(errors), _) => format!("pruned at {} errors", format::count(errors as u64)),
            (None, Some(gap)) if !self.exact => format!("{status} to a duality gap of {}", format::short(gap)),
            _ => status.to_owned(),
        }
    }

    pub(super) fn text(&self) -> String {
        named(self.kernel, self.c, self.gamma, self.degree)
    }

    /// Returns the warnings for a best cell at the edge of a range, each with the option of the
    /// range.
    pub(super) fn on_border(&self, ranges: &[Vec<f64>; 2]) -> Vec<(String, &'static str)> {
        let mut told = Vec::new();
        for ((name, option, value), range) in [("C", "-c", self.c), ("gamma", "-g", self.gamma)].into_iter().zip(ranges) {
            let (Some(value), [first, .., last]) = (value, &range[..]) else { continue };
            let side = if value == *first {
                "smallest"
            } else if value == *last {
                "largest"
            } else {
                continue;
            };
            let value = format::parameter(value);
            let what =
                format!("the best combination has the {side} {name} that was tried ({value}): the optimum may lie beyond it");
            told.push((what, option));
        }
        told
    }
}
