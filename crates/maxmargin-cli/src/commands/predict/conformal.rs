//! Intervals and sets of all rows, and what they cover.

use crate::args::PredictArgs;
use crate::console::failure::Failure;
use crate::console::format;
use crate::console::notes::Notes;
use crate::console::progress::Bar;
use crate::files::input::Input;
use crate::problem::groups::group_words;
use crate::report::{label_text, score_text};
use maxmargin::conformal::{ConformalScore, Level, discoveries};
use maxmargin::cv::{Conformal, ConformalProblem, Exchangeable, UpdateError, full_p_values};
use maxmargin::data::{Par, Samples};
use maxmargin::model::Model;
use serde::Serialize;
use std::ops::ControlFlow;

/// Bytes of kernel columns of full conformal prediction.
const MEMORY: u64 = 2 << 30;

/// The meaning of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Lower and upper bound.
    Bounds,
    /// Members of a set, for each class.
    Members,
    /// The p-value, and whether the row is an outlier.
    Outliers,
}

/// The conformal predictions of all rows.
#[derive(Debug)]
pub(super) struct ConformalPredictions {
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// The columns, row after row.
    pub(super) numbers: Vec<f64>,
    kind: Kind,
    method: &'static str,
    level: Level,
    exchangeable: Exchangeable,
    score: ConformalScore,
}

/// The conformal predictions in a document.
#[derive(Debug, Serialize)]
pub(super) struct ConformalDocument {
    method: &'static str,
    /// The share of predictions, or of outliers, that may be wrong.
    level: f64,
    exchangeable: Exchangeable,
    score: ConformalScore,
    /// The number of rows whose truth is known.
    rows: usize,
    /// The share of these that the interval or the set covers.
    coverage: Option<f64>,
    /// The mean width of intervals, if all are finite.
    width: Option<f64>,
    /// The mean number of classes in a set.
    size: Option<f64>,
    /// The number of outliers.
    outliers: Option<usize>,
    /// The share of the labelled outliers that are normal rows.
    false_outliers: Option<f64>,
}

/// Returns the conformal predictions that the options ask for, if they do. Breaks if the run was
/// interrupted, after a message.
///
/// # Errors
///
/// If the model has none, or none of this kind.
pub(super) fn predictions(
    model: &Model,
    input: &Input,
    args: &PredictArgs,
    par: Par,
    notes: &mut Notes,
) -> Result<ControlFlow<(), Option<ConformalPredictions>>, Failure> {
    let (asked, samples) = (&args.conformal, &input.data.samples);
    let kind = match (asked.intervals, asked.sets, asked.fdr) {
        (true, ..) => Kind::Bounds,
        (_, true, _) => Kind::Members,
        (.., Some(_)) => Kind::Outliers,
        _ if asked.alpha.is_some() => {
            let what = "--alpha: it is the level of --intervals or --sets; add one of them";
            return Err(Failure::Usage(what.to_owned()));
        }
        _ if asked.conformal_groups.is_some() => {
            let what = "--conformal-groups: it is for --intervals, --sets or --fdr; add one of them";
            return Err(Failure::Usage(what.to_owned()));
        }
        _ => return Ok(ControlFlow::Continue(None)),
    };
    let failed = |error: ConformalProblem| Failure::input(args.model.display(), error);
    let kept = Conformal::of(model).map_err(failed)?;
    if asked.full {
        let level = asked.alpha.or(kept.as_ref().map(Conformal::level));
        return full(model, samples, args, level, par, notes);
    }
    let kept = kept.ok_or_else(|| {
        let what = "the model has no scores for conformal predictions; train it with --conformal 0.1";
        Failure::input(args.model.display(), what)
    })?;
    let level = asked.alpha.or(asked.fdr).unwrap_or(kept.level());
    let groups = group_words(asked.conformal_groups.as_deref(), args.data.options.max_size, input)?;
    let (groups, failed) = (groups.as_deref(), |error: ConformalProblem| refused(error, input, args));
    let (names, numbers) = match kind {
        Kind::Bounds => {
            let found = kept.intervals(model, samples, level, groups, par).map_err(failed)?;
            let bounds = found.iter().flat_map(|of| [of.lower, of.upper]);
            (vec!["lower".to_owned(), "upper".to_owned()], bounds.collect())
        }
        Kind::Members => {
            let found = kept.sets(model, samples, level, kept.per_class(), groups, par).map_err(failed)?;
            (set_names(model), found.iter().map(|is_in| f64::from(u8::from(*is_in))).collect())
        }
        Kind::Outliers => {
            let found = kept.p_values(model, samples, groups, par).map_err(failed)?;
            let outliers = discoveries(&found, level.alpha());
            let both = found.iter().zip(outliers).flat_map(|(p, is_outlier)| [*p, f64::from(u8::from(is_outlier))]);
            (vec!["p_value".to_owned(), "outlier".to_owned()], both.collect())
        }
    };
    if let Some(caveat) = kept.exchangeable().caveat() {
        notes.warn(caveat);
    }
    let (method, exchangeable, score) = (kept.method(model), kept.exchangeable(), kept.score_kind());
    Ok(ControlFlow::Continue(Some(ConformalPredictions { names, numbers, kind, method, level, exchangeable, score })))
}

/// Returns the failure of predictions: of the data if a group is unknown, else of the model.
fn refused(error: ConformalProblem, input: &Input, args: &PredictArgs) -> Failure {
    match error {
        ConformalProblem::UnknownGroup { .. } => Failure::input(&input.name, error),
        ConformalProblem::GroupsNeeded { .. } => {
            Failure::input(args.model.display(), format!("{error} (--conformal-groups FILE or COLUMN)"))
        }
        error => Failure::input(args.model.display(), error),
    }
}

/// Returns the sets of full conformal prediction.
fn full(
    model: &Model,
    samples: &Samples,
    args: &PredictArgs,
    level: Option<Level>,
    par: Par,
    notes: &mut Notes,
) -> Result<ControlFlow<(), Option<ConformalPredictions>>, Failure> {
    let level = level.ok_or_else(|| Failure::Usage("--full: add --alpha 0.1, the share of sets that may miss".to_owned()))?;
    let bar = Bar::new(args.run.quiet);
    let control = bar.control();
    let found = match full_p_values(model, samples, args.conformal.per_class, MEMORY, par, &control) {
        Ok(found) => found,
        Err(UpdateError::Interrupted) => {
            notes.warn("interrupted: nothing was written");
            return Ok(ControlFlow::Break(()));
        }
        Err(error) => return Err(full_failure(&error, args)),
    };
    Ok(ControlFlow::Continue(Some(ConformalPredictions {
        names: set_names(model),
        numbers: found.iter().map(|p| f64::from(u8::from(*p > level.alpha()))).collect(),
        kind: Kind::Members,
        method: "full conformal prediction",
        level,
        exchangeable: Exchangeable::Rows,
        score: ConformalScore::Plain,
    })))
}

/// Returns the failure of full conformal prediction, with the option of the training that helps.
fn full_failure(error: &UpdateError, args: &PredictArgs) -> Failure {
    let what = match error {
        UpdateError::NoData => "the model does not keep its training data; train it with --updatable".to_owned(),
        UpdateError::TwoClasses(_) => format!("{error} (train --conformal 0.1)"),
        other => other.to_string(),
    };
    Failure::input(args.model.display(), what)
}

/// Returns the names of the columns of sets.
fn set_names(model: &Model) -> Vec<String> {
    model.classes().iter().map(|label| format!("set_{}", label_text(*label))).collect()
}

impl ConformalPredictions {
    /// Warns where no row has an interval or a set that says anything: there are too few scores.
    pub(super) fn warn_of_no_information(&self, notes: &mut Notes) {
        let mut rows = self.numbers.chunks_exact(self.names.len().max(1));
        let (what, is_all) = match self.kind {
            Kind::Bounds => ("every interval is infinite", rows.all(|row| row[0].is_infinite() && row[1].is_infinite())),
            Kind::Members => ("every set has all classes", rows.all(|row| row.iter().all(|member| *member == 1.0))),
            Kind::Outliers => return,
        };
        if is_all && !self.numbers.is_empty() {
            let level = format::short(self.level.alpha());
            notes.warn(format!("{what} at the level {level}: use a greater --alpha, or a model of more rows"));
        }
    }

    /// Compares the predictions with the labels of the data, NaN where there is none.
    pub(super) fn document(&self, model: &Model, labels: &[f64]) -> ConformalDocument {
        let rows = || self.numbers.chunks_exact(self.names.len()).zip(labels);
        let covers = |row: &[f64], label: f64| match self.kind {
            Kind::Bounds => (!label.is_nan()).then(|| row[0] <= label && label <= row[1]),
            Kind::Members => model.classes().iter().position(|class| *class == label).map(|place| row[place] == 1.0),
            Kind::Outliers => None,
        };
        let covered: Vec<bool> = rows().filter_map(|(row, label)| covers(row, *label)).collect();
        let mean = |sum: f64| sum / labels.len() as f64;
        let are_outliers = self.kind == Kind::Outliers;
        let outliers = || rows().filter(|(row, _)| are_outliers && row[1] == 1.0).map(|(_, label)| *label);
        // Labels of one class are 1 for normal rows and -1 for others.
        let is_normal: Vec<bool> = outliers().filter(|label| label.abs() == 1.0).map(|label| label == 1.0).collect();
        ConformalDocument {
            method: self.method,
            level: self.level.alpha(),
            exchangeable: self.exchangeable,
            score: self.score,
            rows: covered.len(),
            coverage: share(&covered),
            width: (self.kind == Kind::Bounds)
                .then(|| mean(rows().map(|(row, _)| row[1] - row[0]).sum()))
                .filter(|width| width.is_finite()),
            size: (self.kind == Kind::Members).then(|| mean(self.numbers.iter().sum())),
            outliers: are_outliers.then(|| outliers().count()),
            false_outliers: share(&is_normal),
        }
    }
}

/// Returns the share of true values, if there are any values.
fn share(of: &[bool]) -> Option<f64> {
    let count = of.iter().filter(|is_true| **is_true).count();
    (!of.is_empty()).then(|| count as f64 / of.len() as f64)
}

impl ConformalDocument {
    /// `intervals by cv+ at 0.1: 91.00 % of 100 rows covered, mean width 1.2`
    pub(super) fn text(&self) -> String {
        let level = format::short(self.level);
        if let Some(outliers) = self.outliers {
            let wrong = |share: f64| format!(", {} of the labelled ones are normal", format::percent(share));
            let wrong = self.false_outliers.map_or_else(String::new, wrong);
            let most = format::percent(self.level);
            return format!("{} outliers, at most {most} of them normal{wrong}\n", format::count(outliers as u64));
        }
        let what = if self.size.is_some() { "sets" } else { "intervals" };
        let covered = |share: f64| format!(": {} of {} rows covered", format::percent(share), format::count(self.rows as u64));
        let parts = [
            self.coverage.map(covered),
            self.width.map(|width| format!(", mean width {}", format::short(width))),
            self.size.map(|size| format!(", mean size {}", format::short(size))),
        ];
        format!(
            "{what} by {}{} at {level}{}\n",
            self.method,
            score_text(self.score),
            parts.into_iter().flatten().collect::<String>()
        )
    }
}
