//! Documents and reports of problems of several classes.

use crate::format;
use crate::linear::LinearDocument;
use crate::report::{Align, Certified, DataDocument, End, KernelDocument, columns, data_line, fields, words};
use crate::solver::L2Document;
use maxmargin::core::Status;
use maxmargin::cv::{MulticlassFold, PairReport};
use maxmargin::data::classes::pairs;
use maxmargin::model::MulticlassModel;
use serde::Serialize;

/// Pairs shown one by one.
const SHOWN: usize = 15;

/// One machine.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PairDocument {
    pub(crate) negative: f64,
    pub(crate) positive: f64,
    pub(crate) status: Status,
    pub(crate) iterations: u64,
    pub(crate) support_vectors: usize,
    pub(crate) bounded: u64,
    pub(crate) objective: f64,
    pub(crate) bias: f64,
    pub(crate) certificate: Certified,
}

impl PairDocument {
    /// What the record of a model says of its machines; nothing without a record.
    pub(crate) fn of(model: &MulticlassModel, eps: f64) -> Vec<Self> {
        let (classes, parts) = (model.classes(), model.parts());
        let records = model.record().map_or(&[][..], |record| &record.pairs);
        let machines = pairs(classes.len()).zip(&parts.machines).zip(records);
        let document = machines.map(|(((a, b), machine), record)| Self {
            negative: classes[a],
            positive: classes[b],
            status: record.status,
            iterations: record.iterations,
            support_vectors: record.rows.len(),
            bounded: record.bounded,
            objective: -record.certificate.dual,
            bias: machine.bias,
            certificate: Certified::new(&record.certificate, eps),
        });
        document.collect()
    }
}

/// `train` of several classes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MulticlassTrainDocument {
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    /// Who solved the problem over kernel values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) solver: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) linear: Option<LinearDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) l2: Option<L2Document>,
    pub(crate) c: f64,
    /// A factor of C for each class.
    pub(crate) weights: Vec<f64>,
    pub(crate) eps: f64,
    pub(crate) scale: Option<&'static str>,
    pub(crate) status: Status,
    pub(crate) iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) kernel_bytes: u64,
    /// Different support vectors of all machines.
    pub(crate) support_vectors: usize,
    /// Machines that miss the tolerance.
    pub(crate) missed: usize,
    pub(crate) pairs: Vec<PairDocument>,
    pub(crate) model: String,
    pub(crate) read_seconds: f64,
    pub(crate) kernel_seconds: f64,
    pub(crate) solve_seconds: f64,
    pub(crate) total_seconds: f64,
    #[serde(flatten)]
    pub(crate) end: End,
}

/// `cv` of several classes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MulticlassCvDocument {
    pub(crate) data: DataDocument,
    pub(crate) kernel: KernelDocument,
    /// Who solved the problem over kernel values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) solver: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) linear: Option<LinearDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) l2: Option<L2Document>,
    pub(crate) c: f64,
    pub(crate) weights: Vec<f64>,
    pub(crate) eps: f64,
    pub(crate) scale: Option<&'static str>,
    pub(crate) k: usize,
    pub(crate) fold_plan: String,
    pub(crate) seeding: String,
    pub(crate) seed: u64,
    pub(crate) status: Status,
    pub(crate) folds: Vec<MulticlassFold>,
    pub(crate) pairs: Vec<PairReport>,
    pub(crate) accuracy: f64,
    pub(crate) correct: usize,
    pub(crate) confusion: Counts,
    pub(crate) iterations: u64,
    pub(crate) total_iterations: u64,
    pub(crate) rows_computed: u64,
    pub(crate) read_seconds: f64,
    pub(crate) kernel_seconds: f64,
    pub(crate) seed_seconds: f64,
    pub(crate) solve_seconds: f64,
    pub(crate) certify_seconds: f64,
    pub(crate) total_seconds: f64,
    #[serde(flatten)]
    pub(crate) end: End,
}

/// How labels and predictions agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Counts(
    /// One row for each class of the data, one column for each class that was predicted.
    pub(crate) Vec<Vec<usize>>,
);

impl Counts {
    /// Counts rows whose label is one of the classes.
    pub(crate) fn of(classes: &[f64], labels: &[f64], predicted: &[f64]) -> Self {
        let place = |label: f64| classes.iter().position(|c| *c == label);
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        for (label, predicted) in labels.iter().zip(predicted) {
            if let (Some(row), Some(column)) = (place(*label), place(*predicted)) {
                counts[row][column] += 1;
            }
        }
        Self(counts)
    }

    pub(crate) fn known(&self) -> usize {
        self.0.iter().flatten().sum()
    }

    pub(crate) fn correct(&self) -> usize {
        (0..self.0.len()).map(|class| self.0[class][class]).sum()
    }

    /// One line per class: how many of its rows are recognised, and what most of the others are taken for.
    pub(crate) fn table(&self, classes: &[f64]) -> String {
        let header = [
            ("class", Align::Right),
            ("rows", Align::Right),
            ("recognised", Align::Right),
            ("also given to it", Align::Right),
            ("most often taken for", Align::Left),
        ];
        let row = |class: usize| {
            let (counts, all) = (&self.0[class], self.0[class].iter().sum::<usize>());
            let given = (0..classes.len()).filter(|&other| other != class).map(|other| self.0[other][class]).sum::<usize>();
            let mistaken = (0..classes.len()).filter(|&other| other != class && counts[other] > 0);
            let worst = mistaken.rev().max_by_key(|&other| counts[other]);
            vec![
                format::exact(classes[class]),
                all.to_string(),
                format!("{:.2} %", 100.0 * counts[class] as f64 / all.max(1) as f64),
                given.to_string(),
                worst.map_or_else(String::new, |other| format!("{} ({})", format::exact(classes[other]), counts[other])),
            ]
        };
        columns(&header, &(0..classes.len()).map(row).collect::<Vec<_>>())
    }
}

/// `times 2 for class 3`
pub(super) fn weights_text(weights: &[f64], classes: &[f64]) -> String {
    let changed = weights.iter().zip(classes).filter(|(w, _)| **w != 1.0);
    let text: Vec<String> = changed.map(|(w, c)| format!("{} for class {}", format::exact(*w), format::exact(*c))).collect();
    if text.is_empty() { String::new() } else { format!(" (times {})", text.join(", ")) }
}

fn solver_text(
    kernel: &KernelDocument,
    solver: Option<&str>,
    linear: Option<&LinearDocument>,
    l2: Option<&L2Document>,
) -> String {
    match (linear, l2) {
        (Some(linear), _) => linear.text(),
        (_, Some(l2)) => {
            let to = l2.gap.map_or_else(String::new, |gap| format!(" to relative gap {}", format::exact(gap)));
            format!(
                "{} kernel; {} on the simplex{to}; squared hinge loss, bias as a feature of value 1",
                kernel.text(),
                l2.solver
            )
        }
        _ => format!("{} kernel, {}", kernel.text(), solver.unwrap_or("smo")),
    }
}

/// `all 45 hold: largest KKT violation …`
fn certificates(of: usize, missed: usize, kkt: f64, gap: f64, eps: f64) -> String {
    let held = if missed == 0 { format!("all {of} hold") } else { format!("{} of {of} hold", of - missed) };
    let [kkt, eps, gap] = [kkt, eps, gap].map(format::short);
    format!("{held}: largest KKT violation {kkt} (tolerance {eps}), largest relative gap {gap}")
}

/// The report of `train`.
pub(crate) fn train_report(d: &MulticlassTrainDocument) -> String {
    let largest = |of: fn(&PairDocument) -> f64| d.pairs.iter().map(of).fold(0.0, f64::max);
    let labels: Vec<f64> = d.data.classes.iter().map(|c| c.label).collect();
    let mut rows = vec![
        ("solver", solver_text(&d.kernel, d.solver, d.linear.as_ref(), d.l2.as_ref())),
        ("C, eps", format!("{}{}, {}", format::exact(d.c), weights_text(&d.weights, &labels), format::exact(d.eps))),
        ("scaling", d.scale.unwrap_or("none").to_owned()),
        ("machines", format!("{}, one for each pair of {} classes", d.pairs.len(), labels.len())),
        ("status", format!("{} after {} iterations", words(d.status), format::count(d.iterations))),
        (
            "certificates",
            certificates(d.pairs.len(), d.missed, largest(|p| p.certificate.kkt), largest(|p| p.certificate.relative_gap), d.eps),
        ),
        (
            "support vectors",
            format!(
                "{} of {}; {} on average in a machine",
                format::count(d.support_vectors as u64),
                format::count(d.data.rows as u64),
                format::count((d.pairs.iter().map(|p| p.support_vectors).sum::<usize>() / d.pairs.len().max(1)) as u64)
            ),
        ),
    ];
    if d.linear.is_none() {
        let text = format!(
            "{} computed, each as long as its pair has samples; at most {} held",
            format::count(d.rows_computed),
            format::bytes(d.kernel_bytes)
        );
        rows.push(("kernel rows", text));
    }
    rows.push((
        "time",
        format!(
            "{}: read {}, solve and certify {}",
            format::seconds(d.total_seconds),
            format::seconds(d.read_seconds),
            format::seconds(d.solve_seconds)
        ),
    ));
    rows.push(("peak memory", format::bytes(d.end.peak_rss_bytes)));
    rows.push(("model", d.model.clone()));
    data_line(&d.data) + &fields(&rows) + &pairs_table(&d.pairs)
}

/// The machines one by one, where they are few, or those that need attention.
fn pairs_table(pairs: &[PairDocument]) -> String {
    let header = [
        ("pair", Align::Left),
        ("iterations", Align::Right),
        ("SV", Align::Right),
        ("at C", Align::Right),
        ("objective", Align::Right),
        ("relative gap", Align::Right),
        ("KKT", Align::Right),
        ("status", Align::Left),
    ];
    let few = pairs.len() <= SHOWN;
    let shown = pairs.iter().filter(|p| few || p.status != Status::Converged).take(SHOWN);
    let row = |p: &PairDocument| {
        vec![
            format!("{} and {}", format::exact(p.negative), format::exact(p.positive)),
            p.iterations.to_string(),
            p.support_vectors.to_string(),
            p.bounded.to_string(),
            format::long(p.objective),
            format::short(p.certificate.relative_gap),
            format::short(p.certificate.kkt),
            words(p.status).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = shown.map(row).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", columns(&header, &rows)) }
}

/// The report of `cv`.
pub(crate) fn cv_report(d: &MulticlassCvDocument) -> String {
    let labels: Vec<f64> = d.data.classes.iter().map(|c| c.label).collect();
    let header = [
        ("fold", Align::Right),
        ("train", Align::Right),
        ("test", Align::Right),
        ("accuracy", Align::Right),
        ("iterations", Align::Right),
        ("SV", Align::Right),
        ("worst gap", Align::Right),
        ("worst KKT", Align::Right),
        ("status", Align::Left),
    ];
    let row = |f: &MulticlassFold| {
        vec![
            f.fold.to_string(),
            f.train.to_string(),
            f.test.to_string(),
            format!("{:.2} %", 100.0 * f.correct as f64 / f.test.max(1) as f64),
            f.iterations.to_string(),
            f.support_vectors.map_or_else(String::new, |n| n.to_string()),
            format::short(f.relative_gap),
            format::short(f.kkt),
            words(f.status).to_owned(),
        ]
    };
    let folds = columns(&header, &d.folds.iter().map(row).collect::<Vec<_>>());
    let missed = d.folds.iter().filter(|f| f.kkt > d.eps).count();
    let kkt = d.folds.iter().map(|f| f.kkt).fold(0.0, f64::max);
    let gap = d.folds.iter().map(|f| f.relative_gap).fold(0.0, f64::max);
    let partial = if d.status == Status::Converged { "" } else { "; folds that did not converge are counted too" };
    let (correct, all) = (format::count(d.correct as u64), format::count(d.data.rows as u64));
    let full = match d.total_iterations - d.iterations {
        0 => String::new(),
        more => format!(" (and {} for the machines of all data)", format::count(more)),
    };
    let mut rows = vec![
        ("accuracy", format!("{:.4} % ({correct} of {all}){partial}", 100.0 * d.accuracy)),
        (
            "machines",
            format!(
                "{} in each fold, one for each pair of {} classes",
                d.pairs.len().max(labels.len() * (labels.len() - 1) / 2),
                labels.len()
            ),
        ),
        ("certificates", format!("of folds, {}", certificates(d.folds.len(), missed, kkt, gap, d.eps))),
        ("iterations", format!("{}{full}", format::count(d.iterations))),
        ("time", format::seconds(d.total_seconds)),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
    ];
    if d.linear.is_none() {
        rows.insert(
            4,
            ("kernel rows", format!("{} computed, each as long as its pair has samples", format::count(d.rows_computed))),
        );
    }
    format!(
        "{}{}; C {}{}, eps {}, scaling {}; {} {} folds, seeding {}, {} thread{}\n\n{folds}\n{}\n{}",
        data_line(&d.data),
        solver_text(&d.kernel, d.solver, d.linear.as_ref(), d.l2.as_ref()),
        format::exact(d.c),
        weights_text(&d.weights, &labels),
        format::exact(d.eps),
        d.scale.unwrap_or("none"),
        d.k,
        d.fold_plan,
        d.seeding,
        d.end.threads,
        if d.end.threads == 1 { "" } else { "s" },
        d.confusion.table(&labels),
        fields(&rows)
    )
}
