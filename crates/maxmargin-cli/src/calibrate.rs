//! `calibrate`: probabilities for a model that is there, from the data it was trained on.

use crate::args::CalibrateArgs;
use crate::failure::{Done, Failure};
use crate::input::MaxSize;
use crate::lock::Patience;
use crate::notes::Notes;
use crate::output::show;
use crate::places::{Content, Places};
use crate::problem::failed;
use crate::progress::Bar;
use crate::report::{DataDocument, End, Seconds, Setup, calibration_text, fields, reliability_table, setup_line};
use crate::threads::Threads;
use crate::verify::training_data;
use crate::{format, memory, model_io};
use maxmargin::Svm;
use maxmargin::core::Status;
use maxmargin::cv::CalibrationReport;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct CalibrateDocument {
    #[serde(flatten)]
    setup: Setup,
    model: String,
    calibration: CalibrationReport,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &CalibrateArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    let path = args.output.as_deref().unwrap_or(&args.model);
    let on_stdout = path == Path::new("-");
    if args.run.json && on_stdout {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a model file".to_owned()));
    }
    let name = args.model.display().to_string();
    let threads = Threads::new(args.run.threads)?;
    let mut places = Places::new(args.write.force);
    places.reads(args.data.as_deref().map(Path::new));
    // As an update does: nobody else writes there from here on.
    let content = if args.output.is_some() { Content::Model } else { Content::Changed };
    let output = places.output(path, content)?;
    places.reads([&args.model]);
    let output = output.locked(Patience::Wait)?;
    let model = model_io::load(&args.model, MaxSize::of(&args.options))?;
    let svm = Svm::of_model(&model).map_err(|e| Failure::input(&name, e))?;
    let input = training_data((&args.model, args.data.as_deref()), &args.options, &model, (threads.par(), &mut notes))?;
    let record = model.record().ok_or_else(|| Failure::input(&name, "it has no record of its training"))?;
    let setup = Setup {
        seed: Some(args.options.seed),
        ..Setup::of_model(
            "calibrate",
            DataDocument::seen(&input.name, &input.data, record.formulation.needs()),
            &model,
            (record.formulation, record.weights.clone()),
            record.goal(),
        )
    };
    let svm = svm
        .probability(args.probability)
        .seed(args.options.seed)
        .memory(args.memory.unwrap_or_else(memory::default_budget))
        .threads(threads.par());
    let calibrated = {
        let bar = Bar::new(args.run.quiet, input.data.labels.len(), 1);
        svm.calibrate_watched(model, &input.data, &bar).map_err(|e| failed(&input, &e))?
    };
    let (status, report) = (calibrated.report.status, calibrated.report);
    if let Some(why) = report.missing {
        notes.warn(format!("nothing was written, {name} is as it was: there are no probabilities, {why}"));
        return Ok(if status.ended_early() { Done::Abandoned } else { Done::Refuted });
    }
    let model_name = output.name().to_owned();
    let decide = args.decide.decide(&calibrated.model);
    let model = calibrated.model.with_decide(decide).map_err(|e| Failure::input(&name, e))?;
    model_io::save(&model, output)?;
    let document = CalibrateDocument {
        setup,
        model: model_name,
        calibration: report,
        seconds: Seconds { read: input.seconds, total: begun.elapsed().as_secs_f64(), ..Seconds::default() },
        end: End::now(&threads, &notes),
    };
    show(&document, args.run.json, text, on_stdout.then_some(&notes))?;
    Ok(if status == Status::Converged { Done::Finished } else { Done::Stopped })
}

fn text(d: &CalibrateDocument) -> String {
    let rows = vec![
        ("solver", setup_line(&d.setup)),
        ("probabilities", calibration_text(&d.calibration)),
        ("time", format::seconds(d.seconds.total)),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
    ];
    let table = d.calibration.reliability.as_ref().map(|found| format!("\n{}", reliability_table(found, &d.setup.labels())));
    format!("{} from {}\n{}{}", d.model, d.setup.data.name, fields(&rows), table.unwrap_or_default())
}
