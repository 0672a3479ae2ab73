//! `update`: adds samples to a model and removes others, exactly, without training again.

use crate::args::{Numbers, UpdateArgs};
use crate::console::failure::{Failure, Outcome};
use crate::console::format;
use crate::console::interrupt;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::files::input::{self, Input, MaxSize, Requirements};
use crate::files::lock::IfLocked;
use crate::files::model_file;
use crate::files::output::{Output, check_standard_output, show_written};
use crate::files::output_paths::{Content, OutputPaths};
use crate::machine::memory;
use crate::machine::threads::Threads;
use crate::report::{
    DataDocument, End, MachineDocument, MachineNames, Seconds, Setup, SolutionDocument, Work, certificate_text, fields,
    machines_table, status_text, work_text,
};
use maxmargin::core::Status;
use maxmargin::cv::update::numbers_of;
use maxmargin::cv::{
    CertificateReport, Change, Conformal, KeptPreparation, MachineReport, MachineUpdate, PathStats, TrainingData, UpdateError,
    Updated, update,
};
use maxmargin::data::libsvm;
use maxmargin::model::{Model, Record};
use maxmargin::path::Update;
use serde::Serialize;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::Path;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct UpdateDocument {
    #[serde(flatten)]
    setup: Setup,
    model: String,
    rows_before: usize,
    rows: usize,
    added: usize,
    /// The number of the first sample added.
    first_number: u64,
    removed: usize,
    /// Free support vectors of all machines.
    margin: usize,
    /// Bounded support vectors of all machines.
    bounded: usize,
    /// The KKT tolerance of an exact update.
    tolerance: f64,
    #[serde(flatten)]
    solved: SolutionDocument,
    #[serde(flatten)]
    seconds: Seconds,
    #[serde(flatten)]
    end: End,
}

pub(crate) fn run(args: &UpdateArgs) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let mut notes = Notes::new(args.run.quiet);
    if args.add.is_none() && args.remove.is_none() && args.c.is_none() {
        return Err(Failure::Usage("nothing to do: give --add DATA, --remove NUMBERS or -c C".to_owned()));
    }
    let path = args.output.as_deref().unwrap_or(&args.model);
    let on_stdout = path == Path::new("-");
    check_standard_output(args.run.json, on_stdout)?;
    let name = args.model.display().to_string();
    let threads = Threads::new(args.run.threads)?;
    let mut paths = OutputPaths::new(args.write.force);
    let numbers = args.remove.as_ref().and_then(Numbers::file);
    paths.reads([&args.add, &args.data].into_iter().flatten().map(Path::new).chain(numbers));
    // No other process may write the model until it is replaced, because its changes would be lost.
    let if_locked = if args.no_wait { IfLocked::Fail } else { IfLocked::Wait };
    // The model may replace itself.
    let content = if args.output.is_some() { Content::Model } else { Content::Changed };
    let output = paths.output(path, content)?;
    paths.reads([&args.model]);
    let data_output = args.write_data.as_deref().map(|path| paths.output(path, Content::Text)).transpose()?;
    let output = output.locked(if_locked)?;
    let model = model_file::load(&args.model, MaxSize::of(args.options.max_size))?;
    let kept = training_data(args, &name, &model, &threads, &mut notes)?;
    let wanted = Requirements::training(&model);
    let load = |add: &str, notes: &mut Notes| input::load_from(add, &args.options.request(), &wanted, threads.par(), notes);
    let add = args.add.as_deref().map(|add| load(add, &mut notes)).transpose()?;
    let remove = numbers_to_remove(args, &name, &kept)?;
    let read = begun.elapsed().as_secs_f64();
    let change = Change { add: add.as_ref().map(|input| &input.data), remove: &remove, c: args.c };
    interrupt::listen_without_result();
    let walking = Instant::now();
    let budget = args.memory.unwrap_or_else(memory::default_budget);
    let updated = match update(&model, &kept, &change, budget, threads.par(), &|update| on_progress(update, &notes)) {
        Ok(updated) => updated,
        Err(UpdateError::Interrupted) => {
            notes.warn(format!("interrupted: nothing was written, {name} is unchanged"));
            return Ok(Outcome::Interrupted);
        }
        Err(error) => return Err(failure(&error, &name, add.as_ref())),
    };
    let solve = walking.elapsed().as_secs_f64();
    let (status, is_table) = (updated.status(), model.columns().is_some());
    warn_of_changes(&model, &updated, &mut notes);
    data_output.map_or(Ok(()), |output| write_data(output, &updated, is_table, &mut notes))?;
    let model_name = output.name().to_owned();
    model_file::save(&updated.model, output)?;
    let seconds = Seconds { read, solve: Some(solve), total: begun.elapsed().as_secs_f64(), ..Seconds::default() };
    let end = End::now(&threads, &mut notes);
    let document = UpdateDocument {
        rows_before: kept.numbers.len(),
        removed: remove.len(),
        ..document(&updated, model_name, seconds, end).ok_or_else(|| failure(&UpdateError::NoRecord, &name, None))?
    };
    show_written(&document, |d| &d.model, args.run.json, |document| report(document, is_table), on_stdout.then_some(&notes))?;
    Ok(if status == Status::Converged { Outcome::Finished } else { Outcome::Stopped })
}

/// Writes the data of the updated model.
fn write_data(output: Output, updated: &Updated, is_table: bool, notes: &mut Notes) -> Result<(), Failure> {
    if is_table {
        let columns = "words as columns of 0 and 1, gaps as 0 with a column that marks them, classes as numbers";
        notes.warn(format!("{}: has the columns of the model, not those of the table ({columns})", output.name()));
    }
    output.write(|mut out| libsvm::write(&updated.kept.data, &mut out))
}

/// Describes the updated model; None if it has no record.
fn document(updated: &Updated, model: String, seconds: Seconds, end: End) -> Option<UpdateDocument> {
    let (record, sum) = (updated.model.record()?, updated.sum());
    Some(UpdateDocument {
        setup: setup(updated, record, &model),
        model,
        rows_before: 0,
        rows: record.rows as usize,
        added: updated.added.clone().count(),
        first_number: updated.added.start,
        removed: 0,
        margin: sum.map_or(0, |sum| sum.margin),
        bounded: record.machines.iter().map(|machine| machine.bounded as usize).sum(),
        tolerance: sum.map_or(record.goal().tol(), |sum| sum.tolerance),
        solved: solved(updated, record),
        seconds,
        end,
    })
}

/// Warns of a missed tolerance, and of a calibration that the update invalidates.
fn warn_of_changes(model: &Model, updated: &Updated, notes: &mut Notes) {
    if let Some(sum) = updated.sum().filter(|_| updated.status() != Status::Converged) {
        notes.warn(format!(
            "the KKT violation {} exceeds the tolerance {}: train again from the data (--write-data FILE)",
            format::short(sum.kkt),
            format::short(sum.tolerance)
        ));
    }
    let KeptPreparation { columns, scaler } = updated.kept_preparation;
    let kept: Vec<&str> = [(columns, "words and fillings of its columns"), (scaler, "scaling")]
        .iter()
        .filter_map(|(kept, what)| kept.then_some(*what))
        .collect();
    if !kept.is_empty() {
        notes.warn(format!(
            "the updated model keeps the {} as fitted to the rows before the update; a training from its present rows fits others \
             and has other decision values: train it anew on the changed data where this matters",
            kept.join(" and the ")
        ));
    }
    if !model.calibration().is_empty() {
        notes.warn("the updated model has no probabilities: the former ones do not apply to it; run calibrate");
    }
    if matches!(Conformal::of(model), Ok(Some(_))) {
        notes.warn("the updated model has no conformal predictions: the former scores do not apply to it; train it anew with --conformal");
    }
    if model.threshold().is_some() {
        notes.warn("the updated model keeps the threshold 0: the former one does not apply to it; run calibrate");
    }
}

/// Returns the training data: that of the model, or of the file of `--data`.
fn training_data(
    args: &UpdateArgs,
    name: &str,
    model: &Model,
    threads: &Threads,
    notes: &mut Notes,
) -> Result<TrainingData, Failure> {
    let stored = TrainingData::of(model).map_err(|e| Failure::input(name, e))?;
    match (stored, &args.data) {
        (Some(kept), None) => Ok(kept),
        (Some(_), Some(_)) => Err(Failure::Usage(format!("--data: {name} keeps its training data; leave it out"))),
        (None, Some(data)) => {
            let wanted = Requirements::training(model);
            Ok(TrainingData::new(input::load_from(data, &args.options.request(), &wanted, threads.par(), notes)?.data))
        }
        (None, None) => {
            let what = "the model does not keep its training data; give the file it was trained on with --data, or train with --updatable";
            Err(Failure::input(name, what))
        }
    }
}

/// Returns the numbers of `--remove`.
fn numbers_to_remove(args: &UpdateArgs, name: &str, kept: &TrainingData) -> Result<Vec<u64>, Failure> {
    let Some(remove) = &args.remove else { return Ok(Vec::new()) };
    let ranges: Vec<RangeInclusive<u64>> = match remove {
        Numbers::List(ranges) => ranges.clone(),
        Numbers::File(path) => {
            let file = path.display().to_string();
            let text = input::read_text(path, MaxSize::of(args.options.max_size)).map_err(|e| {
                let what = format!("cannot read the numbers: {e}; --remove takes 3,7,20-40 or a file of numbers");
                Failure::input(&file, what)
            })?;
            numbers_of(&text).map_err(|e| {
                let at = format!("{file}:{}: `{}`", e.place().line, e.place().text);
                Failure::input(at, e.without_place())
            })?
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

fn on_progress(update: &Update, notes: &Notes) -> ControlFlow<()> {
    if update.breakpoints > 0 && update.breakpoints.is_multiple_of(4096) {
        let (breakpoints, way) = (format::count(update.breakpoints as u64), 100.0 * update.travelled);
        notes.note(&format!("{breakpoints} breakpoints, {way:.0} % of the path, {} free support vectors", update.margin));
    }
    if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Returns the failure, with the file that has the fault.
fn failure(error: &UpdateError, model: &str, add: Option<&Input>) -> Failure {
    match (error, add) {
        (UpdateError::Label { row, .. }, Some(add)) => Failure::input(format!("{}: row {row}", add.name), error),
        (UpdateError::Problem { what }, _) => Failure::input(
            model,
            format!(
                "the model has {what}, and exact updates are for the hinge loss with a free bias: \
                 train it anew on the changed data, or as `train --solver smo --updatable`"
            ),
        ),
        (UpdateError::Folded, _) => Failure::input(
            model,
            "the model keeps its weights alone and no support vectors: \
             train it as `train --solver smo --updatable` to update it",
        ),
        _ => Failure::input(model, error.worded(label_names::display)),
    }
}

/// Describes the problem of the updated model.
fn setup(updated: &Updated, record: &Record, name: &str) -> Setup {
    let data = DataDocument::new(&format!("the data in {name}"), &updated.kept.data);
    Setup::of_model("update", data, &updated.model, record.formulation, record.weights.clone(), record.goal())
}

/// Reports a machine: exact to the tolerance of its path if it has moved, otherwise as it was.
fn machine(one: &MachineUpdate, updated: &Updated, record: &Record) -> MachineReport {
    let path = one.walked.as_ref().map(PathStats::sum);
    let kept = || record.machines[one.machine].meets(record.goal());
    let holds = path.map_or_else(kept, |path| one.certificate.holds(path.tolerance));
    let certificate = CertificateReport::new(&one.certificate, holds).with_fixed_labels(one.fixed_labels.as_ref());
    MachineReport {
        rows_computed: path.map_or(0, |path| path.columns),
        breakpoints: path.map_or(0, |path| path.breakpoints as u64),
        ..MachineDocument::stored(&updated.model, one.machine, certificate, &updated.kept.data.labels)
    }
}

fn solved(updated: &Updated, record: &Record) -> SolutionDocument {
    let reports: Vec<MachineReport> = updated.machines.iter().map(|one| machine(one, updated, record)).collect();
    SolutionDocument {
        status: updated.status(),
        certificate: reports.iter().map(|report| report.certificate).reduce(CertificateReport::worse),
        machines: MachineDocument::of(&MachineNames::of(&updated.model), &reports),
        iterations: record.iterations(),
        rows_computed: updated.sum().map_or(0, |sum| sum.columns),
        kernel_bytes: updated
            .machines
            .iter()
            .filter_map(|one| one.walked.as_ref())
            .map(|path| path.sum().bytes)
            .max()
            .unwrap_or(0),
        support_vectors: updated.model.support_vectors(),
        work: work(updated),
    }
}

/// Returns the counters of all paths, and those of making the stored solution exact.
fn work(updated: &Updated) -> Work {
    let walked = || updated.machines.iter().filter_map(|machine| machine.walked.as_ref());
    let of_paths = |count: fn(&Update) -> usize| walked().flat_map(|walked| &walked.paths).map(count).sum::<usize>() as u64;
    Work::from([
        ("breakpoints", of_paths(|path| path.breakpoints)),
        ("zero_steps", of_paths(|path| path.zero_steps)),
        ("exchanges", of_paths(|path| path.exchanges)),
        ("repairs", of_paths(|path| path.repairs)),
        ("opening_repairs", walked().map(|walked| walked.opened.repairs as u64).sum()),
        ("columns", walked().map(|walked| walked.sum().columns).sum()),
    ])
}

fn report(d: &UpdateDocument, is_table: bool) -> String {
    let count = |n: usize| format::count(n as u64);
    let added = match d.added {
        0 => "none".to_owned(),
        1 => format!("1, with the number {}", d.first_number),
        n => format!("{}, with the numbers {}-{}", count(n), d.first_number, d.first_number + n as u64 - 1),
    };
    let has_changed = d.added + d.removed > 0;
    let mut rows = vec![
        ("samples", format!("{} before, {} now", count(d.rows_before), count(d.rows))),
        ("added", added),
        ("removed", if d.removed == 0 { "none".to_owned() } else { count(d.removed) }),
        ("C", d.setup.formulation.c.map_or_else(String::new, format::exact)),
        ("status", status_text(d.solved.status).to_owned()),
    ];
    rows.extend(d.setup.kernel.kept_width(is_table).filter(|_| has_changed).map(|text| ("kernel", text)));
    rows.extend(work_text(&d.solved.work).map(|text| ("path", text)));
    if let Some(c) = &d.solved.certificate {
        // The worst machine may be one that kept its solution: its tolerance is that of its
        // training.
        let tolerance = if c.holds && c.kkt > d.tolerance { d.setup.eps.unwrap_or(c.kkt) } else { d.tolerance };
        let certified = MachineDocument::certified(&d.solved.machines);
        rows.push(("certificate", certificate_text(&certified, &d.setup.formulation, Some(tolerance), None, "machine")));
    }
    let vectors = count(d.solved.support_vectors);
    rows.extend([
        ("support vectors", format!("{vectors} of {}: {} bounded, {} free", count(d.rows), count(d.bounded), count(d.margin))),
        ("path memory", format::bytes(d.solved.kernel_bytes)),
        ("time", format::seconds(d.seconds.total)),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
        ("model", d.model.clone()),
    ]);
    fields(&rows) + &if d.solved.machines.len() > 1 { machines_table(&d.solved.machines) } else { String::new() }
}
