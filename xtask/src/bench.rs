//! `cargo xtask bench`: a paper's spec becomes cells, each cell a process of its own, each process
//! a line of raw JSON, the lines a report.

mod axis;
mod bars;
pub(crate) mod beside;
mod cell;
mod chart;
mod choice;
mod claims;
mod columns;
mod command;
mod data;
pub(crate) mod diff;
mod evidence;
mod finished;
mod folds;
pub(crate) mod grids;
mod lines;
pub(crate) mod machine;
mod means;
mod numbers;
mod overview;
mod papers;
mod peer;
pub(crate) mod probabilities;
mod record;
mod report;
mod run;
mod spec;
mod statistics;
mod svg;
mod table;

use crate::failure::{Context, Outcome, fail};
use cell::Extent;
use claims::Evidence;
use machine::Machine;
use record::Record;
pub(crate) use spec::Spec;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one switch of the command line each")]
pub(crate) struct Arguments {
    /// Name of a file in xtask/specs, such as alpha-seeding; without one the quick form of every
    /// paper, and whether what held still does
    paper: Option<String>,
    /// Only these tables of the paper (or figures, where no table has the number)
    #[arg(long, value_name = "N", value_delimiter = ',')]
    table: Vec<u32>,
    /// Only these figures of the paper (or tables, where no figure has the number)
    #[arg(long, value_name = "N", value_delimiter = ',')]
    figure: Vec<u32>,
    /// Only what the spec's statistics are about; prints them
    #[arg(long)]
    statistics: bool,
    /// Small problems only, results in target/bench
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The problems that take hours as well
    #[arg(long)]
    full: bool,
    /// Only this problem, as the report's column `data` names it; say it again for another
    #[arg(long, value_name = "DATA")]
    only: Vec<String>,
    /// Only these settings, as the column `setting` has them, such as "folds=libsvm"; say it again
    /// for others
    #[arg(long, value_name = "SETTING")]
    setting: Vec<String>,
    /// Only this variant, as the column `variant` names it; say it again for another
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Run the spec's other programs on the same files
    #[arg(long)]
    peers: bool,
    /// Use this binary for a peer, such as svm-train=./libsvm/svm-train
    #[arg(long, value_name = "PROGRAM=PATH")]
    peer: Vec<String>,
    /// Measure this build of LIBLINEAR's train program as well, one whose limit of sweeps is
    /// lifted: variant "LIBLINEAR, no cap"
    #[arg(long, value_name = "PATH")]
    liblinear: Option<PathBuf>,
    /// Folder of data files, plain or packed [default: `MAXMARGIN_DATA`, then datasets/files]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Measure every cell so many times, in turn; the report has medians
    #[arg(long, default_value_t = 1)]
    repeats: u32,
    /// Threads of our own program
    #[arg(long)]
    threads: Option<usize>,
    /// Raw lines go here, the report beside it [default: docs/reproduction/raw/PAPER.jsonl]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Forget earlier lines of the raw file instead of adding to them
    #[arg(long)]
    fresh: bool,
    /// Leave out the cells that have lines already: of the same settings and data, and of crates
    /// that have not changed since
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Measure nothing: render the report from the raw file
    #[arg(long)]
    render: bool,
    /// Measure nothing: write the page of all claims and their verdicts from the raw files
    #[arg(long, conflicts_with = "paper")]
    verdicts: bool,
    /// Measure, although the tree has changes that no commit holds: nobody can repeat what it finds
    #[arg(long)]
    uncommitted: bool,
    /// Build the measured program without optimising for release (its counts are the same, its
    /// seconds are not)
    #[arg(long)]
    dev: bool,
    /// Use this binary instead of building maxmargin-bench
    #[arg(long, value_name = "PATH")]
    bench_bin: Option<PathBuf>,
}

impl Arguments {
    fn extent(&self) -> Extent<'_> {
        let Self { quick, full, only, setting, variant, .. } = self;
        Extent { quick: *quick, full: *full, only, setting, variant }
    }

    /// Programs that the command line names, as PROGRAM=PATH.
    fn named(&self) -> Vec<String> {
        let uncapped = self.liblinear.iter().map(|path| format!("{}={}", peer::UNCAPPED, path.display()));
        self.peer.iter().cloned().chain(uncapped).collect()
    }
}

/// Where raw lines and the report go.
struct Place {
    raw: PathBuf,
    report: PathBuf,
}

impl Place {
    fn of(paper: &str, arguments: &Arguments) -> Outcome<Self> {
        Ok(match &arguments.out {
            Some(raw) => Self { raw: raw.clone(), report: raw.with_extension("md") },
            None if arguments.quick => {
                let folder = crate::tools::target_directory()?.join("bench");
                Self { raw: folder.join(format!("{paper}.jsonl")), report: folder.join(format!("{paper}.md")) }
            }
            None => {
                let folder = evidence::folder();
                Self { raw: folder.join(format!("raw/{paper}.jsonl")), report: folder.join(format!("{paper}.md")) }
            }
        })
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    match &arguments.paper {
        Some(paper) => one(paper, arguments),
        None if arguments.verdicts => evidence::write(),
        None if arguments.render => evidence::render(),
        None => all(arguments),
    }
}

/// The quick form of all papers, and what it says of their claims; with `--full` all of it, and the
/// reports. What has been measured is kept.
fn all(arguments: &Arguments) -> Outcome<()> {
    if arguments.full {
        let rest = Arguments { resume: !arguments.fresh, ..arguments.clone() };
        return claims::PAPERS.iter().try_for_each(|paper| one(paper, &rest));
    }
    let quick = Arguments { quick: true, resume: !arguments.fresh, ..arguments.clone() };
    let mut bad = Vec::new();
    let mut now = Vec::new();
    for paper in claims::PAPERS {
        let begun = std::time::Instant::now();
        let (raw, flaws) = measured(&Spec::load(paper)?, paper, &quick)?;
        println!("{paper}: {:.0} s", begun.elapsed().as_secs_f64());
        bad.extend(flaws.into_iter().map(|flaw| format!("{paper}: {flaw}")));
        now.push(Evidence::read(paper, &raw)?);
    }
    let before = Evidence::committed()?;
    println!("\n{}", claims::counts(&before)?);
    let (table, lost) = claims::again(&before, &now)?;
    println!("What the quick lines can tell, at the places that the committed lines know as well:\n\n{table}");
    for flaw in &bad {
        println!("does not count: {flaw}");
    }
    if lost.is_empty() { Ok(()) } else { fail(format!("what held no longer does:\n  {}", lost.join("\n  "))) }
}

/// Measures a paper as the arguments say; its raw lines and what does not count.
fn measured(spec: &Spec, paper: &str, arguments: &Arguments) -> Outcome<(PathBuf, Vec<String>)> {
    let place = Place::of(paper, arguments)?;
    let folder = place.raw.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).context(folder.display())?;
    let machine = Machine::here();
    if !(arguments.quick || arguments.uncommitted || machine.committed()) {
        return fail(format!(
            "{}: the tree has changes, so that nobody could measure this again: commit them, or say --uncommitted",
            machine.revision
        ));
    }
    if arguments.fresh || (arguments.quick && !arguments.resume) {
        fs::write(&place.raw, "").context(place.raw.display())?;
    }
    let bad = run::measure(spec, arguments, &machine, &place.raw)?;
    Ok((place.raw, bad))
}

fn one(paper: &str, arguments: &Arguments) -> Outcome<()> {
    let spec = Spec::load(paper)?;
    let bad = if arguments.render { Vec::new() } else { measured(&spec, paper, arguments)?.1 };
    let place = Place::of(paper, arguments)?;
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
