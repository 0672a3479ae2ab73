//! `export`: a model for programs without maxmargin.

mod report;

use super::predict;
use crate::args::ExportArgs;
use crate::console::failure::{Failure, Outcome};
use crate::console::notes::Notes;
use crate::files::input::request::DataRequest;
use crate::files::input::{Input, MaxSize, scale_failure};
use crate::files::model_file;
use crate::files::output::{Output, print};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::threads::Threads;
use maxmargin::cv::{Conformal, left_out_of, prediction_program};
use maxmargin::data::Par;
use maxmargin::export::{Checked, ExportError, Precision, Program, SingleChecked, c_source, check, check_single, graph, json};
use maxmargin::model::{Model, ModelError};
use std::path::Path;

/// The check of an ONNX graph on rows of a file.
struct Check {
    /// The name of the file.
    name: String,
    double: Option<Checked>,
    single: Option<SingleChecked>,
}

/// The files to write.
struct Outputs {
    onnx: Option<Output>,
    c: Option<Output>,
    json: Option<Output>,
}

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome, Failure> {
    let mut notes = Notes::new(args.quiet);
    let files = [&args.onnx, &args.c, &args.json];
    let on_stdout = files.iter().filter(|path| path.as_deref() == Some(Path::new("-"))).count();
    if on_stdout > 1 {
        return Err(Failure::Usage("two outputs go to standard output; name a file for one of them".to_owned()));
    }
    let mut paths = OutputPaths::new(args.write.force);
    paths.reads([&args.model]);
    paths.reads(args.check.as_deref());
    let mut open = |path: &Option<_>| path.as_deref().map(|path| paths.output(path, Content::Text)).transpose();
    let outputs = Outputs { onnx: open(&args.onnx)?, c: open(&args.c)?, json: open(&args.json)? };
    let threads = Threads::new(args.threads)?;
    let model = model_file::load(&args.model, MaxSize::of(args.options.max_size))?;
    let failed = |error: &dyn std::fmt::Display| Failure::input(args.model.display(), error);
    let program = prediction_program(&model, None, args.alpha).map_err(|error| failed(&error))?;
    tell_what_is_left_out(args, &model, &program, &mut notes)?;
    let lines = write(args, &model, &program, outputs, threads.par(), &mut notes)?;
    let text = report::text(&args.model.display().to_string(), &model, &program, &lines);
    match on_stdout {
        _ if args.quiet => {}
        0 => print(&text)?,
        _ => notes.note(text.trim_end()),
    }
    Ok(Outcome::Finished)
}

/// Warns of predictions that the model has and its program has not.
fn tell_what_is_left_out(args: &ExportArgs, model: &Model, program: &Program, notes: &mut Notes) -> Result<(), Failure> {
    let left_out = left_out_of(program, model).map_err(|error| Failure::input(args.model.display(), error))?;
    left_out.into_iter().for_each(|what| notes.warn(what));
    if args.alpha.is_some() && program.intervals.is_none() {
        let what = "--alpha: the model has no intervals; train a regression with --conformal 0.1";
        return Err(Failure::Usage(what.to_owned()));
    }
    Ok(())
}

/// Writes the files, and returns the lines of the report. Nothing is written before all contents
/// exist.
fn write(
    args: &ExportArgs,
    model: &Model,
    program: &Program,
    outputs: Outputs,
    par: Par,
    notes: &mut Notes,
) -> Result<Vec<(String, String)>, Failure> {
    let mut lines = Vec::new();
    let mut contents: Vec<(Output, Vec<u8>)> = Vec::new();
    let asked = if args.float32 { Precision::Single } else { Precision::Double };
    let failed = |error: ExportError| Failure::input(args.model.display(), error);
    if let Some(output) = outputs.onnx {
        let check = args.check.as_ref().map(|source| checked(args, source, model, program, asked, par, notes)).transpose()?;
        let is_open = check.as_ref().and_then(|check| check.single).is_some_and(|single| single.open > 0);
        let precision = if is_open { Precision::Double } else { asked };
        let graph = graph(program, precision);
        let bytes = graph.to_bytes(&report::metadata(model, program, precision, check.as_ref()));
        lines.extend(report::onnx(output.name(), &graph, precision, bytes.len(), check.as_ref()));
        contents.push((output, bytes));
    }
    if let Some(output) = outputs.c {
        let source = c_source(program, asked, &args.prefix).map_err(|error| match error {
            ExportError::Prefix(_) => Failure::Usage(format!("--prefix: {error}")),
            other => failed(other),
        })?;
        lines.push(report::c(output.name(), &source, asked));
        contents.push((output, source.text.into_bytes()));
    }
    if let Some(output) = outputs.json {
        let text = json(program).map_err(failed)?;
        lines.push(report::json(output.name(), text.len()));
        contents.push((output, text.into_bytes()));
    }
    for (output, bytes) in contents {
        output.write(|out| out.write_all(&bytes))?;
    }
    Ok(lines)
}

/// Compares the graph with the model on the rows of a file. A graph in single precision whose
/// labels could turn is given up, and the one in double precision is compared.
fn checked(
    args: &ExportArgs,
    source: &str,
    model: &Model,
    program: &Program,
    asked: Precision,
    par: Par,
    notes: &mut Notes,
) -> Result<Check, Failure> {
    let request = DataRequest { source: source.to_owned(), options: args.options.request() };
    let input = predict::load(&request, &[], model, par, notes)?;
    let samples = &input.data.samples;
    let single = (asked == Precision::Single).then(|| check_single(model, program, samples, par));
    let single = single.transpose().map_err(|error| failure(&input, error))?;
    let name = input.name.clone();
    if single.is_some_and(|single| single.open == 0) {
        return Ok(Check { name, double: None, single });
    }
    let intervals = match Conformal::of(model).map_err(|error| Failure::input(args.model.display(), error))? {
        Some(kept) if program.intervals.is_some() => {
            let found = kept.intervals(model, samples, args.alpha.unwrap_or(kept.level()), None, par);
            let found = found.map_err(|error| Failure::input(&input.name, error))?;
            found.iter().map(|of| [of.lower, of.upper]).collect()
        }
        _ => Vec::new(),
    };
    let graph = graph(program, Precision::Double);
    let double = check(model, program, &graph, samples, &intervals, par).map_err(|error| failure(&input, error))?;
    if let Some(found) = double
        && let Some(other @ 1..) = found.other_labels
    {
        let what = format!("{other} of {} rows would have another label", found.rows);
        notes.warn(format!("{name}: {what}; decision values or probabilities there are equal but for rounding"));
    }
    Ok(Check { name, double, single })
}

/// Returns the failure of a check at the rows that it is about.
fn failure(input: &Input, error: ExportError) -> Failure {
    match error {
        ExportError::Model(ModelError::Scale(error)) => scale_failure(input, &error),
        other => Failure::input(&input.name, other),
    }
}
