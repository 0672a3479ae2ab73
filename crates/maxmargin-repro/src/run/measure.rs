//! Runs the cells, one process each. Every repeat runs all cells once, and every result is written
//! at once.

use super::arguments::Arguments;
use super::finished::Finished;
use super::inputs::{Input, Inputs};
use super::peer;
use super::process::timed;
use crate::cells::cell::Cell;
use crate::cells::machine::HostMachine;
use crate::cells::record::{Measured, OURS, Record};
use crate::cells::settings::{LIBSVM_FOLDS, label};
use crate::datasets::locate::folders;
use crate::specs::extent::cells;
use crate::specs::problem::{Problem, Recipe};
use crate::specs::spec::Spec;
use crate::specs::table::{Limit, Peer, Table};
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::{built, cargo, target_directory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// A problem and its files.
#[derive(Clone)]
struct Material<'a> {
    problem: &'a Problem,
    /// None where the measured program makes the data itself.
    input: Option<Input>,
    test: Option<PathBuf>,
}

/// One process to start.
struct Job<'a> {
    cell: Cell,
    material: Material<'a>,
    /// The file of folds, where they are LIBSVM's.
    folds: Option<PathBuf>,
    peer: Option<(&'a Peer, String)>,
    limit: Option<&'a Limit>,
    /// The program that the measured one runs.
    program: Option<String>,
}

/// Measures the cells of the arguments and appends the records to `raw`. Returns the cells that do
/// not count, each with the reason.
pub(crate) fn measure(spec: &Spec, arguments: &Arguments, machine: &HostMachine, raw: &Path) -> Outcome<Vec<String>> {
    let generates = spec.problems.iter().any(|problem| problem.recipe == Some(Recipe::Generate));
    let early = if generates { Some(bench_binary(arguments)?) } else { None };
    let mut jobs = jobs(spec, arguments, early.as_deref())?;
    if arguments.resume && machine.committed() && raw.is_file() {
        let finished = Finished::of(Record::read(raw)?);
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
    let bounds = target_directory()?.join("bench/bounds");
    let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let total = jobs.len() * arguments.repeats as usize;
    let mut bad = Vec::new();
    for repeat in 0..arguments.repeats {
        for (n, job) in jobs.iter().enumerate() {
            let number = repeat as usize * jobs.len() + n + 1;
            let (wall_seconds, outcome) = match &job.peer {
                None => ours(&bench, job, arguments.threads, &bounds)?,
                Some((peer, binary)) => theirs(peer, binary, job)?,
            };
            let program = job.peer.as_ref().map_or(OURS, |(peer, _)| &peer.name).to_owned();
            let (measured, error) = outcome.map_or_else(|error| (None, Some(error)), |measured| (Some(measured), None));
            let record = Record {
                table: job.cell.table,
                problem: job.cell.problem.clone(),
                vary: job.cell.vary.clone(),
                variant: job.cell.variant.clone(),
                program,
                settings: job.cell.settings.clone(),
                data: job.material.problem.data.clone(),
                data_sha256: job.material.input.as_ref().map(|input| input.sha256.clone()),
                run,
                repeat,
                wall_seconds,
                measured,
                error,
                machine: machine.clone(),
            };
            record.append(raw)?;
            let flaw = flaw(&record, job);
            println!("[{number}/{total}] {}: {wall_seconds:.2} s{}", job.cell.name(), remark(&record, flaw.as_deref()));
            bad.extend(flaw.map(|flaw| format!("{}: {flaw}", job.cell.name())));
        }
    }
    Ok(bad)
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

/// Returns every process of the run, in order. Problems without data are reported and left out.
fn jobs<'a>(spec: &'a Spec, arguments: &Arguments, bench: Option<&Path>) -> Outcome<Vec<Job<'a>>> {
    // A figure needs the measurements of the tables that it draws.
    let named = spec.named(&arguments.table, &arguments.figure, arguments.statistics)?;
    let wanted = |table: &Table| named.iter().any(|named| std::ptr::eq(*named, table) || named.from.contains(&table.number));
    let tables: Vec<&Table> = spec.tables.iter().filter(|table| table.from.is_empty() && wanted(table)).collect();
    arguments.extent().check(&tables)?;
    let programs = arguments.named();
    let inputs = Inputs::new(folders(arguments.data.as_deref()), target_directory()?.join("bench/data"), bench)?;
    let mut materials: BTreeMap<&str, Option<Material>> = BTreeMap::new();
    let mut jobs: Vec<Job> = Vec::new();
    for table in tables {
        for cell in cells(spec, table, arguments.extent()) {
            let variant = table.variants.iter().find(|variant| variant.name == cell.variant);
            let runs = variant.and_then(|variant| variant.program.as_deref());
            let installed = |name: &str| peer::binary(name, &[]).filter(|_| arguments.peers);
            let program = runs.and_then(|name| peer::given(name, &programs).or_else(|| installed(name)));
            if runs.is_some() && program.is_none() {
                continue;
            }
            let problem = spec.problem(&cell.problem)?;
            if !materials.contains_key(problem.name.as_str()) {
                materials.insert(&problem.name, material(problem, &inputs)?);
            }
            let Some(Some(material)) = materials.get(problem.name.as_str()).cloned() else { continue };
            let libsvm_folds = cell.settings.get("folds").and_then(Value::as_str) == Some(LIBSVM_FOLDS);
            let folds = match &material.input {
                Some(input) if libsvm_folds => Some(inputs.folds(problem, input, &cell.settings)?),
                None if libsvm_folds => continue, // generated data has no file for LIBSVM
                _ => None,
            };
            let place = |cell: &Cell| (cell.problem.clone(), cell.vary.clone());
            let first = !jobs.iter().any(|job| job.peer.is_none() && place(&job.cell) == place(&cell));
            if first && arguments.peers && material.input.is_some() {
                jobs.extend(peers(table, &cell, &material, &programs, &jobs)?);
            }
            let limit = table
                .limits
                .iter()
                .find(|limit| limit.problem == cell.problem && limit.variant == cell.variant && label(&limit.vary) == cell.vary);
            jobs.push(Job { cell, material, folds, peer: None, limit, program });
        }
    }
    Ok(jobs)
}

/// Returns the files of a problem. Reports a missing one and returns none.
fn material<'a>(problem: &'a Problem, inputs: &Inputs) -> Outcome<Option<Material<'a>>> {
    let input = if problem.generated() { None } else { inputs.of(problem)? };
    if input.is_none() && !problem.generated() {
        println!("skipped: {} (no file; cargo xtask datasets {})", problem.name, problem.data);
        return Ok(None);
    }
    let test = problem.test.as_ref().map(|test| inputs.test_of(problem, test)).transpose()?;
    if test == Some(None) {
        println!("skipped: {} (no file of its test samples)", problem.name);
        return Ok(None);
    }
    Ok(Some(Material { problem, input, test: test.flatten() }))
}

/// Returns the runs of other programs on the files of a cell that are not among the earlier ones.
fn peers<'a>(table: &'a Table, cell: &Cell, material: &Material<'a>, named: &[String], earlier: &[Job]) -> Outcome<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for peer in &table.peers {
        let Some(binary) = peer::binary(&peer.program, named) else {
            println!("skipped: {} ({} is not installed)", peer.name, peer.program);
            continue;
        };
        // Entries of `vary` with the same arguments of the peer are one run of the peer.
        let wanted = peer.arguments_for(&cell.settings)?;
        let same = |job: &Job| {
            job.cell.problem == cell.problem
                && job.peer.as_ref().is_some_and(|(other, _)| other.name == peer.name)
                && peer.arguments_for(&job.cell.settings).is_ok_and(|arguments| arguments == wanted)
        };
        if !earlier.iter().any(same) {
            let cell = Cell { variant: peer.name.clone(), ..cell.clone() };
            let (material, peer) = (material.clone(), Some((peer, binary)));
            jobs.push(Job { cell, material, folds: None, peer, limit: None, program: None });
        }
    }
    Ok(jobs)
}

/// Returns the program that measures one cell, built unless the command line names one.
fn bench_binary(arguments: &Arguments) -> Outcome<PathBuf> {
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
