//! Runs the cells, one process each. Every repeat runs all cells once, and every result is written
//! at once.

use super::arguments::Arguments;
use super::finished::Finished;
use super::jobs::{Job, jobs};
use super::peer;
use super::process::timed;
use crate::cells::cell::Cell;
use crate::cells::machine::HostMachine;
use crate::cells::record::{Measured, OURS, Record};
use crate::specs::problem::Recipe;
use crate::specs::spec::Spec;
use crate::specs::table::Peer;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::{built, cargo, target_directory};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Measures the cells of the arguments and appends the records to `raw`. Returns the cells that do
/// not count, each with the reason.
pub(crate) fn measure(spec: &Spec, arguments: &Arguments, machine: &HostMachine, raw: &Path) -> Outcome<Vec<String>> {
    let generates = spec.problems.iter().any(|problem| problem.recipe == Some(Recipe::Generate));
    let early = if generates { Some(bench_binary(arguments)?) } else { None };
    let mut jobs = jobs(spec, arguments, early.as_deref())?;
    if arguments.resume && machine.committed() && raw.is_file() {
        let finished = Finished::of(Record::read(raw)?)?;
        let all = jobs.len();
        jobs.retain(|job| {
            let sha256 = job.material.input.as_ref().map(|input| input.sha256.as_str());
            !match &job.peer {
                Some((peer, _)) => finished.theirs(peer, &job.cell, sha256, arguments.repeats),
                None => finished.ours(&job.cell, sha256, arguments.repeats),
            }
        });
        println!("{} of {all} cells have lines already", all - jobs.len());
    }
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let bench = early.map_or_else(|| bench_binary(arguments), Ok)?;
    let circumstances = Circumstances::now(bench, arguments.threads, machine)?;
    let total = jobs.len() * arguments.repeats as usize;
    let mut bad = Vec::new();
    for repeat in 0..arguments.repeats {
        for (n, job) in jobs.iter().enumerate() {
            let number = repeat as usize * jobs.len() + n + 1;
            let record = circumstances.record(job, repeat)?;
            record.append(raw)?;
            let flaw = flaw(&record, job);
            let name = job.cell.name();
            println!("[{number}/{total}] {name}: {:.2} s{}", record.wall_seconds, remark(&record, flaw.as_deref()));
            bad.extend(flaw.map(|flaw| format!("{name}: {flaw}")));
        }
    }
    Ok(bad)
}

/// The setting that ends a cell by the clock.
const TIME_LIMIT: &str = "time_limit_seconds";
/// The factor of limits of time where counts alone matter: a machine with other work is slow.
const SLACK: f64 = 100.0;

/// Measures the counts of one cell among those of the arguments, by the program `bench`, and keeps
/// no line of it. Returns none where a file is missing.
pub(crate) fn single(
    spec: &Spec,
    arguments: &Arguments,
    machine: &HostMachine,
    bench: &Path,
    cell: &Cell,
) -> Outcome<Option<Record>> {
    let jobs = jobs(spec, arguments, Some(bench))?;
    let circumstances = Circumstances::now(bench.to_path_buf(), arguments.threads, machine)?;
    let Some(mut job) = jobs.into_iter().find(|job| job.peer.is_none() && job.cell.is_named_as(cell)) else { return Ok(None) };
    let settings = job.cell.settings.clone();
    if let Some(limit) = job.cell.settings.get_mut(TIME_LIMIT) {
        *limit = json!(limit.as_f64().map(|seconds| seconds * SLACK));
    }
    Ok(Some(Record { settings, ..circumstances.record(&job, 0)? }))
}

/// The program, options and machine of all measurements of one run.
struct Circumstances<'a> {
    bench: PathBuf,
    threads: Option<usize>,
    /// Folder of the certified bounds of linear problems.
    bounds: PathBuf,
    machine: &'a HostMachine,
    /// Seconds since 1970 at its start.
    run: u64,
}

impl<'a> Circumstances<'a> {
    fn now(bench: PathBuf, threads: Option<usize>, machine: &'a HostMachine) -> Outcome<Self> {
        let bounds = target_directory()?.join("bench/bounds");
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(Self { bench, threads, bounds, machine, run })
    }

    /// Runs one process to its end.
    fn record(&self, job: &Job, repeat: u32) -> Outcome<Record> {
        let (wall_seconds, outcome) = match &job.peer {
            None => ours(&self.bench, job, self.threads, &self.bounds)?,
            Some((peer, binary)) => theirs(peer, binary, job)?,
        };
        let program = job.peer.as_ref().map_or(OURS, |(peer, _)| &peer.name).to_owned();
        let (measured, error) = outcome.map_or_else(|error| (None, Some(error)), |measured| (Some(measured), None));
        Ok(Record {
            table: job.cell.table,
            problem: job.cell.problem.clone(),
            vary: job.cell.vary.clone(),
            variant: job.cell.variant.clone(),
            program,
            settings: job.cell.settings.clone(),
            data: job.material.problem.data.clone(),
            data_sha256: job.material.input.as_ref().map(|input| input.sha256.clone()),
            run: self.run,
            repeat,
            wall_seconds,
            measured,
            error,
            machine: self.machine.clone(),
        })
    }
}

fn flaw(record: &Record, job: &Job) -> Option<String> {
    if job.peer.is_some() {
        return record.error.clone();
    }
    record.flaw().or_else(|| {
        let iterations = record.measured.as_ref()?.iterations?;
        let most = job.limit?.iterations;
        (iterations > most).then(|| format!("{iterations} iterations, the spec allows {most}"))
    })
}

fn remark(record: &Record, flaw: Option<&str>) -> String {
    let iterations = record.measured.as_ref().and_then(|measured| measured.iterations);
    let count = iterations.map_or(String::new(), |count| format!(", {count} iterations"));
    count + &flaw.map_or(String::new(), |flaw| format!(", DOES NOT COUNT: {flaw}"))
}

/// Returns the program that measures one cell, built unless the command line names one.
pub(crate) fn bench_binary(arguments: &Arguments) -> Outcome<PathBuf> {
    if let Some(path) = &arguments.bench_bin {
        return Ok(path.clone());
    }
    if arguments.dev {
        return built("maxmargin-bench");
    }
    let build = cargo().args(["build", "--locked", "--release", "--package", "maxmargin-bench"]).status();
    if !build.context("cannot start cargo")?.success() {
        return fail("maxmargin-bench does not build");
    }
    Ok(target_directory()?.join("release/maxmargin-bench"))
}

/// The figures of one process, or the reason why there are none.
type ProcessResult = Result<Measured, String>;

fn ours(bench: &Path, job: &Job, threads: Option<usize>, bounds: &Path) -> Outcome<(f64, ProcessResult)> {
    let mut request = job.cell.settings.clone();
    let data = if let Some(input) = &job.material.input {
        json!({ "file": input.path })
    } else {
        let rows = request.remove("rows");
        json!({ "generator": job.material.problem.data, "rows": rows, "seed": request.get("seed") })
    };
    request.insert("data".into(), data);
    if let Some(test) = &job.material.test {
        request.insert("test".into(), json!({ "file": test }));
    }
    if let Some(folds) = &job.folds {
        request.insert("folds".into(), json!({ "file": folds }));
    }
    // The request has paths and the record has none: records are published.
    if let Some(program) = &job.program {
        request.insert("program".into(), json!(program));
    }
    if request.contains_key("bound_gap") {
        request.insert("bounds".into(), json!(bounds));
    }
    if let Some(threads) = threads {
        request.insert("threads".into(), json!(threads));
    }
    let (seconds, output) = timed(&mut Command::new(bench), Some(&Value::Object(request)))?;
    let result = output.and_then(|text| {
        let line = text.lines().find(|line| line.starts_with('{')).ok_or("printed no JSON line")?;
        serde_json::from_str(line).map_err(|error| format!("printed JSON that does not fit: {error}"))
    });
    Ok((seconds, result))
}

fn theirs(peer: &Peer, binary: &str, job: &Job) -> Outcome<(f64, ProcessResult)> {
    let Some(input) = &job.material.input else { return fail(format!("{} needs a file", peer.name)) };
    let folder = tempfile::tempdir().context("temporary folder")?;
    let mut command = Command::new(binary);
    // svm-train writes its model into the current folder unless it validates.
    command.args(peer.arguments_for(&job.cell.settings)?).arg(&input.path).current_dir(folder.path());
    let (seconds, output) = timed(&mut command, None)?;
    let mut result = output.map(|text| peer::read(&text));
    if let (Ok(measured), Some(program), Some(test)) = (&mut result, &peer.tests_with, &job.material.test) {
        // The test is not part of the peer's seconds.
        let name = input.path.file_name().unwrap_or_default().to_string_lossy();
        let mut command = Command::new(program);
        command.arg(test).args([format!("{name}.model"), "labels".to_owned()]).current_dir(folder.path());
        let (_, output) = timed(&mut command, None)?;
        measured.accuracy = output.ok().and_then(|text| peer::read(&text).accuracy);
    }
    Ok((seconds, result))
}
