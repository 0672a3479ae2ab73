//! `info` of a model of several classes.

use super::document::{PairDocument, weights_text};
use crate::format;
use crate::report::{KernelDocument, fields, scaling_text, status_name};
use maxmargin::core::{Loss, Offset, Status};
use maxmargin::model::MulticlassModel;
use serde::Serialize;

/// What a model file holds.
#[derive(Debug, Serialize)]
pub(crate) struct MulticlassModelInfo {
    model: String,
    kernel: KernelDocument,
    classes: Vec<f64>,
    support_vectors: usize,
    features: usize,
    index_base: u32,
    scaling: Option<String>,
    training: Option<Training>,
    pairs: Vec<PairDocument>,
}

#[derive(Debug, Serialize)]
struct Training {
    rows: u64,
    features: u64,
    sha256: String,
    c: f64,
    weights: Vec<f64>,
    eps: f64,
    loss: Loss,
    bias: Offset,
}

impl MulticlassModelInfo {
    pub(crate) fn new(name: &str, model: &MulticlassModel) -> Self {
        let parts = model.parts();
        Self {
            model: name.to_owned(),
            kernel: KernelDocument::new(&parts.kernel),
            classes: parts.classes.clone(),
            support_vectors: model.support_vectors(),
            features: model.features(),
            index_base: parts.index_base,
            scaling: parts.scaler.as_ref().map(scaling_text),
            training: model.record().map(|r| Training {
                rows: r.rows,
                features: r.features,
                sha256: format::hex(&r.data_sha256),
                c: r.c,
                weights: r.weights.clone(),
                eps: r.eps,
                loss: r.loss,
                bias: r.offset,
            }),
            pairs: PairDocument::of(model, model.record().map_or(0.0, |r| r.eps)),
        }
    }
}

/// The text of `info`.
pub(crate) fn model_text(d: &MulticlassModelInfo) -> String {
    let classes: Vec<String> = d.classes.iter().map(|c| format::exact(*c)).collect();
    let mut rows = vec![
        ("kernel", d.kernel.text()),
        ("classes", format!("{}: {}", classes.len(), classes.join(", "))),
        ("support vectors", format::count(d.support_vectors as u64)),
        ("features", format!("{}, first index {}", format::count(d.features as u64), d.index_base)),
        ("scaling", d.scaling.clone().unwrap_or_else(|| "none".to_owned())),
    ];
    match &d.training {
        None => rows.push(("training", "not recorded (a LIBSVM model)".to_owned())),
        Some(t) => {
            let status = d.pairs.iter().map(|p| p.status).reduce(Status::worse).unwrap_or(Status::Converged);
            let kkt = d.pairs.iter().map(|p| p.certificate.kkt).fold(0.0, f64::max);
            let iterations = d.pairs.iter().map(|p| p.iterations).sum();
            rows.extend([
                ("trained on", format!("{} rows, {} features", format::count(t.rows), format::count(t.features))),
                ("sha256", t.sha256.clone()),
                ("C, eps", format!("{}{}; {}", format::exact(t.c), weights_text(&t.weights, &d.classes), format::exact(t.eps))),
                ("status", format!("{} after {} iterations", status_name(status), format::count(iterations))),
                ("certificates", format!("largest KKT violation {} (claimed; `verify` recomputes it)", format::short(kkt))),
            ]);
        }
    }
    format!("{}: support vector machines of {} pairs of classes\n", d.model, classes.len() * (classes.len() - 1) / 2)
        + &fields(&rows)
}
