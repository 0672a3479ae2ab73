//! `cargo xtask trust`: long trials that no unit test makes. Made-up input for every reader, our
//! solvers beside other programs, thousands of changes of one model; and the built program under
//! load, killed, and on a full disk. docs/trust.md lists the promises.

mod crash;
mod full;
mod load;
mod program;
mod search;

use crate::python;
use maxmargin_repro::workspace::failure::{Context, Outcome, fail};
use maxmargin_repro::workspace::tools::{built, cargo, target_directory};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The parts to try [default: everything]
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Hours instead of minutes
    #[arg(long)]
    deep: bool,
    /// Number of runs instead of the default: inputs of each reader (fuzz), changes of each data
    /// set (numbers), updates by each process (load), kills of each command (crash), kills of
    /// searches (search)
    #[arg(long)]
    runs: Option<usize>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program [default: the one that the tests build]
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Almost valid and corrupted input for every reader
    Fuzz,
    /// Pinned trainings beside svm-train and liblinear-train
    Differential,
    /// Problems without scaling, beside svm-train; writes docs/nasty.md
    Nasty,
    /// Certificates of random problems near the limits of floating-point numbers, computed again in
    /// twice the precision
    Claims,
    /// Random problems by every solver, and random changes of a model, against trainings
    Numbers,
    /// Processes that update one model, and others that predict from it meanwhile
    Load,
    /// `kill -9` at random moments of train, update, cv and grid
    Crash,
    /// `kill -9` of a search that goes on from its log
    Search,
    /// Full disks, read-only folders, reads and writes that fail
    Full,
    /// Random options of estimators by every entry point of the Python package, beside
    /// scikit-learn's own searches
    Python,
}

impl Part {
    const ALL: [Self; 10] = [
        Self::Fuzz,
        Self::Differential,
        Self::Nasty,
        Self::Claims,
        Self::Numbers,
        Self::Load,
        Self::Crash,
        Self::Search,
        Self::Full,
        Self::Python,
    ];

    /// The numbers of runs, in minutes and in hours.
    fn usual(self, deep: bool) -> usize {
        let (minutes, hours) = match self {
            Self::Fuzz => (10_000, 1_000_000),
            // Every N-th of the pinned cases.
            Self::Differential => (5, 1),
            Self::Claims => (2_000, 100_000),
            Self::Numbers => (1, 40),
            Self::Load => (5, 40),
            Self::Crash => (20, 200),
            Self::Search => (10, 50),
            Self::Python => (300, 10_000),
            Self::Nasty | Self::Full => (1, 1),
        };
        if deep { hours } else { minutes }
    }
}

/// A part's report and its faults.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) done: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

impl Findings {
    /// Records a fault where the expectation fails.
    pub(crate) fn expect(&mut self, right: bool, otherwise: impl FnOnce() -> String) {
        if !right {
            self.wrong.push(otherwise());
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let parts = if arguments.parts.is_empty() { &Part::ALL[..] } else { &arguments.parts };
    let mut lines = Vec::new();
    let mut wrong = 0;
    for &part in parts {
        let runs = arguments.runs.unwrap_or(part.usual(arguments.deep));
        println!("\n==> {part:?}: {runs}");
        let begun = Instant::now();
        let findings = tried(part, runs, arguments)?;
        findings.done.iter().for_each(|line| println!("{line}"));
        findings.wrong.iter().for_each(|line| println!("WRONG: {line}"));
        wrong += findings.wrong.len();
        let word = if findings.wrong.is_empty() { "ok" } else { "WRONG" };
        lines.push(format!("{:<14} {word:<7} {:>5} s", format!("{part:?}").to_lowercase(), begun.elapsed().as_secs()));
    }
    println!("\n{}", lines.join("\n"));
    if wrong == 0 { Ok(()) } else { fail(format!("{wrong} of these should not have happened")) }
}

/// Tries one part and returns its findings.
fn tried(part: Part, runs: usize, arguments: &Arguments) -> Outcome<Findings> {
    let seed = arguments.seed;
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let work = folder.path();
    match part {
        Part::Fuzz => {
            let lines = maxmargin_repro::try_corrupted_inputs(runs as u64)?;
            let (runs, seed, found) = (runs.to_string(), seed.to_string(), target_directory()?);
            let mut fuzz = Command::new(built("maxmargin-trust")?);
            fuzz.args(["fuzz", "--runs", &runs, "--seed", &seed, "--found"]).arg(found);
            let findings = judged(&mut fuzz)?;
            Ok(Findings { done: lines, ..findings })
        }
        Part::Differential => {
            let every = runs.to_string();
            judged(Command::new(built("maxmargin-trust")?).args(["differential", "--every", &every]))
        }
        Part::Nasty => judged(Command::new(built("maxmargin-trust")?).args(["nasty", "--out", "docs/nasty.md"])),
        Part::Claims => {
            let (runs, seed) = (runs.to_string(), seed.to_string());
            judged(Command::new(built("maxmargin-trust")?).args(["claims", "--runs", &runs, "--seed", &seed]))
        }
        Part::Numbers => {
            let words = ["test", "--locked", "--all-features", "--test", "numbers"];
            judged(cargo().args(words).env("MAXMARGIN_DEEP", runs.to_string()))
        }
        Part::Load => load::run(runs, seed, work, &program(arguments)?),
        Part::Crash => crash::run(runs, seed, work, &program(arguments)?),
        Part::Search => search::run(runs, seed, work, &program(arguments)?),
        Part::Full => full::run(work, &program(arguments)?),
        Part::Python => match python::differential(runs, seed)? {
            Some(mut cases) => judged(&mut cases),
            None => Ok(Findings::default()),
        },
    }
}

/// Runs a command that prints its own report. Its exit code is the verdict.
fn judged(command: &mut Command) -> Outcome<Findings> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().context(format_args!("cannot start {name}"))?;
    let mut findings = Findings::default();
    findings.expect(status.success(), || format!("{name} ended with {status}"));
    Ok(findings)
}

/// Returns the program that is tried.
fn program(arguments: &Arguments) -> Outcome<PathBuf> {
    match &arguments.program {
        Some(program) => program.canonicalize().context(program.display()),
        None => built("maxmargin"),
    }
}

#[cfg(test)]
mod tests {
    use maxmargin_repro::workspace::tools::root;
    use std::fs;
    use std::path::Path;

    /// Returns the text of all files of Rust below a folder.
    fn gather(folder: &Path, all: &mut String) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                gather(&path, all);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                all.push_str(&fs::read_to_string(&path).expect("text"));
            }
        }
    }

    #[test]
    fn every_fault_of_the_page_has_tests_that_are_there() {
        let page = fs::read_to_string(root().join("docs/trust.md")).expect("the page");
        let (_, section) = page.split_once("## Fault by fault\n").expect("the section");
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows: Vec<Vec<&str>> = section
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip(1)
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        let numbers: Vec<usize> = rows.iter().filter_map(|row| row[1].parse().ok()).collect();
        assert_eq!(numbers, (0..18).collect::<Vec<_>>());
        let mut code = String::new();
        ["crates", "xtask"].iter().for_each(|folder| gather(&root().join(folder), &mut code));
        for row in &rows {
            let names: Vec<&str> = row[4].split('`').skip(1).step_by(2).collect();
            assert!(!names.is_empty(), "{}: no test", row[2]);
            for name in names {
                assert!(code.contains(&format!("fn {name}(")), "{name}: no such test");
            }
        }
    }
}
