//! One benchmark cell in, one JSON line out. `cargo xtask bench` starts one process of this for
//! every cell, so that cells cannot disturb each other.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the JSON line and the failure are what this program is for")]

mod cell {
    pub(crate) mod choice;
    pub(crate) mod job;
    mod task;
    pub(crate) mod update_samples;
}
mod cv {
    pub(crate) mod measure;
    mod rounds;
    mod trainings;
}
mod data {
    pub(crate) mod input;
    pub(crate) mod split;
}
mod failure;
mod measured;
mod system {
    pub(crate) mod machine;
    pub(crate) mod process;
}
mod train {
    mod contender;
    mod ddag;
    mod interior_point;
    mod linear;
    pub(crate) mod measure;
    mod simplex;
    mod smo;
    pub(crate) mod study;
    mod svmlight;
    mod trace;
    mod undamped;
    mod working_sets;
}
mod update {
    pub(crate) mod measure;
    mod plan;
    mod pool;
    mod program;
    mod seed;
    mod smo;
    #[cfg(test)]
    mod update_tests;
}

use cell::job::Job;
use clap::Parser;
use data::input;
use failure::Failure;
use maxmargin::data::Par;
use std::path::PathBuf;
use std::process::ExitCode;
use system::machine;

/// Measures one cell: a JSON object as described in crates/maxmargin-repro/specs, from a file or
/// standard input.
#[derive(Parser)]
#[command(name = "maxmargin-bench", version)]
struct Arguments {
    /// The cell [default: standard input]
    cell: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(line) => {
            println!("{}", line.trim_end());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let text = match &arguments.cell {
        Some(path) => std::fs::read_to_string(path),
        None => std::io::read_to_string(std::io::stdin()),
    };
    let text =
        text.map_err(|source| Failure::Read { path: arguments.cell.clone().unwrap_or("standard input".into()), source })?;
    let job: Job = serde_json::from_str(&text)?;
    let threads = job.setting().threads.unwrap_or_else(machine::threads);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut measured = match &job {
        Job::Cv(cell) => cv::measure::measure(cell, Par::Pool)?,
        Job::Train(cell) => train::measure::measure(cell, Par::Pool)?,
        Job::Update(cell) => update::measure::measure(cell, Par::Pool)?,
        Job::Write(cell) => return input::text(&cell.setting.data),
    };
    measured.peak_rss_bytes = machine::peak_bytes();
    measured.threads = threads;
    Ok(serde_json::to_string(&measured)?)
}
