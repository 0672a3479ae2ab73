//! `predict`: labels, decision values or probabilities of a data set, and their scores.

mod conformal;
mod output;

use crate::args::{PredictArgs, decision_rule};
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::label_names;
use crate::console::name_list::names;
use crate::console::notes::Notes;
use crate::files::input::request::DataRequest;
use crate::files::input::{self, Input, MaxSize, Requirements};
use crate::files::model_file;
use crate::files::output::{Output, check_standard_output, show};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::threads::Threads;
use crate::problem::groups::with_groups;
use crate::report::{DataDocument, End, SCHEMA, Scores, confusion_table, levels_text, reliability_table, reliability_text};
use conformal::{ConformalDocument, ConformalPredictions};
use maxmargin::core::{TargetKind, levels};
use maxmargin::data::Par;
use maxmargin::kernel::Kernel;
use maxmargin::metrics::{Confusion, LevelScores, Metric, Purpose, Reliability, metrics_of, score_of};
use maxmargin::model::{Calibration, DecisionRule, Model};
use output::{Columns, Predictions};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct PredictDocument {
    schema: u32,
    command: &'static str,
    data: DataDocument,
    model: String,
    /// The classes of the model, ascending.
    classes: Vec<f64>,
    support_vectors: usize,
    /// Scores of the predictions against the labels, by the name of their metric.
    scores: Scores,
    /// The scores of several levels, and how many rows have values that cross.
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<LevelScores>,
    accuracy: Option<f64>,
    correct: usize,
    confusion: Confusion,
    unknown_labels: usize,
    /// The number of rows without a label.
    unlabelled: usize,
    /// The rule that turned decision values into labels.
    decision_rule: DecisionRule,
    /// The threshold of the second class, if the rule used one.
    threshold: Option<f64>,
    /// The calibration: `platt`, `isotonic`, `laplace` or `marks`.
    calibration: Option<&'static str>,
    /// The Laplace scale of the errors of a regression.
    error_scale: Option<f64>,
    /// The reliability of the probabilities on the labels of the data.
    reliability: Option<Reliability>,
    /// The conformal predictions, if requested.
    conformal: Option<ConformalDocument>,
    read_seconds: f64,
    predict_seconds: f64,
    total_seconds: f64,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &PredictArgs) -> Result<Outcome, Failure> {
    let started = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let on_stdout = args.output.as_deref().map_or(!args.run.json, |path| path.as_os_str() == "-");
    let output = open_output(args, on_stdout)?;
    let threads = Threads::new(args.run.threads)?;
    let model = model_file::load(&args.model, MaxSize::of(args.data.options.max_size))?;
    let decide = decision_rule(&model, args.decide);
    let model = model.with_decision_rule(decide).map_err(|e| Failure::input(args.model.display(), e))?;
    let request = with_groups(args.data.request(), [args.conformal.conformal_groups.as_deref()]);
    let input = load(&request, &names(&args.id), &model, threads.par(), &mut notes)?;
    let begun = Instant::now();
    let rows = predicted_rows(&model, &input, args, threads.par(), &mut notes)?;
    let ControlFlow::Continue(PredictedRows { decisions, predicted, probabilities, conformal }) = rows else {
        return Ok(Outcome::Interrupted);
    };
    let predict_seconds = begun.elapsed().as_secs_f64();
    if let Some(output) = output {
        let levels = level_values(&model, &decisions);
        let (labels, decisions, probabilities, levels) = (&predicted[..], &decisions[..], &probabilities[..], &levels[..]);
        let found = Predictions { model: &model, labels, decisions, probabilities, levels };
        output.write(|out| found.write(Columns::of(args, &found, conformal.as_ref()), input.written.as_ref(), out))?;
    }
    let needs = model.decision_rule().target_kind();
    // The level of a quantile is in the record of its training.
    let purpose = model.record().map_or_else(|| needs.into(), |record| Purpose::from(record.formulation));
    let data = described(&input, needs);
    // Without labels there is nothing to compare.
    let labels = if input.is_labelled { input.data.labels.clone() } else { vec![f64::NAN; input.data.labels.len()] };
    let classes = scored_classes(&model, needs, !data.classes.is_empty());
    let confusion = Confusion::of(&classes, &labels, &predicted);
    let known = confusion.known();
    let unknown_labels = unknown_labels(&input, &classes, known, &mut notes);
    let levels = (!model.levels().is_empty()).then(|| LevelScores::of(purpose, model.levels(), &labels, &decisions));
    let document = PredictDocument {
        schema: SCHEMA,
        command: "predict",
        data,
        scores: scores_of(purpose, &labels, &predicted, unknown_labels, levels.as_ref()),
        levels,
        model: args.model.display().to_string(),
        classes,
        support_vectors: model.support_vectors(),
        accuracy: (known > 0).then(|| confusion.correct() as f64 / known as f64),
        correct: confusion.correct(),
        confusion,
        unknown_labels,
        unlabelled: if input.is_labelled { input.unlabelled } else { labels.len() },
        decision_rule: model.decision_rule(),
        threshold: model.threshold().filter(|_| model.decision_rule() == DecisionRule::Threshold),
        calibration: model.calibration().first().map(Calibration::name),
        error_scale: model.error_scale(),
        reliability: if input.is_labelled { reliability(&model, &labels, &probabilities) } else { None },
        conformal: conformal.map(|found| found.document(&model, &labels)),
        read_seconds: input.seconds,
        predict_seconds,
        total_seconds: started.elapsed().as_secs_f64(),
        end: End::now(&threads, &mut notes),
    };
    show(&document, args.run.json, report, on_stdout.then_some(&notes))?;
    Ok(Outcome::Finished)
}

/// Opens the output, which is standard output without a name, or nothing beside a document.
fn open_output(args: &PredictArgs, on_stdout: bool) -> Result<Option<Output>, Failure> {
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([Path::new(&args.data.source), &args.model]);
    paths.reads(args.conformal.conformal_groups.as_deref());
    check_standard_output(args.run.json, on_stdout)?;
    let path = args.output.as_deref().or(on_stdout.then_some(Path::new("-")));
    path.map(|path| paths.output(path, Content::Text)).transpose()
}

/// The predictions of all rows.
struct PredictedRows {
    decisions: Vec<f64>,
    predicted: Vec<f64>,
    probabilities: Vec<f64>,
    conformal: Option<ConformalPredictions>,
}

/// Predicts all rows. Breaks if the run was interrupted, after a message.
fn predicted_rows(
    model: &Model,
    input: &Input,
    args: &PredictArgs,
    par: Par,
    notes: &mut Notes,
) -> Result<ControlFlow<(), PredictedRows>, Failure> {
    let samples = &input.data.samples;
    let decisions = model.decision_values(samples, par).map_err(|e| Failure::input(&input.name, e))?;
    let predicted = decisions.chunks_exact(model.machines().len()).map(|row| model.label(row)).collect();
    let probabilities = probabilities(model, &decisions, args, par)?;
    let ControlFlow::Continue(conformal) = conformal::predictions(model, input, args, par, notes)? else {
        return Ok(ControlFlow::Break(()));
    };
    conformal.iter().for_each(|found| found.warn_of_no_information(notes));
    Ok(ControlFlow::Continue(PredictedRows { decisions, predicted, probabilities, conformal }))
}

/// Returns the values of several levels without crossings, row after row; none for one level.
fn level_values(model: &Model, decisions: &[f64]) -> Vec<f64> {
    match model.levels().len() {
        0 => Vec::new(),
        count => decisions.chunks_exact(count).flat_map(levels::rearranged).collect(),
    }
}

/// Describes the data, whose labels may be missing.
fn described(input: &Input, needs: TargetKind) -> DataDocument {
    let data = DataDocument::for_target(&input.name, &input.data, needs);
    if input.is_labelled { data } else { DataDocument { classes: Vec::new(), target: None, ..data } }
}

/// Reads the data that a model is applied to, with these columns of a table as text.
pub(super) fn load(request: &DataRequest, id: &[String], model: &Model, par: Par, notes: &mut Notes) -> Result<Input, Failure> {
    let mut request = request.clone();
    request.options.table.keep = id.to_vec();
    let input = input::load(&request, &Requirements::by(model), par, notes)?;
    compare_features(model, &input, notes);
    Ok(input)
}

/// Returns the classes to score, ascending. One class is scored like two classes if labels are ±1.
fn scored_classes(model: &Model, needs: TargetKind, is_labelled: bool) -> Vec<f64> {
    let sides = needs == TargetKind::Nothing && is_labelled;
    let mut classes = if sides { vec![-1.0, 1.0] } else { model.classes().to_vec() };
    classes.sort_by(f64::total_cmp);
    classes
}

/// Returns the probabilities of all rows; none for a model without classes.
///
/// # Errors
///
/// If the options ask for probabilities that the model does not have.
fn probabilities(model: &Model, decisions: &[f64], args: &PredictArgs, par: Par) -> Result<Vec<f64>, Failure> {
    let regression = model.decision_rule() == DecisionRule::Value;
    match model.outcomes() {
        [] if args.probability && (!regression || model.calibration().is_empty()) => {
            let what = "the model has no probabilities; train with --probability platt, or run calibrate MODEL DATA";
            Err(Failure::input(args.model.display(), what))
        }
        [] => Ok(Vec::new()),
        _ => model.probabilities_of(decisions, par).map_err(|e| Failure::input(args.model.display(), e)),
    }
}

/// Returns the number of labels that are none of the model's classes, and warns of them. `known` is
/// the number of those that are.
fn unknown_labels(input: &Input, classes: &[f64], known: usize, notes: &mut Notes) -> usize {
    let rows = input.data.labels.len();
    let unknown = if classes.is_empty() || !input.is_labelled { 0 } else { rows - known - input.unlabelled };
    if unknown > 0 {
        let shown: Vec<String> = classes.iter().take(10).map(|label| label_names::display(*label)).collect();
        notes.warn(format!(
            "{unknown} of {rows} rows have a label that is none of the model's {} classes ({}{}): they are predicted but not scored",
            classes.len(),
            shown.join(", "),
            if classes.len() > shown.len() { ", …" } else { "" },
        ));
    }
    unknown
}

/// Returns the reliability of class probabilities, over the rows whose label the model knows.
fn reliability(model: &Model, labels: &[f64], probabilities: &[f64]) -> Option<Reliability> {
    let classes = model.classes();
    if classes.is_empty() || probabilities.is_empty() {
        return None;
    }
    let known = labels.iter().zip(probabilities.chunks_exact(classes.len()));
    let known = known.filter_map(|(label, row)| Some((classes.iter().position(|class| class == label)? as u32, row)));
    let (of, rows): (Vec<u32>, Vec<&[f64]>) = known.unzip();
    Reliability::of(&rows.concat(), classes.len(), &of)
}

/// Returns the scores of all rows with a label, if there are some and the model knows all labels.
/// The loss of several levels is their mean, as in a cross-validation.
fn scores_of(purpose: Purpose, labels: &[f64], predicted: &[f64], unknown: usize, levels: Option<&LevelScores>) -> Scores {
    let both = labels.iter().zip(predicted).filter(|(label, _)| !label.is_nan());
    let (labels, predicted): (Vec<f64>, Vec<f64>) = both.unzip();
    if unknown > 0 || labels.is_empty() {
        return Scores::new();
    }
    let score = |metric: &&'static Metric| (metric.name(), score_of(purpose, metric, f64::NAN, &labels, &predicted));
    let mut scores: Scores = metrics_of(purpose).iter().map(score).collect();
    if let Some(levels) = levels {
        scores.insert(metrics_of(purpose)[0].name(), levels.mean_loss());
    }
    scores
}

/// Notes a different number of features, which is allowed as in LIBSVM.
fn compare_features(model: &Model, input: &Input, notes: &Notes) {
    let (ours, theirs) = (model.features(), input.data.samples.features());
    // Data that was read by the columns of a model has these, and perhaps marks of gaps, which are
    // filled.
    if ours == theirs || model.columns().is_some() {
        return;
    }
    let effect = match &model.parts().scaler {
        _ if theirs < ours => "missing features count as 0",
        Some(_) => "features beyond the model's are ignored: its scaler does not know them",
        None if *model.kernel() == Kernel::Linear => "features beyond the model's have weight 0",
        None => "features beyond the model's count in kernel values",
    };
    notes.note(&format!("{} has {theirs} features, the model {ours}: {effect}", input.name));
}

fn report(d: &PredictDocument) -> String {
    let head = d.accuracy.map_or_else(String::new, |accuracy| {
        let known = format::count((d.data.rows - d.unknown_labels - d.unlabelled) as u64);
        let correct = format::count(d.correct as u64);
        let accuracy = format::percent(accuracy);
        format!("accuracy {accuracy} ({correct} of {known})\n\n{}\n", confusion_table(&d.confusion, &d.classes))
    });
    let scores = if d.data.classes.is_empty() || d.scores.contains_key("inliers") {
        let line = |(name, score): (&&str, &f64)| format!("{} {}\n", name.replace('_', " "), format::short(*score));
        d.scores.iter().map(line).collect::<String>()
    } else {
        String::new()
    };
    let scale = d
        .error_scale
        .map(|scale| format!("Laplace scale of the errors {}: density exp(-|z|/scale)/(2 scale)\n", format::short(scale)));
    let reliability =
        d.reliability.as_ref().map(|found| format!("{}\n{}\n", reliability_table(found, &d.classes), reliability_text(found)));
    let threshold = d.threshold.zip(d.classes.last()).map(|(threshold, second)| {
        format!(
            "labels by the model's threshold: class {} from decision value {} on\n",
            label_names::display(*second),
            format::short(threshold)
        )
    });
    let conformal = d.conformal.as_ref().map(ConformalDocument::text);
    let levels = d.levels.as_ref().map(levels_text);
    let parts = [scale.or(reliability), threshold, conformal, levels];
    let scores = scores + &parts.into_iter().flatten().collect::<String>();
    format!(
        "{head}{scores}{} rows, {} classes, {} support vectors; read {}, predict {}\n",
        format::count(d.data.rows as u64),
        d.classes.len(),
        format::count(d.support_vectors as u64),
        format::seconds(d.read_seconds),
        format::seconds(d.predict_seconds)
    )
}
