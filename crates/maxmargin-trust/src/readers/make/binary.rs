//! Almost valid bytes: models and cached data, with checksums that fit changed parts.

use super::text;
use crate::draws::Draws;
use maxmargin::cv::{Finished, FoldPlan};
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::table::{self, TableOptions};
use maxmargin::data::{
    Dataset, Encoder, Generator, Par, Preparing, ReadOptions, RunControl, Samples, Scaler, cache as stored, codec, libsvm,
};
use maxmargin::model::file::{FORMAT, sealed};
use maxmargin::model::{Calibration, DecisionRule, Machine, Multiclass, Parts, Section};
use maxmargin::prelude::{Impute, Kernel, Svm};
use std::sync::OnceLock;

/// The key of all cached data here.
pub const KEY: [u8; 32] = [7; 32];

/// The bytes of a sealed file before its payload.
const SEAL_HEAD: usize = 60;

/// Returns a native model: a trained one, or parts that were never checked.
pub fn native_model(draws: &mut Draws) -> Vec<u8> {
    if draws.once_in(200)
        && let Some(bytes) = trained(draws)
    {
        return bytes;
    }
    let payload = codec::encode(&parts(draws)).unwrap_or_default();
    let format = if draws.once_in(12) { draws.below(FORMAT as usize) as u32 } else { FORMAT };
    sealed(format, &payload)
}

/// Returns a model with all its records.
fn trained(draws: &mut Draws) -> Option<Vec<u8>> {
    let rows = 6 + draws.below(6);
    let values = (0..2 * rows).map(|_| (draws.unit() * 8.0).round() / 4.0).collect();
    let labels: Vec<f64> = (0..rows).map(|i| (i % (2 + draws.below(2))) as f64).collect();
    let data = Dataset::from_samples(Samples::from_dense(rows, 2, values).ok()?, &labels).ok()?;
    let svm = match draws.below(4) {
        0 => Svm::linear(),
        1 => Svm::linear().keep_vectors(),
        2 => Svm::rbf(0.5).scale(ScaleMethod::Standard),
        _ => Svm::rbf(2.0),
    };
    maxmargin::model::encode(&svm.fit(&data).ok()?.model).ok()
}

/// Returns all numbers of a model, usually possible ones.
fn parts(draws: &mut Draws) -> Parts {
    let (rows, features) = (draws.below(5), 1 + draws.below(4));
    let support = if draws.once_in(2) {
        let values = (0..rows * features).map(|_| (draws.unit() * 8.0).round() / 4.0).collect();
        Samples::from_dense(rows, features, values)
    } else {
        let wide = if draws.once_in(30) { 1 << draws.below(32) } else { features };
        let indices = (0..rows).map(|_| draws.below(wide) as u32).collect();
        Samples::from_sparse(wide, (0..=rows).collect(), indices, (0..rows).map(|_| draws.unit()).collect())
    };
    let support = support.expect("finite values, one feature a row");
    let classes = 2 + draws.below(2);
    let kernel = match draws.below(6) {
        0 => Kernel::Linear,
        1 => Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: draws.below(5) as u32 },
        2 => Kernel::Sigmoid { gamma: 0.1, coef0: draws.unit() },
        3 => Kernel::Precomputed,
        _ => Kernel::rbf(if draws.once_in(10) { -1.0 } else { 0.5 }),
    };
    let machines = (0..classes * (classes - 1) / 2).map(|_| {
        let used: Vec<u32> = (0..support.len() as u32).filter(|_| !draws.once_in(3)).collect();
        Machine { coef: used.iter().map(|_| draws.unit()).collect(), support: used, bias: draws.unit() }
    });
    let machines: Vec<Machine> = machines.collect();
    let scaler = draws
        .once_in(4)
        .then(|| Scaler::fit(&support, draws.pick(&[ScaleMethod::Standard, ScaleMethod::MinMax { lower: 0.0, upper: 1.0 }])));
    let encoder = if features < 5 && draws.once_in(4) { encoder(support.features().min(5), draws) } else { None };
    let sections = draws.once_in(4).then(|| Section { tag: *b"fuzzed\0\0", bytes: vec![draws.word() as u8; draws.below(20)] });
    let calibration: Vec<Calibration> = if draws.once_in(3) {
        let knot = |at: f64| Calibration::Steps { at: vec![at, at + 1.0], probability: vec![0.25, 0.75] };
        let sigmoid = |at: f64| Calibration::Sigmoid { a: -1.0 - at, b: at };
        (0..machines.len()).map(|p| if draws.once_in(2) { knot(p as f64) } else { sigmoid(p as f64) }).collect()
    } else {
        Vec::new()
    };
    let threshold = (classes == 2 && draws.once_in(3)).then(|| draws.unit());
    Parts {
        levels: Vec::new(),
        kernel,
        support,
        machines,
        decision_rule: match (&threshold, calibration.is_empty()) {
            (Some(_), _) => DecisionRule::Threshold,
            (None, true) => DecisionRule::Vote,
            (None, false) => DecisionRule::Coupled,
        },
        classes: (0..classes).map(|k| k as f64 * 2.0 - 1.0).collect(),
        index_base: u32::from(!draws.once_in(6)),
        scaler,
        record: None,
        sections: sections.into_iter().collect(),
        multiclass: Multiclass::OneVsOne,
        calibration,
        encoder,
        threshold,
        tie_order: if draws.once_in(4) { (0..classes as u32).rev().collect() } else { Vec::new() },
    }
}

/// Returns the columns of a table with these features, and the values that fill their gaps.
fn encoder(features: usize, draws: &mut Draws) -> Option<Encoder> {
    let header: Vec<String> = (0..features).map(|j| format!("c{j},")).collect();
    let row = |value: &str| value.repeat(features);
    let text = format!("{}y\n{}0\n{}1\n", header.concat(), row("1,"), row("2.5,"));
    let table = table::read(text.as_bytes(), &TableOptions::default(), &RunControl::unlimited()).ok()?;
    let impute = draws.once_in(2).then_some(Impute::Median);
    Preparing { impute, scale: None }.fit(&table.data).ok()?.encoder
}

/// Returns the first line of a model file and its payload.
pub fn open_model(file: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let end = file.iter().position(|b| *b == b'\n').map_or(0, |at| at + 1);
    let mut head = file;
    let payload = head.split_off(end);
    (head, payload)
}

/// Joins them, usually with a first line that fits.
pub fn close_model(head: Vec<u8>, payload: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    if draws.once_in(12) {
        return [head, payload].concat();
    }
    let line = String::from_utf8_lossy(&head).into_owned();
    let format = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(FORMAT);
    sealed(format, &payload)
}

/// Returns cached data.
pub fn cache(draws: &mut Draws) -> Vec<u8> {
    loop {
        if let Ok(data) = libsvm::parse(&text::data(draws), &ReadOptions::default(), Par::Seq, &RunControl::unlimited()) {
            return stored::encode_dataset(&data, &KEY).unwrap_or_default();
        }
    }
}

/// Returns the part before the payload of a sealed file, and the payload.
pub fn open_seal(file: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let mut head = file;
    let payload = head.split_off(SEAL_HEAD.min(head.len()));
    (head, payload)
}

/// Joins them, usually with a length and a checksum that fit.
pub fn close_cache(head: Vec<u8>, payload: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    if draws.once_in(12) { [head, payload].concat() } else { stored::sealed(&payload, &KEY) }
}

/// Returns a finished cell of a search: a small cross-validation of classes or values, with some of
/// its numbers replaced.
pub fn cell(draws: &mut Draws) -> Vec<u8> {
    static CELLS: OnceLock<Vec<Finished>> = OnceLock::new();
    let cells = CELLS.get_or_init(|| [2, 3, 0].into_iter().filter_map(validated).collect());
    let mut cell = cells[draws.below(cells.len())].clone();
    if draws.once_in(3) {
        cell.alpha = (0..draws.below(4)).map(|_| (0..draws.below(8)).map(|_| odd(draws)).collect()).collect();
    }
    if draws.once_in(3) {
        cell.report.decisions = (0..draws.below(12)).map(|_| odd(draws)).collect();
    }
    if draws.once_in(3)
        && let Some(fold) = cell.report.folds.first_mut()
    {
        fold.solved = draws.once_in(2);
        fold.machines.truncate(draws.below(2));
    }
    if draws.once_in(6) {
        cell.report.folds.truncate(draws.below(2));
    }
    cell.encode(&KEY).unwrap_or_default()
}

/// Returns a possible or an impossible α.
fn odd(draws: &mut Draws) -> f64 {
    if draws.once_in(6) { draws.pick(&[f64::NAN, f64::INFINITY, -0.0, 1e308, -1.0]) } else { draws.below(3) as f64 / 2.0 }
}

/// Returns two folds of a dozen samples with so many classes; for 0 classes, of values.
fn validated(classes: usize) -> Option<Finished> {
    let data = Generator::TwoGaussians.generate(12, None, 1).ok()?;
    let labels: Vec<f64> = (0..12).map(|i| if classes == 0 { (i as f64).sqrt() } else { (i % classes) as f64 }).collect();
    let data = Dataset::from_samples(data.samples, &labels).ok()?;
    let plan = FoldPlan::contiguous(12, 2).ok()?;
    let svm = if classes == 0 { Svm::epsilon_svr(1.0, 0.1) } else { Svm::rbf(0.5) };
    let report = svm.cross_validate(&data, &plan).ok()?;
    Some(Finished { report, alpha: vec![vec![0.5, 0.0, 1.0]], values_to_repeat: 1 })
}

/// Joins them, usually with a length and a checksum that fit.
pub fn close_cell(head: Vec<u8>, payload: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    if draws.once_in(12) { [head, payload].concat() } else { Finished::SEAL.put(&payload, &KEY) }
}
