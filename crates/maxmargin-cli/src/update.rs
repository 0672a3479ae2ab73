//! `update`: samples into a model and out of it, exactly, without training again.

use crate::args::{Numbers, UpdateArgs, number_or_range};
use crate::failure::{Done, Failure, reason};
use crate::input::{self, Input};
use crate::interrupt;
use crate::notes::Notes;
use crate::output::{Output, print, print_json};
use crate::report::{Certified, End, UpdateDocument, update_report};
use crate::threads::Threads;
use crate::{format, memory, model_io};
use maxmargin::core::Status;
use maxmargin::data::libsvm;
use maxmargin::model::Model;
use maxmargin::path::Update;
use maxmargin::{Change, Kept, UpdateError, Updated, update};
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &UpdateArgs) -> Result<Done, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    if args.add.is_none() && args.remove.is_none() && args.c.is_none() {
        return Err(Failure::Usage("nothing to do: give --add DATA, --remove NUMBERS or -c C".to_owned()));
    }
    let path = args.output.as_deref().unwrap_or(&args.model);
    if args.run.json && path == Path::new("-") {
        return Err(Failure::Usage("--json and -o -: both write to standard output; name a model file".to_owned()));
    }
    let name = args.model.display().to_string();
    let threads = Threads::new(args.run.threads)?;
    let model = model_io::load(&args.model)?;
    let output = Output::open(path)?;
    let data_output = args.write_data.as_deref().map(Output::open).transpose()?;
    let kept = kept(args, &name, &model, &threads, &mut notes)?;
    let base = Some(model.parts().index_base);
    let add = args.add.as_deref();
    let add = add.map(|add| input::load_from(add, &args.options, base, threads.par(), &mut notes)).transpose()?;
    let remove = args.remove.as_ref().map_or(Ok(Vec::new()), |remove| removed(remove, &name, &kept))?;
    let change = Change { add: add.as_ref().map(|input| &input.data), remove: &remove, c: args.c };
    let budget = args.memory.unwrap_or_else(memory::default_budget);
    interrupt::listen();
    let watch = |update: &Update| watch(update, &mut notes);
    let result = update(&model, &kept, &change, budget, threads.par(), watch);
    let updated = match result {
        Ok(updated) => updated,
        Err(UpdateError::Interrupted) => {
            notes.warn(format!("interrupted: nothing was written, {name} is as it was"));
            return Ok(Done::Stopped);
        }
        Err(error) => return Err(failure(&error, &name, add.as_ref())),
    };
    let status = updated.model.record().map_or(updated.opened.status, |record| record.status);
    if status != Status::Converged {
        let last = updated.paths.last().unwrap_or(&updated.opened);
        notes.warn(format!(
            "the KKT violation is {}, not {}: train again from the data (--write-data FILE)",
            format::short(last.kkt),
            format::short(last.tolerance)
        ));
    }
    if let Some(output) = data_output {
        output.write(|mut out| libsvm::write(&updated.kept.data, &mut out))?;
    }
    let model_name = output.name().to_owned();
    let on_stdout = path == Path::new("-");
    model_io::save(&updated.model, output)?;
    let document = document(&updated, (kept.numbers.len(), remove.len()), model_name, begun, &threads, &notes);
    if args.run.json {
        print_json(&document)?;
    } else if on_stdout {
        notes.say(update_report(&document).trim_end());
    } else {
        print(&update_report(&document))?;
    }
    Ok(if status == Status::Converged { Done::Finished } else { Done::Stopped })
}

/// The training data: what the model keeps, or the file that `--data` names.
fn kept(args: &UpdateArgs, name: &str, model: &Model, threads: &Threads, notes: &mut Notes) -> Result<Kept, Failure> {
    let stored = Kept::of(model).map_err(|e| Failure::input(name, e))?;
    match (stored, &args.data) {
        (Some(kept), None) => Ok(kept),
        (Some(_), Some(_)) => Err(Failure::Usage(format!("--data: {name} keeps its training data; leave it out"))),
        (None, Some(data)) => {
            let base = Some(model.parts().index_base);
            Ok(Kept::new(input::load_from(data, &args.options, base, threads.par(), notes)?.data))
        }
        (None, None) => {
            let what = "the model does not keep its training data; give the file it was trained on with --data, or train with --updatable";
            Err(Failure::input(name, what))
        }
    }
}

/// The numbers that `--remove` names.
fn removed(remove: &Numbers, name: &str, kept: &Kept) -> Result<Vec<u64>, Failure> {
    let ranges: Vec<RangeInclusive<u64>> = match remove {
        Numbers::List(ranges) => ranges.clone(),
        Numbers::File(path) => {
            let file = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|e| {
                let what = format!("cannot read the numbers: {}; --remove takes 3,7,20-40 or a file of numbers", reason(&e));
                Failure::input(&file, what)
            })?;
            let mut ranges = Vec::new();
            for (line, text) in text.lines().enumerate() {
                for cell in text.split([',', ' ', '\t']).filter(|cell| !cell.is_empty()) {
                    let range = number_or_range(cell);
                    ranges.push(range.map_err(|what| Failure::input(format!("{file}:{}: `{cell}`", line + 1), what))?);
                }
            }
            ranges
        }
    };
    let mut numbers = Vec::new();
    for number in ranges.into_iter().flatten() {
        if kept.numbers.binary_search(&number).is_err() {
            return Err(Failure::input(name, format!("--remove: {}", UpdateError::Number(number))));
        }
        numbers.push(number);
    }
    Ok(numbers)
}

fn watch(update: &Update, notes: &mut Notes) -> ControlFlow<()> {
    if update.breakpoints.is_multiple_of(4096) {
        let (breakpoints, way) = (format::count(update.breakpoints as u64), 100.0 * update.travelled);
        notes.say(&format!("{breakpoints} breakpoints, {way:.0} % of the way, {} samples in the margin", update.margin));
    }
    if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The message names the file that is to be mended.
fn failure(error: &UpdateError, model: &str, add: Option<&Input>) -> Failure {
    match (error, add) {
        (UpdateError::Label { row, .. }, Some(add)) => Failure::input(format!("{}: row {row}", add.name), error),
        _ => Failure::input(model, error),
    }
}

fn document(
    updated: &Updated,
    (before, removed): (usize, usize),
    model: String,
    begun: Instant,
    threads: &Threads,
    notes: &Notes,
) -> UpdateDocument {
    let sum = updated.paths.iter().copied().reduce(Update::followed_by).unwrap_or(updated.opened);
    let record = updated.model.record();
    UpdateDocument {
        model,
        rows_before: before,
        rows: record.map_or(0, |r| r.rows as usize),
        added: updated.added.clone().count(),
        first_number: updated.added.start,
        removed,
        c: record.map_or(0.0, |r| r.c),
        status: sum.status,
        breakpoints: sum.breakpoints,
        zero_steps: sum.zero_steps,
        exchanges: sum.exchanges,
        repairs: sum.repairs,
        opening_repairs: updated.opened.repairs,
        columns: sum.columns + updated.opened.columns,
        margin: sum.margin,
        bounded: sum.bounded,
        support_vectors: updated.model.len(),
        tolerance: sum.tolerance,
        certificate: Certified::new(&updated.certificate, sum.tolerance),
        total_seconds: begun.elapsed().as_secs_f64(),
        end: End::now(threads, notes),
    }
}
