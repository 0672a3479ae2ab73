//! The parts of the JSON documents of all commands; docs/json.md describes every key.

use super::certificate::CertifiedTraining;
use super::formulation::FormulationDocument;
use super::kernel::KernelDocument;
use super::machine_name::{MachineName, MachineNames};
use super::tabular::TableDocument;
use crate::console::format;
use crate::console::notes::Notes;
use crate::machine::memory;
use crate::machine::threads::Threads;
use maxmargin::core::{Formulation, Goal, Status, TargetKind};
use maxmargin::cv::{CertificateReport, MachineReport};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{Dataset, Encoder, Impute};
use maxmargin::kernel::fallbacks;
use maxmargin::model::{Model, Multiclass, data_sha256};
use serde::Serialize;
use std::collections::BTreeMap;

/// The detail of a document about folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Each fold with its worst certificate.
    Folds,
    /// Each fold with every machine.
    Machines,
}

/// The version of the document format.
pub(crate) const SCHEMA: u32 = 1;

/// Counters of the solvers besides iterations, by name.
pub(crate) type Work = BTreeMap<&'static str, u64>;

/// A class and its size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ClassCount {
    pub(crate) label: f64,
    pub(crate) count: usize,
}

/// Statistics of the targets of a regression.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct TargetDocument {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    pub(crate) mean: f64,
    /// Standard deviation.
    pub(crate) deviation: f64,
}

impl TargetDocument {
    /// Returns None if no row has a value.
    fn of(values: &[f64]) -> Option<Self> {
        let values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (!values.is_empty()).then(|| Self {
            minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
            maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean,
            deviation: (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt(),
        })
    }
}

/// A data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DataDocument {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    /// Classes by ascending label; empty where labels are values or ignored.
    pub(crate) classes: Vec<ClassCount>,
    /// Statistics of the labels, where they are values.
    pub(crate) target: Option<TargetDocument>,
    pub(crate) sha256: String,
    /// The columns, for a table.
    pub(crate) table: Option<TableDocument>,
}

impl DataDocument {
    pub(crate) fn new(name: &str, data: &Dataset) -> Self {
        // −0 counts as 0, and rows to predict have no label.
        let mut sorted: Vec<f64> = data.labels.iter().map(|label| label + 0.0).filter(|label| !label.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            name: name.to_owned(),
            rows: data.samples.len(),
            // The features of a table's columns are followed by markers of missing values, which no
            // kernel sees.
            features: data.columns.as_ref().map_or_else(|| data.samples.features(), |columns| columns.width()),
            classes: sorted.chunk_by(|a, b| a == b).map(|run| ClassCount { label: run[0], count: run.len() }).collect(),
            target: None,
            sha256: crate::console::format::hex(&data_sha256(data)),
            table: data.columns.as_deref().map(TableDocument::of),
        }
    }

    /// Describes a data set for a formulation with this kind of target: labels are classes, values,
    /// or inlier and outlier of one class where they are ±1.
    pub(crate) fn for_target(name: &str, data: &Dataset, needs: TargetKind) -> Self {
        let plain = Self::new(name, data);
        match needs {
            TargetKind::Classes => plain,
            TargetKind::Values => Self { classes: Vec::new(), target: TargetDocument::of(&data.labels), ..plain },
            TargetKind::Nothing if plain.classes.iter().all(|class| class.label.abs() == 1.0) => plain,
            TargetKind::Nothing => Self { classes: Vec::new(), ..plain },
        }
    }

    pub(crate) fn labels(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.label).collect()
    }
}

/// Statistics of the factors of C for the samples.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SampleWeights {
    minimum: f64,
    maximum: f64,
    sum: f64,
}

impl SampleWeights {
    pub(crate) fn of(weights: &[f64]) -> Self {
        let (minimum, maximum) = weights.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), w| (low.min(*w), high.max(*w)));
        Self { minimum, maximum, sum: weights.iter().sum() }
    }
}

/// The problem: the beginning of every document about models.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Setup {
    pub(crate) schema: u32,
    pub(crate) command: &'static str,
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    pub(crate) formulation: FormulationDocument,
    pub(crate) solver: String,
    /// The multiclass scheme, where there are classes.
    pub(crate) multiclass: Option<Multiclass>,
    /// A factor of C for each class.
    pub(crate) weights: Vec<f64>,
    /// Factors of C for the samples, if there are any.
    pub(crate) sample_weights: Option<SampleWeights>,
    /// The tolerance on the KKT violation.
    pub(crate) eps: Option<f64>,
    /// The tolerance on the relative duality gap.
    pub(crate) gap: Option<f64>,
    pub(crate) scale: Option<&'static str>,
    /// The imputation method, if there is one.
    pub(crate) impute: Option<&'static str>,
    pub(crate) seed: Option<u64>,
}

impl Setup {
    /// Describes the problem of a stored model: its formulation, factors of C for its classes, and
    /// its goal.
    pub(crate) fn of_model(
        command: &'static str,
        data: DataDocument,
        model: &Model,
        formulation: Formulation,
        weights: Vec<f64>,
        goal: Goal,
    ) -> Self {
        let record = model.record();
        Self {
            schema: SCHEMA,
            command,
            data,
            kernel: KernelDocument::new(model.kernel()),
            formulation: FormulationDocument::new(formulation, formulation.c()),
            solver: record.map_or_else(String::new, |r| r.solver.clone()),
            multiclass: (!model.classes().is_empty()).then(|| model.multiclass()),
            weights,
            sample_weights: record.and_then(|r| r.sample_weights.as_deref()).map(SampleWeights::of),
            eps: goal.kkt(),
            gap: goal.gap(),
            scale: model.parts().scaler.as_ref().map(|scaler| scale_name(scaler.method())),
            impute: model.parts().encoder.as_ref().and_then(Encoder::impute).map(Impute::name),
            seed: None,
        }
    }

    /// Returns `eps 0.001`, `gap 0.001`, or both.
    pub(crate) fn goal_text(&self) -> String {
        goal_text(self.eps, self.gap)
    }

    /// Returns the names of the machines.
    pub(crate) fn machine_names(&self) -> MachineNames {
        MachineNames::new(self.labels(), self.multiclass.unwrap_or_default(), &self.formulation.levels)
    }

    /// Returns the labels of the classes; none without classes.
    pub(crate) fn labels(&self) -> Vec<f64> {
        if self.formulation.purpose.target_kind == TargetKind::Classes { self.data.labels() } else { Vec::new() }
    }

    /// Returns whether the solver is linear.
    pub(crate) fn over_features(&self) -> bool {
        self.solver.parse().is_ok_and(maxmargin::Solver::is_linear)
    }
}

/// Returns the name of a scaling method, as options spell it.
pub(crate) fn scale_name(method: ScaleMethod) -> &'static str {
    match method {
        ScaleMethod::MinMax { .. } => "minmax",
        ScaleMethod::Standard => "standard",
        ScaleMethod::Given => "given",
        ScaleMethod::Centre => "centre",
    }
}

/// Returns `eps 0.001`, `gap 0.001`, or both.
pub(crate) fn goal_text(eps: Option<f64>, gap: Option<f64>) -> String {
    let named = |(name, asked): (&str, Option<f64>)| asked.map(|asked| format!("{name} {}", format::exact(asked)));
    [("eps", eps), ("gap", gap)].into_iter().filter_map(named).collect::<Vec<_>>().join(", ")
}

/// One machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MachineDocument {
    #[serde(flatten)]
    pub(crate) name: MachineName,
    #[serde(flatten)]
    pub(crate) report: MachineReport,
}

impl MachineDocument {
    /// The certificates of machines, each with the number of its samples.
    pub(crate) fn certified(machines: &[Self]) -> Vec<CertifiedTraining> {
        let one = |machine: &Self| CertifiedTraining { certificate: machine.report.certificate, samples: machine.report.train };
        machines.iter().map(one).collect()
    }

    /// Describes machines with their names.
    pub(crate) fn of(names: &MachineNames, reports: &[MachineReport]) -> Vec<Self> {
        reports.iter().map(|report| Self { name: names.name(report.machine), report: report.clone() }).collect()
    }

    /// Reports machine `p` of a stored model with a new certificate. Facts that only the training
    /// knows come from its record.
    pub(crate) fn stored(model: &Model, p: usize, certificate: CertificateReport, labels: &[f64]) -> MachineReport {
        let (machine, record) = (&model.machines()[p], model.record().map(|r| &r.machines[p]));
        let sides = model.sides(p);
        let is_of = |label: &&f64| sides.is_none_or(|(a, b)| **label == b || a.is_none_or(|a| **label == a));
        MachineReport {
            machine: p,
            train: labels.iter().filter(is_of).count(),
            status: record.map_or(Status::Converged, |r| r.status),
            iterations: record.map_or(0, |r| r.iterations),
            rows_computed: 0,
            seed_steps: 0,
            breakpoints: 0,
            seed_seconds: 0.0,
            solve_seconds: 0.0,
            objective: -certificate.dual,
            bias: machine.bias,
            support_vectors: record.map_or(machine.coef.len(), |r| r.rows.len()),
            bounded: record.map_or(0, |r| r.bounded as usize),
            certificate,
        }
    }
}

/// The solution.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SolutionDocument {
    pub(crate) status: Status,
    /// The certificate of the worst machine.
    pub(crate) certificate: Option<CertificateReport>,
    pub(crate) machines: Vec<MachineDocument>,
    pub(crate) iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) kernel_bytes: u64,
    pub(crate) support_vectors: usize,
    pub(crate) work: Work,
}

/// The time of each phase; None where it was not measured separately.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Seconds {
    #[serde(rename = "read_seconds")]
    pub(crate) read: f64,
    #[serde(rename = "kernel_seconds")]
    pub(crate) kernel: Option<f64>,
    #[serde(rename = "seed_seconds")]
    pub(crate) seed: Option<f64>,
    #[serde(rename = "solve_seconds")]
    pub(crate) solve: Option<f64>,
    #[serde(rename = "certify_seconds")]
    pub(crate) certify: Option<f64>,
    #[serde(rename = "total_seconds")]
    pub(crate) total: f64,
}

/// The end of every document: the resources of the run, and its warnings.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct End {
    pub(crate) peak_rss_bytes: u64,
    pub(crate) threads: usize,
    version: &'static str,
    pub(crate) warnings: Vec<String>,
}

impl End {
    /// The state at the end of a run. Warns of SIMD passes that had to be replaced.
    pub(crate) fn now(threads: &Threads, notes: &mut Notes) -> Self {
        fallbacks().iter().for_each(|fallback| notes.warn(fallback.to_string()));
        Self {
            peak_rss_bytes: memory::peak(),
            threads: threads.count(),
            version: env!("CARGO_PKG_VERSION"),
            warnings: notes.warnings().to_vec(),
        }
    }
}
