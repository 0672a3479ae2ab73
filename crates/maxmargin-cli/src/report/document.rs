//! The JSON documents.

use super::end::End;
use crate::linear::LinearDocument;
use maxmargin::core::{Certificate, Status};
use maxmargin::cv::{CvReport, FoldReport, FullReport};
use maxmargin::data::Dataset;
use maxmargin::kernel::Kernel;
use maxmargin::model::data_sha256;
use serde::Serialize;

/// A class and its size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ClassCount {
    pub(crate) label: f64,
    pub(crate) count: usize,
}

/// What a data set is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DataDocument {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) classes: Vec<ClassCount>,
    pub(crate) sha256: String,
}

impl DataDocument {
    pub(crate) fn new(name: &str, data: &Dataset) -> Self {
        Self {
            name: name.to_owned(),
            rows: data.samples.len(),
            features: data.samples.features(),
            classes: class_counts(&data.labels),
            sha256: crate::format::hex(&data_sha256(data)),
        }
    }
}

/// The different labels, ascending, and how often each occurs.
pub(crate) fn class_counts(labels: &[f64]) -> Vec<ClassCount> {
    let mut sorted = labels.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|run| ClassCount { label: run[0], count: run.len() }).collect()
}

/// A kernel and where its width came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct KernelDocument {
    #[serde(rename = "type")]
    pub(crate) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gamma_rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coef0: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) degree: Option<u32>,
}

impl KernelDocument {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        Self {
            name: kernel.name(),
            gamma: kernel.gamma(),
            gamma_rule: None,
            coef0: kernel.parameter("coef0"),
            degree: kernel.parameter("degree").map(|degree| degree as u32),
        }
    }

    /// `rbf, gamma 0.5 (auto)`
    pub(crate) fn text(&self) -> String {
        let exact = crate::format::exact;
        let gamma = self.gamma.map(|gamma| match self.gamma_rule {
            Some(rule) => format!("gamma {} ({rule})", exact(gamma)),
            None => format!("gamma {}", exact(gamma)),
        });
        let degree = self.degree.map(|degree| format!("degree {degree}"));
        let coef0 = self.coef0.map(|coef0| format!("coef0 {}", exact(coef0)));
        let name = Some(self.name.to_owned());
        [name, gamma, degree, coef0].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A certificate as documents show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Certified {
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) relative_gap: f64,
    pub(crate) kkt: f64,
    pub(crate) infeasible: f64,
    pub(crate) holds: bool,
}

impl Certified {
    pub(crate) fn new(certificate: &Certificate, eps: f64) -> Self {
        Self {
            primal: certificate.primal,
            dual: certificate.dual,
            relative_gap: certificate.relative_gap(),
            kkt: certificate.kkt,
            infeasible: certificate.infeasible,
            holds: certificate.holds(eps),
        }
    }
}

/// The word for a status, the same in JSON and in tables.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration_limit",
        Status::TimeLimit => "time_limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "stalled",
    }
}

/// `train`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TrainDocument {
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    /// Who solved the problem over kernel values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) solver: Option<&'static str>,
    /// How a linear SVM was trained without a kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) linear: Option<LinearDocument>,
    pub(crate) c: f64,
    pub(crate) weights: [f64; 2],
    pub(crate) eps: f64,
    pub(crate) scale: Option<&'static str>,
    pub(crate) status: Status,
    pub(crate) iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) kernel_bytes: u64,
    pub(crate) objective: f64,
    pub(crate) bias: f64,
    pub(crate) support_vectors: usize,
    pub(crate) bounded: usize,
    pub(crate) certificate: Certified,
    pub(crate) model: String,
    pub(crate) read_seconds: f64,
    /// Of the solver's time, what went into kernel rows.
    pub(crate) kernel_seconds: f64,
    pub(crate) solve_seconds: f64,
    pub(crate) total_seconds: f64,
    #[serde(flatten)]
    pub(crate) end: End,
}

/// `cv` and `loo`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CvDocument {
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    /// How a linear SVM was trained without a kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) linear: Option<LinearDocument>,
    pub(crate) c: f64,
    pub(crate) weights: [f64; 2],
    pub(crate) eps: f64,
    pub(crate) scale: Option<&'static str>,
    pub(crate) k: usize,
    pub(crate) fold_plan: String,
    pub(crate) seeding: String,
    pub(crate) seed: u64,
    pub(crate) status: Status,
    pub(crate) folds: Vec<FoldReport>,
    pub(crate) full: Option<FullReport>,
    pub(crate) accuracy: f64,
    pub(crate) correct: usize,
    pub(crate) confusion: Confusion,
    pub(crate) iterations: u64,
    pub(crate) seed_steps: u64,
    pub(crate) total_iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) kernel_bytes: u64,
    pub(crate) read_seconds: f64,
    pub(crate) kernel_seconds: f64,
    pub(crate) seed_seconds: f64,
    pub(crate) solve_seconds: f64,
    pub(crate) certify_seconds: f64,
    pub(crate) total_seconds: f64,
    #[serde(flatten)]
    pub(crate) end: End,
}

/// How labels and decisions agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Confusion {
    pub(crate) true_positive: usize,
    pub(crate) false_positive: usize,
    pub(crate) true_negative: usize,
    pub(crate) false_negative: usize,
}

impl Confusion {
    /// Counts rows whose label is one of the two classes.
    pub(crate) fn count(labels: &[f64], decisions: &[f64], negative: f64, positive: f64) -> Self {
        let mut counts = Self::default();
        for (&label, &decision) in labels.iter().zip(decisions) {
            let says_positive = decision >= 0.0;
            if label == positive {
                counts.true_positive += usize::from(says_positive);
                counts.false_negative += usize::from(!says_positive);
            } else if label == negative {
                counts.false_positive += usize::from(says_positive);
                counts.true_negative += usize::from(!says_positive);
            }
        }
        counts
    }

    pub(crate) fn correct(&self) -> usize {
        self.true_positive + self.true_negative
    }
}

impl CvDocument {
    /// Seconds that all threads together spent in seeds and in solving.
    pub(crate) fn split(report: &CvReport) -> (f64, f64) {
        let seed = report.folds.iter().map(|f| f.seed_seconds).sum();
        let solve: f64 = report.folds.iter().map(|f| f.solve_seconds).sum();
        (seed, solve + report.full.as_ref().map_or(0.0, |f| f.solve_seconds))
    }
}
