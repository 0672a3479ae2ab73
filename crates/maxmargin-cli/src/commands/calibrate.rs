//! `calibrate`: probabilities or a threshold for an existing model, from its training data.

use crate::args::{CalibrateArgs, decision_rule, with_calibration};
use crate::commands::verify::training_data;
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::notes::Notes;
use crate::console::progress::Bar;
use crate::files::input::{Input, MaxSize};
use crate::files::lock::IfLocked;
use crate::files::model_file;
use crate::files::output::{check_standard_output, show_written};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::memory;
use crate::machine::threads::Threads;
use crate::problem::failed;
use crate::report::missing_classes::warn_of_calibration;
use crate::report::{DataDocument, End, Seconds, Setup, calibration_text, fields, reliability_table, setup_line, threshold_text};
use maxmargin::Svm;
use maxmargin::core::Status;
use maxmargin::cv::{CalibrationOptions, CalibrationReport, ThresholdReport};
use maxmargin::model::{Model, Record};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct CalibrateDocument {
    #[serde(flatten)]
    setup: Setup,
    model: String,
    calibration: Option<CalibrationReport>,
    threshold: Option<ThresholdReport>,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let path = args.output.as_deref().unwrap_or(&args.model);
    let on_stdout = path == Path::new("-");
    check_standard_output(args.run.json, on_stdout)?;
    let name = args.model.display().to_string();
    let threads = Threads::new(args.run.threads)?;
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads(args.data.as_deref().map(Path::new));
    // As in an update, no other process writes the model from here on.
    let content = if args.output.is_some() { Content::Model } else { Content::Changed };
    let output = paths.output(path, content)?;
    paths.reads([&args.model]);
    let output = output.locked(IfLocked::Wait)?;
    let model = model_file::load(&args.model, MaxSize::of(args.options.max_size))?;
    let svm = Svm::of_model(&model).map_err(|e| Failure::input(&name, e))?;
    let input = training_data(&args.model, args.data.as_deref(), &args.options.request(), &model, threads.par(), &mut notes)?;
    let record = model.record().ok_or_else(|| Failure::input(&name, "it has no record of its training"))?;
    let setup = setup(args, &input, &model, record);
    let calibration_options = CalibrationOptions { probability: args.probability, threshold: args.threshold };
    let svm = with_calibration(calibration_options, svm)
        .seed(args.options.seed)
        .memory(args.memory.unwrap_or_else(memory::default_budget))
        .threads(threads.par());
    let calibrated = {
        let bar = Bar::new(args.run.quiet);
        svm.calibrate_with(model, &input.data, &bar.control()).map_err(|e| failed(&input, &e))?
    };
    let status = calibrated.run().map_or(Status::Converged, |run| run.status);
    warn_of_calibration(calibrated.calibration.as_ref().map(|calibration| &calibration.run), &mut notes);
    if let Some(why) = calibrated.missing() {
        let what = if calibrated.calibration.is_some() { "probabilities" } else { "threshold" };
        notes.warn(format!("nothing was written, {name} is unchanged: no {what}, {why}"));
        return Ok(if status.ended_early() { Outcome::Interrupted } else { Outcome::Refuted });
    }
    let model_name = output.name().to_owned();
    let rule = decision_rule(&calibrated.model, args.decide);
    let model = calibrated.model.with_decision_rule(rule).map_err(|e| Failure::input(&name, e))?;
    model_file::save(&model, output)?;
    let document = CalibrateDocument {
        setup,
        model: model_name,
        calibration: calibrated.calibration,
        threshold: calibrated.threshold,
        seconds: Seconds { read: input.seconds, total: begun.elapsed().as_secs_f64(), ..Seconds::default() },
        end: End::now(&threads, &mut notes),
    };
    show_written(&document, |d| &d.model, args.run.json, text, on_stdout.then_some(&notes))?;
    Ok(if status == Status::Converged { Outcome::Finished } else { Outcome::Stopped })
}

/// Describes the problem that the model was trained for.
fn setup(args: &CalibrateArgs, input: &Input, model: &Model, record: &Record) -> Setup {
    Setup {
        seed: Some(args.options.seed),
        ..Setup::of_model(
            "calibrate",
            DataDocument::for_target(&input.name, &input.data, record.formulation.target_kind()),
            model,
            record.formulation,
            record.weights.clone(),
            record.goal(),
        )
    }
}

fn text(d: &CalibrateDocument) -> String {
    let mut rows = vec![("solver", setup_line(&d.setup))];
    rows.extend(d.calibration.as_ref().map(|found| ("probabilities", calibration_text(found))));
    rows.extend(d.threshold.as_ref().map(|found| ("threshold", threshold_text(found, &d.setup.labels()))));
    rows.extend([("time", format::seconds(d.seconds.total)), ("peak memory", format::bytes(d.end.peak_rss_bytes))]);
    let reliability = d.calibration.as_ref().and_then(|found| found.reliability.as_ref());
    let table = reliability.map(|found| format!("\n{}", reliability_table(found, &d.setup.labels())));
    format!("{} from {}\n{}{}", d.model, d.setup.data.name, fields(&rows), table.unwrap_or_default())
}
