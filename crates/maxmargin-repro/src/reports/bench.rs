//! `cargo xtask bench`: a paper's spec becomes cells, each cell a process of its own, each process
//! a line of raw JSON, the lines a report.

use super::{evidence, recheck, report, stale};
use crate::cells::machine::HostMachine;
use crate::cells::record::Record;
use crate::claims::again::again;
use crate::claims::claim::{Evidence, PAPERS};
use crate::claims::page::counts;
use crate::run::arguments::Arguments;
use crate::run::history::History;
use crate::run::measure;
use crate::specs::spec::Spec;
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::target_directory;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of raw lines and of the report.
struct OutputPaths {
    raw: PathBuf,
    report: PathBuf,
}

impl OutputPaths {
    fn of(paper: &str, arguments: &Arguments) -> Outcome<Self> {
        Ok(match &arguments.out {
            Some(raw) => Self { raw: raw.clone(), report: raw.with_extension("md") },
            None if arguments.quick => {
                let folder = target_directory()?.join("bench");
                Self { raw: folder.join(format!("{paper}.jsonl")), report: folder.join(format!("{paper}.md")) }
            }
            None => {
                let folder = evidence::folder();
                Self { raw: folder.join(format!("raw/{paper}.jsonl")), report: folder.join(format!("{paper}.md")) }
            }
        })
    }
}

/// Runs `cargo xtask bench`.
///
/// # Errors
///
/// If a measurement fails or a file cannot be read or written.
pub fn run(arguments: &Arguments) -> Outcome<()> {
    if arguments.stale {
        print!("{}", stale::table(&lines(arguments)?, &History::of_workspace()?));
        return Ok(());
    }
    if let Some(count) = arguments.recheck {
        return recheck::recheck(&lines(arguments)?, arguments, count);
    }
    match &arguments.paper {
        Some(paper) => one(paper, arguments),
        None if arguments.verdicts => evidence::write(),
        None if arguments.render => evidence::render(),
        None => all(arguments),
    }
}

/// Returns the specs and raw lines of the paper that the arguments name, or of all.
fn lines(arguments: &Arguments) -> Outcome<Vec<(Spec, Vec<Record>)>> {
    let Some(paper) = &arguments.paper else { return evidence::all() };
    Ok(vec![(Spec::load(paper)?, Record::read(&OutputPaths::of(paper, arguments)?.raw)?)])
}

/// Measures the quick form of all papers and compares its claims with the committed lines; with
/// `--full` measures everything and writes the reports. Earlier measurements are kept.
fn all(arguments: &Arguments) -> Outcome<()> {
    if arguments.full {
        let rest = Arguments { resume: !arguments.fresh, ..arguments.clone() };
        return PAPERS.iter().try_for_each(|paper| one(paper, &rest));
    }
    let quick = Arguments { quick: true, resume: !arguments.fresh, ..arguments.clone() };
    let mut bad = Vec::new();
    let mut now = Vec::new();
    for paper in PAPERS {
        let begun = std::time::Instant::now();
        let (raw, flaws) = measured(&Spec::load(paper)?, paper, &quick)?;
        println!("{paper}: {:.0} s", begun.elapsed().as_secs_f64());
        bad.extend(flaws.into_iter().map(|flaw| format!("{paper}: {flaw}")));
        now.push(Evidence::read(paper, &raw)?);
    }
    let before = Evidence::committed()?;
    println!("\n{}", counts(&before)?);
    let (table, lost) = again(&before, &now)?;
    println!("What the quick lines can tell, at the places that the committed lines know as well:\n\n{table}");
    for flaw in &bad {
        println!("does not count: {flaw}");
    }
    if lost.is_empty() { Ok(()) } else { fail(format!("what held no longer does:\n  {}", lost.join("\n  "))) }
}

/// Measures a paper. Returns the file of raw lines, and the cells that do not count.
fn measured(spec: &Spec, paper: &str, arguments: &Arguments) -> Outcome<(PathBuf, Vec<String>)> {
    let place = OutputPaths::of(paper, arguments)?;
    let folder = place.raw.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    let machine = HostMachine::here();
    if !(arguments.quick || arguments.uncommitted || machine.committed()) {
        return fail(format!(
            "{}: the tree has changes, so that nobody could measure this again: commit them, or say --uncommitted",
            machine.revision
        ));
    }
    if arguments.fresh || (arguments.quick && !arguments.resume) {
        fs::write(&place.raw, "").context(place.raw.display())?;
    }
    let bad = measure::measure(spec, arguments, &machine, &place.raw)?;
    Ok((place.raw, bad))
}

fn one(paper: &str, arguments: &Arguments) -> Outcome<()> {
    let spec = Spec::load(paper)?;
    let bad = if arguments.render { Vec::new() } else { measured(&spec, paper, arguments)?.1 };
    let place = OutputPaths::of(paper, arguments)?;
    let records = Record::read(&place.raw)?;
    if records.is_empty() {
        println!("nothing was measured, so there is no report");
        return Ok(());
    }
    let text = report::render(&spec, &records, &place.report)?;
    if arguments.quick {
        println!("{text}");
    }
    if arguments.statistics {
        println!("{}", report::statistics(&spec, &records)?);
    }
    println!("report: {}\nraw:    {}", place.report.display(), place.raw.display());
    if place.report.parent() == Some(&evidence::folder()) {
        evidence::write()?;
    }
    if bad.is_empty() { Ok(()) } else { fail(format!("these do not count:\n  {}", bad.join("\n  "))) }
}
