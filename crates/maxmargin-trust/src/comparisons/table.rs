//! Every formulation on real sets by LIBSVM's and LIBLINEAR's programs and by ours: objectives,
//! predictions, scores, seconds.

mod kernels;
mod linear;
mod page;
mod sets;

pub use page::page;

use crate::comparisons::differential::Error;
use maxmargin::data::Dataset;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The largest relative excess of our objective over theirs.
pub const OBJECTIVE: f64 = 1e-6;

/// The largest difference of predicted values that count as equal, relative to the range of the
/// targets.
const EQUAL: f64 = 1e-4;

/// A formulation of one of their programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `svm-train -s`, with an RBF kernel.
    Kernel(i32),
    /// `liblinear-train -s`.
    Linear(i32),
}

impl Kind {
    /// All formulations.
    pub const ALL: [Self; 11] = [
        Self::Kernel(0),
        Self::Kernel(1),
        Self::Kernel(3),
        Self::Kernel(4),
        Self::Kernel(2),
        Self::Linear(1),
        Self::Linear(2),
        Self::Linear(3),
        Self::Linear(11),
        Self::Linear(12),
        Self::Linear(13),
    ];

    /// Returns the name in reports.
    pub fn name(self) -> String {
        match self {
            Self::Kernel(kind) => {
                let name = ["C-SVC", "ν-SVC", "one class", "ε-SVR", "ν-SVR"][kind as usize];
                format!("{name} (svm-train -s {kind} -t 2)")
            }
            Self::Linear(kind) => {
                let name = if kind > 10 { "linear ε-SVR" } else { "linear SVC" };
                let loss = if matches!(kind, 3 | 13) { "" } else { ", squared loss" };
                format!("{name}{loss} (train -s {kind} -B 1)")
            }
        }
    }

    fn has_values(self) -> bool {
        matches!(self, Self::Kernel(3 | 4) | Self::Linear(11..=13))
    }
}

/// The result of one side.
#[derive(Clone, Debug)]
struct Side {
    /// The minimised objective: of a dual for kernels, of the primal otherwise; summed over
    /// machines.
    objective: f64,
    /// The prediction for each test row.
    predicted: Vec<f64>,
    /// The seconds from the text of the data to the text of the model.
    seconds: f64,
}

/// The results of a formulation on a set.
#[derive(Clone, Debug)]
pub struct Row {
    /// The formulation.
    pub kind: Kind,
    /// The set.
    pub set: &'static str,
    /// The number of training and of test samples.
    pub rows: [usize; 2],
    /// The relative excess of our objective; below 0 ours is better.
    pub worse: f64,
    /// Our relative duality gap, the worst of all machines.
    pub gap: f64,
    /// The share of equal predictions.
    pub equal: f64,
    /// The accuracy (for one class the share inside), or the mean squared error: ours and theirs.
    pub scores: [f64; 2],
    /// The seconds: ours and theirs.
    pub seconds: [f64; 2],
}

/// Tries all formulations on all available sets and calls `tell` with each result. Missing sets and
/// programs are skipped.
///
/// # Errors
///
/// When a program fails.
pub fn table(mut tell: impl FnMut(&Row)) -> Result<Vec<Row>, Error> {
    let there = crate::comparisons::differential::versions();
    let mut rows = Vec::new();
    for (name, data) in sets::sets()? {
        for kind in Kind::ALL {
            let is_there = if matches!(kind, Kind::Kernel(_)) { &there.libsvm } else { &there.liblinear };
            if is_there.is_none() {
                continue;
            }
            let row = try_one(kind, name, &data).map_err(|error| format!("{name}, {}: {error}", kind.name()))?;
            tell(&row);
            rows.push(row);
        }
    }
    Ok(rows)
}

fn try_one(kind: Kind, set: &'static str, [train, test]: &[Dataset; 2]) -> Result<Row, Error> {
    let place = Place::new(train, test)?;
    let ([ours, theirs], gap) = match kind {
        Kind::Kernel(kind) => kernels::both(kind, &place)?,
        Kind::Linear(kind) => linear::both(kind, &place)?,
    };
    let truth = &test.labels;
    let (least, most) = truth.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(*y), b.max(*y)));
    let near = if kind.has_values() { EQUAL * (most - least) } else { 0.0 };
    let equal = ours.predicted.iter().zip(&theirs.predicted).filter(|(a, b)| (*a - *b).abs() <= near).count();
    let score = |side: &Side| {
        let each = side.predicted.iter().zip(truth).map(|(p, t)| match kind {
            _ if kind.has_values() => (p - t) * (p - t),
            Kind::Kernel(2) => f64::from(u8::from(*p > 0.0)),
            _ => f64::from(u8::from(p == t)),
        });
        each.sum::<f64>() / truth.len() as f64
    };
    Ok(Row {
        kind,
        set,
        rows: [train.labels.len(), truth.len()],
        worse: (ours.objective - theirs.objective) / theirs.objective.abs().max(f64::MIN_POSITIVE),
        gap,
        equal: equal as f64 / truth.len() as f64,
        scores: [score(&ours), score(&theirs)],
        seconds: [ours.seconds, theirs.seconds],
    })
}

/// A folder with the data as text.
struct Place {
    folder: tempfile::TempDir,
    text: Vec<u8>,
    train: Dataset,
    test: Dataset,
}

impl Place {
    fn new(train: &Dataset, test: &Dataset) -> Result<Self, Error> {
        let folder = tempfile::tempdir()?;
        let mut place = Self { folder, text: Vec::new(), train: train.clone(), test: test.clone() };
        maxmargin::data::libsvm::write(train, &mut place.text)?;
        fs::write(place.at("data"), &place.text)?;
        let mut text = Vec::new();
        maxmargin::data::libsvm::write(test, &mut text)?;
        fs::write(place.at("test"), text)?;
        Ok(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Trains and predicts by two programs; returns the text of the model, the predictions, and the
    /// seconds of the training.
    fn run(&self, [train, predict]: [&str; 2], options: &str) -> Result<(Vec<u8>, Vec<f64>, f64), Error> {
        let begun = Instant::now();
        let status = Command::new(train).args(options.split_whitespace()).args([self.at("data"), self.at("model")]).output()?;
        let seconds = begun.elapsed().as_secs_f64();
        if !status.status.success() {
            return Err(format!("{train} {options}: {}", String::from_utf8_lossy(&status.stderr).trim()).into());
        }
        let said = Command::new(predict).args([self.at("test"), self.at("model"), self.at("labels")]).output()?;
        if !said.status.success() {
            return Err(format!("{predict}: {}", String::from_utf8_lossy(&said.stderr).trim()).into());
        }
        let labels = fs::read_to_string(self.at("labels"))?.lines().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        Ok((fs::read(self.at("model"))?, labels, seconds))
    }
}
