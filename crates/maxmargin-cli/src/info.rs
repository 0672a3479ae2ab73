//! `info`: what a data set or a model file holds.

use crate::args::InfoArgs;
use crate::failure::{Done, Failure};
use crate::input::{self, Input};
use crate::multiclass::{self, MulticlassModelInfo};
use crate::notes::Notes;
use crate::output::{print, print_json};
use crate::report::{Certified, DataDocument, KernelDocument, data_line, fields, scaling_text, status_name};
use crate::threads::Threads;
use crate::{format, model_io};
use maxmargin::data::{Samples, Storage, inspect};
use maxmargin::model::{Model, Stored};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
struct DataInfo {
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
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ModelInfo {
    model: String,
    kernel: KernelDocument,
    negative: f64,
    positive: f64,
    bias: f64,
    support_vectors: usize,
    features: usize,
    index_base: u32,
    scaling: Option<String>,
    coefficient_sum: f64,
    largest_coefficient: f64,
    w_norm: Option<f64>,
    training: Option<TrainingInfo>,
    sections: Vec<String>,
}

#[derive(Debug, Serialize)]
struct TrainingInfo {
    rows: u64,
    features: u64,
    sha256: String,
    c: f64,
    weights: [f64; 2],
    eps: f64,
    status: &'static str,
    iterations: u64,
    bounded: u64,
    objective: f64,
    certificate: Certified,
}

pub(crate) fn run(args: &InfoArgs) -> Result<Done, Failure> {
    let mut notes = Notes::new(args.quiet);
    let source = &args.data.source;
    if source != "-" && Path::new(source).is_file() {
        let bytes = input::read_bytes(source)?;
        if model_io::looks_like_model(&bytes) {
            match model_io::decode_any(source, &bytes)? {
                Stored::Two(model) => show(args, &model_info(source, &model), model_text)?,
                Stored::Many(model) => show(args, &MulticlassModelInfo::new(source, &model), multiclass::model_text)?,
            }
            return Ok(Done::Finished);
        }
    }
    let threads = Threads::new(None)?;
    let input = input::load(&args.data, None, threads.par(), &mut notes)?;
    let ranges = inspect(&input.data.samples);
    if let Some(warning) = ranges.warning(input.data.index_base) {
        notes.warn(warning);
    }
    let info = data_info(&input, &notes);
    show(args, &info, data_text)?;
    Ok(Done::Finished)
}

/// Prints the document or its text.
fn show<T: Serialize>(args: &InfoArgs, info: &T, text: fn(&T) -> String) -> Result<(), Failure> {
    if args.json { print_json(info) } else { print(&text(info)) }
}

fn data_info(input: &Input, notes: &Notes) -> DataInfo {
    let samples = &input.data.samples;
    let ranges = inspect(samples);
    let (storage, storage_bytes) = storage(samples);
    let non_zeros = samples.non_zeros();
    let groups = input.data.groups.as_ref().map(|groups| {
        let mut sorted = groups.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.len()
    });
    DataInfo {
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
    let mut rows = vec![
        ("density", format!("{:.4} % ({} non-zero values)", 100.0 * d.density, format::count(d.non_zeros as u64))),
        ("values", format!("{} to {}", format::short(d.minimum), format::short(d.maximum))),
        ("median range", format!("{} ({} features are constant)", format::short(d.median_range), d.constant_features)),
        ("held as", format!("{}, {}", d.storage, format::bytes(d.storage_bytes))),
        ("first index", d.index_base.to_string()),
        ("read in", format::seconds(d.read_seconds)),
        ("sha256", d.data.sha256.clone()),
    ];
    if let Some(groups) = d.groups {
        rows.insert(0, ("groups", format::count(groups as u64)));
    }
    data_line(&d.data) + &fields(&rows)
}

fn model_info(name: &str, model: &Model) -> ModelInfo {
    let parts = model.parts();
    let coef = model.folded().unwrap_or(&parts.coef);
    let tag = |tag: &[u8; 8]| String::from_utf8_lossy(tag).trim_end_matches('\0').to_owned();
    ModelInfo {
        model: name.to_owned(),
        kernel: KernelDocument::new(&parts.kernel),
        negative: parts.negative,
        positive: parts.positive,
        bias: parts.bias,
        support_vectors: model.support_vectors(),
        features: model.features(),
        index_base: parts.index_base,
        scaling: parts.scaler.as_ref().map(scaling_text),
        coefficient_sum: coef.iter().map(|c| c.abs()).sum(),
        largest_coefficient: coef.iter().fold(0.0, |m, c| c.abs().max(m)),
        w_norm: model.w().map(|w| w.iter().map(|v| v * v).sum::<f64>().sqrt()),
        training: model.record().map(|r| TrainingInfo {
            rows: r.rows,
            features: r.features,
            sha256: format::hex(&r.data_sha256),
            c: r.c,
            weights: r.weights,
            eps: r.eps,
            status: status_name(r.status),
            iterations: r.iterations,
            bounded: r.bounded,
            objective: -r.certificate.dual,
            certificate: Certified::new(&r.certificate, r.eps),
        }),
        sections: parts.sections.iter().map(|s| format!("{} ({})", tag(&s.tag), format::bytes(s.bytes.len() as u64))).collect(),
    }
}

fn model_text(d: &ModelInfo) -> String {
    let mut rows = vec![
        ("kernel", d.kernel.text()),
        ("labels", format!("{} below 0, {} from 0", format::exact(d.negative), format::exact(d.positive))),
        ("bias", format::long(d.bias)),
        ("support vectors", format::count(d.support_vectors as u64)),
        ("features", format!("{}, first index {}", format::count(d.features as u64), d.index_base)),
        ("scaling", d.scaling.clone().unwrap_or_else(|| "none".to_owned())),
        ("coefficients", format!("sum {}, largest {}", format::short(d.coefficient_sum), format::short(d.largest_coefficient))),
    ];
    if let Some(norm) = d.w_norm {
        rows.push(("|w|", format::long(norm)));
    }
    match &d.training {
        None => rows.push(("training", "not recorded (a LIBSVM model)".to_owned())),
        Some(t) => {
            let certificate = t.certificate;
            let weights = t.weights.map(format::exact).join(", ");
            rows.extend([
                ("trained on", format!("{} rows, {} features", format::count(t.rows), format::count(t.features))),
                ("sha256", t.sha256.clone()),
                ("C, weights, eps", format!("{}; {weights}; {}", format::exact(t.c), format::exact(t.eps))),
                ("status", format!("{} after {} iterations", t.status, format::count(t.iterations))),
                ("at C", format::count(t.bounded)),
                ("objective", format::long(t.objective)),
                (
                    "certificate",
                    format!(
                        "KKT violation {}, relative gap {} (claimed; `verify` recomputes it)",
                        format::short(certificate.kkt),
                        format::short(certificate.relative_gap)
                    ),
                ),
            ]);
        }
    }
    if !d.sections.is_empty() {
        rows.push(("sections", d.sections.join(", ")));
    }
    format!("{}: two-class support vector machine\n", d.model) + &fields(&rows)
}
