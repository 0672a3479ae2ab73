//! `info`: what a data set or a model file holds.

use crate::args::InfoArgs;
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::files::input::{self, GapRule, Input, MaxSize, Requirements};
use crate::files::model_file;
use crate::files::output::show;
use crate::files::signature::looks_like_model;
use crate::machine::threads::Threads;
use crate::report::{
    Align, DataDocument, FormulationDocument, KernelDocument, MachineName, MachineNames, ModelColumn, SCHEMA, SHOWN,
    TableDocument, advice, columns, columns_table, data_line, fields, goal_text, model_columns, model_columns_table,
    scaling_text, status_text,
};
use maxmargin::core::{Formulation, Loss, Status};
use maxmargin::cv::CertificateReport;
use maxmargin::data::table::{ColumnSummary, describe};
use maxmargin::data::{Dataset, Encoder, FeatureRanges, Impute, Samples, Storage, inspect};
use maxmargin::model::{Calibration, DecisionRule, MachineRecord, Model, Multiclass, Record};
use maxmargin::{LinearMachineReport, LinearRecord, Solver};
use serde::Serialize;
use std::borrow::Cow;
use std::fs;

#[derive(Debug, Serialize)]
struct DataInfo {
    schema: u32,
    command: &'static str,
    data: DataDocument,
    non_zeros: usize,
    density: f64,
    storage: &'static str,
    storage_bytes: u64,
    index_base: u32,
    groups: Option<usize>,
    minimum: f64,
    maximum: f64,
    constant_features: usize,
    median_range: f64,
    read_seconds: f64,
    /// The statistics of each column of a table.
    columns: Vec<ColumnSummary>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ModelInfo {
    schema: u32,
    command: &'static str,
    model: String,
    kernel: KernelDocument,
    /// The rule that turns decision values into labels.
    decision_rule: DecisionRule,
    /// The multiclass scheme.
    multiclass: Multiclass,
    /// The calibration, if any: `platt`, `isotonic`, `laplace` or `marks`.
    calibration: Option<&'static str>,
    threshold: Option<f64>,
    classes: Vec<f64>,
    support_vectors: usize,
    features: usize,
    index_base: u32,
    scaling: Option<String>,
    impute: Option<&'static str>,
    /// The columns of a model that was trained on a table.
    table: Option<TableDocument>,
    columns: Vec<ModelColumn>,
    training: Option<TrainingInfo>,
    machines: Vec<MachineInfo>,
    sections: Vec<String>,
}

#[derive(Debug, Serialize)]
struct TrainingInfo {
    rows: u64,
    features: u64,
    sha256: String,
    formulation: FormulationDocument,
    solver: String,
    weights: Vec<f64>,
    eps: Option<f64>,
    gap: Option<f64>,
    status: Status,
    iterations: u64,
    certificate: Option<CertificateReport>,
}

#[derive(Debug, Serialize)]
struct MachineInfo {
    #[serde(flatten)]
    name: MachineName,
    bias: f64,
    support_vectors: usize,
    coefficient_sum: f64,
    largest_coefficient: f64,
    w_norm: Option<f64>,
    status: Option<Status>,
    iterations: Option<u64>,
    bounded: Option<u64>,
    certificate: Option<CertificateReport>,
}

pub(crate) fn run(args: &InfoArgs) -> Result<Outcome, Failure> {
    let mut notes = Notes::new(args.quiet);
    let source = &args.data.source;
    let mut request = args.data.request();
    if source == "-" || fs::metadata(source).is_ok_and(|found| !found.is_dir()) {
        // A pipe is read once, whatever it holds.
        let bytes = input::read_bytes(source, MaxSize::of(args.data.options.max_size))?;
        if looks_like_model(&bytes) {
            let name = input::display_name(source);
            show(&model_info(&name, &model_file::decode(&name, &bytes)?), args.json, model_text, None)?;
            return Ok(Outcome::Finished);
        }
        request.options.content = Some(bytes);
    }
    let threads = Threads::new(None)?;
    let input =
        input::load(&request, &Requirements { gaps: GapRule::Described, ..Requirements::default() }, threads.par(), &mut notes)?;
    input.data.columns.as_deref().into_iter().for_each(label_names::remember);
    let columns = describe(&input.data);
    let samples = features(&input.data);
    let ranges = ranges_of_present(&input, &samples, &columns);
    if let Some(warning) = ranges.warning(|feature| input.feature_name(feature)) {
        notes.warn(warning);
    }
    let info = data_info(&input, &samples, &ranges, columns, &notes);
    show(&info, args.json, data_text, None)?;
    Ok(Outcome::Finished)
}

/// Returns the features alone. Those of a table are followed by marks of missing values, which no
/// kernel sees.
fn features(data: &Dataset) -> Cow<'_, Samples> {
    match &data.columns {
        Some(columns) if columns.width() < data.samples.features() => {
            Cow::Owned(data.samples.clone().with_features(columns.width()))
        }
        _ => Cow::Borrowed(&data.samples),
    }
}

/// Returns the ranges of the features. Missing values are stored as 0 and belong to no range.
fn ranges_of_present(input: &Input, samples: &Samples, summaries: &[ColumnSummary]) -> FeatureRanges {
    let mut ranges = inspect(samples);
    let (Some(columns), Some(widest)) = (input.data.columns.as_deref(), &mut ranges.widest) else { return ranges };
    for (c, summary) in summaries.iter().enumerate() {
        if let (Some(min), Some(max)) = (summary.minimum, summary.maximum)
            && columns.features_of(c).contains(&widest.feature)
        {
            (widest.min, widest.max) = (min, max);
        }
    }
    ranges
}

fn data_info(input: &Input, samples: &Samples, ranges: &FeatureRanges, columns: Vec<ColumnSummary>, notes: &Notes) -> DataInfo {
    let (storage, storage_bytes) = storage(samples);
    let non_zeros = samples.non_zeros();
    let groups = input.data.groups.as_ref().map(|groups| {
        let mut sorted = groups.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len()
    });
    DataInfo {
        schema: SCHEMA,
        command: "info",
        data: DataDocument::new(&input.name, &input.data),
        non_zeros,
        density: non_zeros as f64 / (samples.len() as f64 * samples.features() as f64).max(1.0),
        storage,
        storage_bytes,
        index_base: input.data.index_base,
        groups,
        minimum: ranges.min,
        maximum: ranges.max,
        constant_features: ranges.constant,
        median_range: ranges.median_width,
        read_seconds: input.seconds,
        columns,
        warnings: notes.warnings().to_vec(),
    }
}

fn storage(samples: &Samples) -> (&'static str, u64) {
    match samples.storage() {
        Storage::Dense32(values) => ("dense, f32", 4 * values.len() as u64),
        Storage::Dense64(values) => ("dense, f64", 8 * values.len() as u64),
        Storage::Sparse(matrix) => ("sparse rows, f64", 12 * matrix.nnz() as u64 + 8 * (samples.len() as u64 + 1)),
    }
}

fn data_text(d: &DataInfo) -> String {
    let constant = format::counted(d.constant_features as u64, "constant feature");
    let mut rows = vec![
        ("density", format!("{} % ({} non-zero values)", format::short(100.0 * d.density), format::count(d.non_zeros as u64))),
        ("values", format!("{} to {}", format::short(d.minimum), format::short(d.maximum))),
        ("median range", format!("{} ({constant})", format::short(d.median_range))),
        ("storage", format!("{}, {}", d.storage, format::bytes(d.storage_bytes))),
        ("first index", d.index_base.to_string()),
        ("read time", format::seconds(d.read_seconds)),
        ("sha256", d.data.sha256.clone()),
    ];
    if let Some(groups) = d.groups {
        rows.insert(0, ("groups", format::count(groups as u64)));
    }
    data_line(&d.data) + &fields(&rows) + &columns_table(&d.columns)
}

fn model_info(name: &str, model: &Model) -> ModelInfo {
    let names = MachineNames::of(model);
    let parts = model.parts();
    let tag = |tag: &[u8; 8]| String::from_utf8_lossy(tag).trim_end_matches('\0').to_owned();
    ModelInfo {
        schema: SCHEMA,
        command: "info",
        model: name.to_owned(),
        kernel: KernelDocument::new(&parts.kernel),
        decision_rule: parts.decision_rule,
        multiclass: parts.multiclass,
        calibration: parts.calibration.first().map(Calibration::name),
        threshold: parts.threshold,
        classes: parts.classes.clone(),
        support_vectors: model.support_vectors(),
        features: features_of(model, model.features() as u64) as usize,
        index_base: parts.index_base,
        scaling: parts.scaler.as_ref().map(scaling_text),
        impute: parts.encoder.as_ref().and_then(Encoder::impute).map(Impute::name),
        table: model.columns().map(TableDocument::of),
        columns: model_columns(model),
        training: training_info(model),
        machines: (0..model.machines().len()).map(|p| machine_info(model, &names, p)).collect(),
        sections: parts.sections.iter().map(|s| format!("{} ({})", tag(&s.tag), format::bytes(s.bytes.len() as u64))).collect(),
    }
}

/// Returns the record of the training; `None` if the file has none.
fn training_info(model: &Model) -> Option<TrainingInfo> {
    let Some(r) = model.record() else { return linear_training_info(model, &LinearRecord::of(model).ok()??) };
    Some(TrainingInfo {
        rows: r.rows,
        features: features_of(model, r.features),
        sha256: format::hex(&r.data_sha256),
        formulation: FormulationDocument::new(r.formulation, r.formulation.c()).with_levels(model.levels()),
        solver: r.solver.clone(),
        weights: r.weights.clone(),
        eps: r.goal().kkt(),
        gap: r.goal().gap(),
        status: r.status(),
        iterations: r.iterations(),
        certificate: r.machines.iter().map(|m| claimed(r, m)).reduce(CertificateReport::worse),
    })
}

/// Returns the number of features of a model: without the marks of gaps that a table has besides.
fn features_of(model: &Model, all: u64) -> u64 {
    model.columns().map_or(all, |columns| columns.width() as u64)
}

fn linear_training_info(model: &Model, record: &LinearRecord) -> Option<TrainingInfo> {
    let formulation = Formulation::Svc { c: record.c, loss: Loss::Hinge, bias_term: record.bias_term };
    let met = |m: &LinearMachineReport| record.goal.met_as_kept(m.status, &m.certificate);
    let certificates = record.machines.iter().map(|m| CertificateReport::new(&m.certificate, met(m)));
    Some(TrainingInfo {
        rows: record.rows,
        features: features_of(model, record.features),
        sha256: format::hex(&record.data_sha256),
        formulation: FormulationDocument::new(formulation, Some(record.c)).with_objective(Some(record.objective)),
        solver: Solver::Linear.name().to_owned(),
        weights: record.weights.clone(),
        eps: record.goal.kkt(),
        gap: record.goal.gap(),
        status: record.machines.iter().map(|m| m.status).reduce(Status::worse)?,
        iterations: record.machines.iter().map(|m| m.work.steps.max(m.work.newton_steps)).sum(),
        certificate: certificates.reduce(CertificateReport::worse),
    })
}

/// Returns the certificate that a file stores for a machine.
fn claimed(record: &Record, machine: &MachineRecord) -> CertificateReport {
    CertificateReport::new(&machine.certificate, machine.meets(record.goal()))
}

fn machine_info(model: &Model, names: &MachineNames, p: usize) -> MachineInfo {
    let (machine, record) = (&model.machines()[p], model.record());
    let training = record.map(|r| &r.machines[p]);
    let coef = training.and_then(|t| t.folded.as_ref()).unwrap_or(&machine.coef);
    MachineInfo {
        name: names.name(p),
        bias: machine.bias,
        support_vectors: coef.len(),
        coefficient_sum: coef.iter().map(|c| c.abs()).sum(),
        largest_coefficient: coef.iter().fold(0.0, |m, c| c.abs().max(m)),
        w_norm: model.weights(p).map(|w| w.iter().map(|v| v * v).sum::<f64>().sqrt()),
        status: training.map(|t| t.status),
        iterations: training.map(|t| t.iterations),
        bounded: training.map(|t| t.bounded),
        certificate: record.zip(training).map(|(record, training)| claimed(record, training)),
    }
}

fn model_text(d: &ModelInfo) -> String {
    let classes: Vec<String> = d.classes.iter().map(|c| label_names::display(*c)).collect();
    let mut rows = vec![
        ("kernel", d.kernel.text()),
        ("classes", if classes.is_empty() { "none".to_owned() } else { format!("{}: {}", classes.len(), classes.join(", ")) }),
        ("support vectors", format::count(d.support_vectors as u64)),
        ("features", format!("{}, first index {}", format::count(d.features as u64), d.index_base)),
        ("scaling", d.scaling.clone().unwrap_or_else(|| "none".to_owned())),
    ];
    match &d.training {
        None => rows.push(("training", "not recorded (a LIBSVM model)".to_owned())),
        Some(t) => {
            let weights: Vec<String> = t.weights.iter().map(|w| format::parameter(*w)).collect();
            let c = t.formulation.c.map_or_else(|| "none".to_owned(), format::exact);
            rows.extend([
                ("trained on", format!("{} rows, {} features", format::count(t.rows), format::count(t.features))),
                ("sha256", t.sha256.clone()),
                ("solver", format!("{}; {}", t.solver, t.formulation.text())),
                ("C, weights, goal", format!("{c}; {}; {}", weights.join(", "), goal_text(t.eps, t.gap))),
                ("status", format!("{} after {} iterations", status_text(t.status), format::count(t.iterations))),
            ]);
            rows.extend(t.certificate.map(|c| {
                let (kkt, gap) = (format::bound(c.kkt), format::known_bound(c.relative_gap));
                let advice =
                    if t.formulation.lacks_margin([&c].into_iter()) { format!("; {}", advice::NO_MARGIN) } else { String::new() };
                ("certificate", format!("KKT {kkt}, duality gap {gap} (as stored; `verify` recomputes it){advice}"))
            }));
        }
    }
    rows.extend(d.calibration.map(|name| ("probabilities", name.to_owned())));
    if let (Some(threshold), [_, second]) = (d.threshold, &d.classes[..]) {
        let unused = if d.decision_rule == DecisionRule::Threshold { "" } else { " (not used for labels)" };
        rows.push(("threshold", format!("class {} from {} on{unused}", label_names::display(*second), format::short(threshold))));
    }
    if !d.sections.is_empty() {
        rows.push(("sections", d.sections.join(", ")));
    }
    let what = match d.decision_rule {
        DecisionRule::Value => "for regression".to_owned(),
        DecisionRule::Inlier => "for one class".to_owned(),
        _ => format!("for {} classes", d.classes.len()),
    };
    format!("{}: support vector machine {what}\n", d.model)
        + &fields(&rows)
        + &model_columns_table(&d.columns)
        + &machines_text(&d.machines)
}

/// Returns a table of the machines, if they are few.
fn machines_text(machines: &[MachineInfo]) -> String {
    if machines.len() > SHOWN {
        return String::new();
    }
    let header = [
        ("machine", Align::Left),
        ("SV", Align::Right),
        ("bounded SV", Align::Right),
        ("bias", Align::Right),
        ("sum of |coef|", Align::Right),
        ("largest", Align::Right),
        ("|w|", Align::Right),
    ];
    let row = |m: &MachineInfo| {
        vec![
            m.name.text(),
            m.support_vectors.to_string(),
            m.bounded.map_or_else(String::new, |n| n.to_string()),
            format::long(m.bias),
            format::short(m.coefficient_sum),
            format::short(m.largest_coefficient),
            m.w_norm.map_or_else(String::new, format::long),
        ]
    };
    format!("\n{}", columns(&header, &machines.iter().map(row).collect::<Vec<_>>()))
}
