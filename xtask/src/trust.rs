//! `cargo xtask trust`: the built program under conditions that tests of a call do not make: many of it at once, killed, without room.

mod crash;
mod full;
mod load;
mod program;

use crate::failure::{Context, Outcome, fail};
use crate::tools::{cargo, target_directory};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What to try
    #[arg(value_enum)]
    part: Part,
    /// How often: kills of each command (crash), updates by each process (load)
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program [default: built as `cargo build -p maxmargin-cli` does]
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Part {
    /// Processes that update one model, and others that predict from it meanwhile
    Load,
    /// `kill -9` at random moments of train, update, cv and grid
    Crash,
    /// Full disks, read-only folders, reads and writes that fail
    Full,
}

/// What was done, and what should not have happened.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) done: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

impl Findings {
    /// Notes what is wrong, if it is.
    pub(crate) fn expect(&mut self, right: bool, otherwise: impl FnOnce() -> String) {
        if !right {
            self.wrong.push(otherwise());
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome<()> {
    let program = match &arguments.program {
        Some(program) => program.canonicalize().context(program.display())?,
        None => built()?,
    };
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let (runs, seed, work) = (arguments.runs, arguments.seed, folder.path());
    let findings = match arguments.part {
        Part::Load => load::run(runs, seed, work, &program)?,
        Part::Crash => crash::run(runs, seed, work, &program)?,
        Part::Full => full::run(work, &program)?,
    };
    findings.done.iter().for_each(|line| println!("{line}"));
    if findings.wrong.is_empty() {
        return Ok(());
    }
    findings.wrong.iter().for_each(|line| println!("WRONG: {line}"));
    fail(format!("{} of these should not have happened", findings.wrong.len()))
}

fn built() -> Outcome<PathBuf> {
    let status = cargo().args(["build", "--locked", "-p", "maxmargin-cli"]).status().context("cannot start cargo")?;
    if !status.success() {
        return fail("the program does not build");
    }
    Ok(target_directory()?.join("debug").join(format!("maxmargin{}", std::env::consts::EXE_SUFFIX)))
}
