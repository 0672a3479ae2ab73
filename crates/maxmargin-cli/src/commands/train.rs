//! `train`: one model of all data, with its certificate.

use crate::args::{RunArgs, TrainArgs, decision_rule};
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::notes::Notes;
use crate::console::progress::{Bar, Phase};
use crate::files::input::Input;
use crate::files::model_file;
use crate::files::output::{Output, check_standard_output, show_written};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::threads::Threads;
use crate::problem::folds::{folds_file, plan, write_folds};
use crate::problem::groups::{training_groups, with_groups};
use crate::problem::{BoundedSamples, PreparedProblem, ProblemRequest, RunContext, cost_of_tube, failed, warn_of_small_cost};
use crate::report::advice;
use crate::report::missing_classes::warn_of_calibration;
use crate::report::page::{Page, reliability, run_facts};
use crate::report::{
    End, MachineDocument, Seconds, Setup, SolutionDocument, calibration_text, certificate_text, conformal_text, cost_text,
    data_line, fields, kernel_rows, machines_table, multiclass_text, reliability_table, reliability_text, setup_line,
    status_text, threshold_text, warn_of_conformal, work_text,
};
use maxmargin::core::Status;
use maxmargin::cv::{CalibrationReport, ConformalOptions, ConformalReport, ThresholdReport, TrainingData};
use maxmargin::data::Par;
use maxmargin::{Error, Fitted, PreparedData, Svm, fit_linear};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Rows on which a regression is checked for having learnt nothing.
const JUDGED: usize = 1000;

#[derive(Debug, Serialize)]
struct TrainDocument {
    #[serde(flatten)]
    setup: Setup,
    #[serde(flatten)]
    solved: SolutionDocument,
    model: String,
    /// The calibration, if requested.
    calibration: Option<CalibrationReport>,
    /// The threshold, if requested.
    threshold: Option<ThresholdReport>,
    /// The conformal predictions, if requested.
    conformal: Option<ConformalReport>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &TrainArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let run = &args.svm.run;
    let mut notes = Notes::new(run.quiet);
    let path = args.output.clone().unwrap_or_else(|| default_model(&args.data.source));
    let on_stdout = path.as_os_str() == "-";
    check_standard_output(run.json.is_some(), on_stdout)?;
    let request = args.svm.request("train", Some(args.cost.c), &args.data.options)?;
    let request = request.updatable(args.updatable).seeded(args.folds.seeding.seeding);
    check_objective(args, &request)?;
    let svm = args.probability.apply(request.svm()?);
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([&args.data.source]);
    paths.reads(folds_file(args.folds.folds.as_ref()).into_iter().chain(args.svm.problem.weights.as_deref()));
    let groups = args.conformal.conformal_groups.as_deref();
    paths.reads(groups);
    let output = paths.output(&path, Content::Model)?;
    let model_name = output.name().to_owned();
    let mut text = |path: Option<&Path>| path.map(|path| paths.output(path, Content::Text)).transpose();
    let page = text(args.report.as_deref())?;
    let folds_output = text(args.folds.write_folds.as_deref())?;
    let threads = Threads::new(run.threads)?;
    let context = RunContext { begun, threads: &threads };
    let input = request.load(&with_groups(args.data.request(), [args.folds.source_of_groups(), groups]), context, &mut notes)?;
    let svm = with_conformal(args, svm, &request, &input, folds_output, &mut notes)?;
    let PreparedProblem { svm, data, setup, .. } = request.prepare(svm, &input, context, &mut notes)?;
    let fitted = fit(&request, &svm, &data, run.quiet).map_err(|e| failed(&input, &e))?;
    warn_of_unfinished(&fitted, &svm, run, &mut notes);
    warn_of_missing_calibration(&fitted, &mut notes);
    if let Some(c) = cost_of_tube(svm.formulation()) {
        warn_of_poor_regression(c, &fitted, &input, &mut notes)?;
    }
    let (solved, kernel_seconds) = (solution(&fitted, &setup), fitted.kernel.time.as_secs_f64());
    let decide = decision_rule(&fitted.model, args.probability.decide);
    let mut model = fitted.model.with_decision_rule(decide).map_err(|e| Failure::input(&input.name, e))?;
    if args.updatable {
        model = TrainingData::new(input.data.clone()).put_into(model).map_err(|e| Failure::input(&input.name, e))?;
    }
    let writing = Phase::new(run.quiet, format!("writing {model_name}"));
    model_file::save(&model, output)?;
    drop(writing);
    let parts =
        Seconds { read: input.seconds, kernel: Some(kernel_seconds), solve: Some(fitted.solve_seconds), ..Seconds::default() };
    let document = TrainDocument {
        setup,
        solved,
        model: model_name,
        calibration: fitted.calibration,
        threshold: fitted.threshold,
        conformal: fitted.conformal,
        seconds: Seconds { total: begun.elapsed().as_secs_f64(), ..parts },
        end: End::now(&threads, &mut notes),
    };
    if let Some(page) = page {
        page.write(|out| out.write_all(html(&document).as_bytes()))?;
    }
    let (json, shown) = (run.json.is_some(), on_stdout.then_some(&notes));
    show_written(&document, |d| &d.model, json, |d| report(d, run.verbose), shown)?;
    Ok(if document.solved.status == Status::Converged { Outcome::Finished } else { Outcome::Stopped })
}

/// Refuses options that do not go with the linear machine that is requested, if there is one.
fn check_objective(args: &TrainArgs, request: &ProblemRequest) -> Result<(), Failure> {
    request.check_objective(&[
        (args.updatable, "--updatable"),
        (args.conformal.conformal.is_some(), "--conformal"),
        (args.probability.is_given(), "--probability, --threshold, --decide"),
    ])
}

/// Trains, with a bar.
fn fit(request: &ProblemRequest, svm: &Svm, data: &PreparedData, quiet: bool) -> Result<Fitted, Error> {
    let bar = Bar::new(quiet);
    match request.objective {
        Some(objective) => fit_linear(objective, svm, data, &bar.control()),
        None => svm.fit_with(data, &bar.control()),
    }
}

/// Adds the requested conformal predictions, over the folds of the options.
fn with_conformal(
    args: &TrainArgs,
    svm: Svm,
    request: &ProblemRequest,
    input: &Input,
    folds_output: Option<Output>,
    notes: &mut Notes,
) -> Result<Svm, Failure> {
    if args.conformal.conformal.is_none() {
        return Ok(svm);
    }
    let (plan, name) = plan(&args.folds.request(&args.data.options), request.target_kind(), input, notes)?;
    write_folds(folds_output, &plan)?;
    let groups = training_groups(args.conformal.conformal_groups.as_deref(), args.data.options.max_size, input)?;
    let options = args.conformal.request(&name, groups);
    let options = options.map(|options| ConformalOptions { plan: Some(Arc::new(plan)), ..options });
    Ok(options.into_iter().fold(svm, Svm::conformal_with))
}

/// Describes the solution of a training.
fn solution(fitted: &Fitted, setup: &Setup) -> SolutionDocument {
    SolutionDocument {
        status: fitted.status,
        certificate: Some(fitted.certificate),
        machines: MachineDocument::of(&setup.machine_names(), &fitted.machines),
        iterations: fitted.iterations,
        rows_computed: fitted.kernel.computed,
        kernel_bytes: fitted.kernel.peak_bytes,
        support_vectors: fitted.model.support_vectors(),
        work: fitted.counts.iter().copied().collect(),
    }
}

/// Warns of machines that missed the tolerance, with advice for the worst.
fn warn_of_unfinished(fitted: &Fitted, svm: &Svm, run: &RunArgs, notes: &mut Notes) {
    let unfinished = fitted.machines.iter().filter(|m| m.status != Status::Converged || !m.certificate.holds).count();
    if unfinished > 0 {
        let what = advice::unfinished(fitted.status, &fitted.certificate, svm, run.limits());
        notes.warn(match fitted.machines.len() {
            1 => what,
            all => format!("{unfinished} of {all} machines are unfinished; the worst: {what}"),
        });
    }
}

/// Warns of classes that the calibration lacks, and of a model without a requested part.
pub(super) fn warn_of_missing_calibration(fitted: &Fitted, notes: &mut Notes) {
    warn_of_calibration(fitted.calibration.as_ref().map(|calibration| &calibration.run), notes);
    if let Some(why) = fitted.calibration.as_ref().and_then(|calibration| calibration.missing) {
        notes.warn(format!("the model has no probabilities: {why}"));
    }
    if let Some(why) = fitted.threshold.as_ref().and_then(|threshold| threshold.missing) {
        notes.warn(format!("the model keeps the threshold 0: {why}"));
    }
    if let Some(found) = &fitted.conformal {
        warn_of_conformal(found.missing, found.coverage.as_ref(), notes);
    }
}

/// Warns of a regression that is at C nearly everywhere and explains nothing of its training rows.
fn warn_of_poor_regression(c: f64, fitted: &Fitted, input: &Input, notes: &mut Notes) -> Result<(), Failure> {
    let bounded = fitted.machines.iter().map(|machine| machine.bounded).sum();
    let samples = input.data.labels.len();
    let at = BoundedSamples { bounded, samples };
    if !at.is_near_all() {
        return Ok(());
    }
    let rows: Vec<usize> = (0..samples).step_by(samples.div_ceil(JUDGED).max(1)).collect();
    let queries = input.data.samples.select(&rows);
    let predicted = fitted.model.decision_values(&queries, Par::Seq).map_err(|e| Failure::input(&input.name, e))?;
    let truth: Vec<f64> = rows.iter().map(|&row| input.data.labels[row]).collect();
    warn_of_small_cost(c, at, &truth, &predicted, notes);
    Ok(())
}

/// `12 are not 0`, over all machines.
fn nonzeros_text(machines: &[MachineDocument]) -> String {
    let nonzeros: usize = machines.iter().map(|machine| machine.report.support_vectors).sum();
    format!("{} are not 0", format::count(nonzeros as u64))
}

/// `120 of 1,000`; of one machine also `: 100 bounded, 20 free`
fn support_vectors_text(d: &TrainDocument) -> String {
    let count = |number: usize| format::count(number as u64);
    let all = format!("{} of {}", count(d.solved.support_vectors), count(d.setup.data.rows));
    let [MachineDocument { report, .. }] = &d.solved.machines[..] else { return all };
    let free = report.support_vectors.saturating_sub(report.bounded);
    format!("{all}: {} bounded, {} free", count(report.bounded), count(free))
}

/// Returns the training as a page.
fn html(d: &TrainDocument) -> String {
    let mut page = Page::new(format!("Training on {}", d.setup.data.name));
    page.facts(&summary(d, false));
    page.warnings(&d.end.warnings);
    if let Some(found) = d.calibration.as_ref().and_then(|found| found.reliability.as_ref()) {
        page.heading("Probabilities");
        let caption = format!("{}; bars: one standard error", reliability_text(found));
        page.pictures(&[(reliability(found), caption)]);
    }
    page.heading("What was run");
    page.facts(&run_facts(&d.setup));
    page.html()
}

fn report(d: &TrainDocument, verbose: bool) -> String {
    let reliability = d.calibration.as_ref().and_then(|found| found.reliability.as_ref());
    let reliability = reliability.map_or_else(String::new, |found| format!("\n{}", reliability_table(found, &d.setup.labels())));
    data_line(&d.setup.data) + &fields(&summary(d, verbose)) + &machines_table(&d.solved.machines) + &reliability
}

/// Returns the lines about the training.
fn summary(d: &TrainDocument, verbose: bool) -> Vec<(&'static str, String)> {
    let TrainDocument { setup, solved, seconds, .. } = d;
    let certified = MachineDocument::certified(&solved.machines);
    let classes = setup.labels().len();
    let mut rows = vec![
        ("solver", setup_line(setup)),
        ("C, goal", format!("{}, {}", cost_text(setup), setup.goal_text())),
        ("scaling", setup.scale.unwrap_or("none").to_owned()),
        ("status", format!("{} after {} iterations", status_text(solved.status), format::count(solved.iterations))),
        ("certificate", certificate_text(&certified, &setup.formulation, setup.eps, setup.gap, "machine")),
        if setup.formulation.has_weights_only() {
            ("weights", nonzeros_text(&solved.machines))
        } else {
            ("support vectors", support_vectors_text(d))
        },
    ];
    if classes > 2 && !setup.formulation.is_of_all_classes() {
        rows.insert(
            3,
            (
                "machines",
                format!("{}, {}", certified.len(), multiclass_text(setup.multiclass.unwrap_or_default(), Some(classes))),
            ),
        );
    }
    rows.extend(work_text(&solved.work).map(|text| ("work", text)));
    rows.extend(d.calibration.as_ref().map(|found| ("probabilities", calibration_text(found))));
    rows.extend(d.threshold.as_ref().map(|found| ("threshold", threshold_text(found, &setup.labels()))));
    rows.extend(d.conformal.as_ref().map(|found| ("conformal", conformal_text(found))));
    if !setup.over_features() {
        rows.push(("kernel rows", kernel_rows(solved.rows_computed, setup.data.rows, solved.kernel_bytes)));
    }
    let time = format::seconds(seconds.total);
    let phases = || {
        let [solve, kernel] = [seconds.solve, seconds.kernel].map(|part| format::seconds(part.unwrap_or(0.0)));
        format!("{time}: read {}, solve and certify {solve}, of which kernel rows {kernel}", format::seconds(seconds.read))
    };
    rows.extend([
        ("time", if verbose { phases() } else { time.clone() }),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
        ("model", d.model.clone()),
    ]);
    rows
}

/// Returns the data's name with `.model`, in the current directory.
pub(crate) fn default_model(source: &str) -> PathBuf {
    let name = if source == "-" { Path::new("stdin") } else { Path::new(source) };
    let name = name.file_name().map_or_else(|| "data".into(), |n| n.to_string_lossy().into_owned());
    let packed = maxmargin::data::compress::ENDINGS.into_iter().find_map(|end| name.strip_suffix(end));
    PathBuf::from(format!("{}.model", packed.unwrap_or(&name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_named_after_their_data() {
        assert_eq!(default_model("../data/a9a.xz"), Path::new("a9a.model"));
        assert_eq!(default_model("heart"), Path::new("heart.model"));
        assert_eq!(default_model("-"), Path::new("stdin.model"));
        assert_eq!(default_model("banana"), Path::new("banana.model"));
    }
}
