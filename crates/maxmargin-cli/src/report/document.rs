//! What the JSON documents of all commands are made of; docs/json.md describes every key.

use super::certificate::CertifiedTraining;
use super::kernel::KernelDocument;
use super::tabular::TableDocument;
use crate::console::format;
use crate::console::notes::Notes;
use crate::machine::memory;
use crate::machine::threads::Threads;
use maxmargin::core::{BiasTerm, Formulation, Goal, Loss, Status, TargetKind};
use maxmargin::cv::{CertificateReport, MachineReport};
use maxmargin::data::scale::Method;
use maxmargin::data::{Dataset, Encoder, Impute};
use maxmargin::kernel::fallbacks;
use maxmargin::model::{Model, Multiclass, data_sha256};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the documents.
pub(crate) const SCHEMA: u32 = 1;

/// What the solvers count besides iterations, by name.
pub(crate) type Work = BTreeMap<&'static str, u64>;

/// A class and its size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ClassCount {
    pub(crate) label: f64,
    pub(crate) count: usize,
}

/// What the values of a regression are like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct TargetDocument {
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    pub(crate) mean: f64,
    /// Standard deviation.
    pub(crate) deviation: f64,
}

impl TargetDocument {
    /// None where no row has a value.
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

/// What a data set is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DataDocument {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    /// Labels ascending; none where labels are values, or nobody's business.
    pub(crate) classes: Vec<ClassCount>,
    /// The labels as values, where they are.
    pub(crate) target: Option<TargetDocument>,
    pub(crate) sha256: String,
    /// Where it is of a table.
    pub(crate) table: Option<TableDocument>,
}

impl DataDocument {
    pub(crate) fn new(name: &str, data: &Dataset) -> Self {
        // −0 is 0, and rows that are there to be predicted have no label.
        let mut sorted: Vec<f64> = data.labels.iter().map(|label| label + 0.0).filter(|label| !label.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            name: name.to_owned(),
            rows: data.samples.len(),
            // Behind the features of a table's columns are marks of its gaps, which no kernel sees.
            features: data.columns.as_ref().map_or_else(|| data.samples.features(), |columns| columns.width()),
            classes: sorted.chunk_by(|a, b| a == b).map(|run| ClassCount { label: run[0], count: run.len() }).collect(),
            target: None,
            sha256: crate::console::format::hex(&data_sha256(data)),
            table: data.columns.as_deref().map(TableDocument::of),
        }
    }

    /// The same as a formulation with these needs sees it: labels are classes, values, or, where
    /// they are ±1, sides of one class.
    pub(crate) fn seen(name: &str, data: &Dataset, needs: TargetKind) -> Self {
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

/// Which support vector machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FormulationDocument {
    name: &'static str,
    #[serde(skip)]
    pub(crate) needs: TargetKind,
    pub(crate) c: Option<f64>,
    pub(crate) epsilon: Option<f64>,
    pub(crate) nu: Option<f64>,
    loss: Loss,
    /// As the option spells it: `free`, `none` or the value of the feature.
    bias: String,
}

impl FormulationDocument {
    /// A formulation with this C, or with many.
    pub(crate) fn new(formulation: Formulation, c: Option<f64>) -> Self {
        let bias = match formulation.bias_term() {
            BiasTerm::Free => "free".to_owned(),
            BiasTerm::None => "none".to_owned(),
            BiasTerm::Feature(value) => crate::console::format::exact(value),
        };
        let c = c.filter(|_| formulation.c().is_some());
        let needs = formulation.target_kind();
        Self {
            name: formulation.name(),
            needs,
            c,
            epsilon: formulation.epsilon(),
            nu: formulation.nu(),
            loss: formulation.loss(),
            bias,
        }
    }

    /// `hinge loss, free bias`; `epsilon-svr, epsilon 0.1, hinge loss, free bias`
    pub(crate) fn text(&self) -> String {
        let exact = crate::console::format::exact;
        if let Some(nu) = self.nu {
            return format!("{}, nu {}", self.name, exact(nu));
        }
        let width = self.epsilon.map_or_else(String::new, |epsilon| format!("{}, epsilon {}, ", self.name, exact(epsilon)));
        width + &self.loss_text()
    }

    fn loss_text(&self) -> String {
        let loss = match self.loss {
            Loss::Hinge => "hinge loss",
            Loss::SquaredHinge => "squared hinge loss",
        };
        match self.bias.as_str() {
            "free" => format!("{loss}, free bias"),
            "none" => format!("{loss}, no bias"),
            value => format!("{loss}, bias as a feature of value {value}"),
        }
    }
}

/// What factors of C for the samples are like.
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

/// What was asked: the beginning of every document about models.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Setup {
    pub(crate) schema: u32,
    pub(crate) command: &'static str,
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    pub(crate) formulation: FormulationDocument,
    pub(crate) solver: String,
    /// Which classes machines tell apart, where there are classes.
    pub(crate) multiclass: Option<Multiclass>,
    /// A factor of C for each class.
    pub(crate) weights: Vec<f64>,
    /// Factors of C for the samples, where there are any.
    pub(crate) sample_weights: Option<SampleWeights>,
    /// The KKT violation that was asked for.
    pub(crate) eps: Option<f64>,
    /// The relative gap that was asked for.
    pub(crate) gap: Option<f64>,
    pub(crate) scale: Option<&'static str>,
    /// How missing values are filled in, where they are.
    pub(crate) impute: Option<&'static str>,
    pub(crate) seed: Option<u64>,
}

impl Setup {
    /// What a stored model was asked for: a formulation, factors of C for its classes, and the
    /// goal.
    pub(crate) fn of_model(
        command: &'static str,
        data: DataDocument,
        model: &Model,
        (formulation, weights): (Formulation, Vec<f64>),
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

    /// `eps 0.001`, `gap 0.001`, or both.
    pub(crate) fn goal_text(&self) -> String {
        goal_text(self.eps, self.gap)
    }

    /// The labels that machines tell apart, and how; none where there are no classes.
    pub(crate) fn sides(&self) -> (Vec<f64>, Multiclass) {
        (self.labels(), self.multiclass.unwrap_or_default())
    }

    /// The labels that machines tell apart; none where there are no classes.
    pub(crate) fn labels(&self) -> Vec<f64> {
        if self.formulation.needs == TargetKind::Classes { self.data.labels() } else { Vec::new() }
    }

    /// Whether machines are solved without a kernel.
    pub(crate) fn over_features(&self) -> bool {
        self.solver.parse().is_ok_and(maxmargin::Solver::is_linear)
    }
}

/// Returns the name of a scaling method, as options spell it.
pub(crate) fn scale_name(method: Method) -> &'static str {
    match method {
        Method::MinMax { .. } => "minmax",
        Method::Standard => "standard",
        Method::Given => "given",
    }
}

/// `eps 0.001`, `gap 0.001`, or both.
pub(crate) fn goal_text(eps: Option<f64>, gap: Option<f64>) -> String {
    let named = |(name, asked): (&str, Option<f64>)| asked.map(|asked| format!("{name} {}", format::exact(asked)));
    [("eps", eps), ("gap", gap)].into_iter().filter_map(named).collect::<Vec<_>>().join(", ")
}

/// One machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MachineDocument {
    /// The label below 0, where there are classes; none where that is all the others.
    pub(crate) negative: Option<f64>,
    /// The label from 0 on.
    pub(crate) positive: Option<f64>,
    #[serde(flatten)]
    pub(crate) report: MachineReport,
}

impl MachineDocument {
    /// `-1 and 1`, `1 and the rest`, or `all`
    pub(crate) fn name(negative: Option<f64>, positive: Option<f64>) -> String {
        let exact = crate::console::label_names::shown;
        match (negative, positive) {
            (Some(a), Some(b)) => format!("{} and {}", exact(a), exact(b)),
            (None, Some(b)) => format!("{} and the rest", exact(b)),
            _ => "all".to_owned(),
        }
    }

    /// The certificates of machines, each with the number of its samples.
    pub(crate) fn certified(machines: &[Self]) -> Vec<CertifiedTraining> {
        let one = |machine: &Self| CertifiedTraining { certificate: machine.report.certificate, samples: machine.report.train };
        machines.iter().map(one).collect()
    }

    /// Machines with the labels that they decide between.
    pub(crate) fn of((classes, multiclass): (&[f64], Multiclass), reports: &[MachineReport]) -> Vec<Self> {
        let labels = multiclass.sides(classes.len());
        let named = |report: &MachineReport| {
            let sides = labels.get(report.machine);
            let (negative, positive) = (sides.and_then(|sides| sides.0), sides.map(|sides| sides.1));
            let label = |class: Option<usize>| class.map(|class| classes[class]);
            Self { negative: label(negative), positive: label(positive), report: report.clone() }
        };
        reports.iter().map(named).collect()
    }

    /// Machine `p` of a stored model, judged anew; what only its training can know is what its
    /// record says.
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

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SolutionDocument {
    pub(crate) status: Status,
    /// Of the worst machine.
    pub(crate) certificate: Option<CertificateReport>,
    pub(crate) machines: Vec<MachineDocument>,
    pub(crate) iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) kernel_bytes: u64,
    pub(crate) support_vectors: usize,
    pub(crate) work: Work,
}

/// Where the time went; none where that was not measured apart.
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

/// What every document ends with: the means that a run had, and what it warned of.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct End {
    pub(crate) peak_rss_bytes: u64,
    pub(crate) threads: usize,
    version: &'static str,
    pub(crate) warnings: Vec<String>,
}

impl End {
    /// As things are at the end of a run, where kernel values that were wrong are told of.
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
